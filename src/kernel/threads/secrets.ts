/**
 * Secrets do not cross threads by accident: whoever wants it says so, and gets a `Secret` again on
 * the other side.
 */
import { assert } from "../base/errors.ts";
import { Secret } from "../base/secret.ts";

/** A secret on its way to another thread. Not to be kept. */
export interface SentSecret {
  readonly sentSecret: string;
  readonly origin: string;
}

/** Makes a secret ready for the options of a service. */
export function sendSecret(secret: Secret): SentSecret {
  return secret.use((value) => ({ sentSecret: value, origin: secret.origin }));
}

/** The secret again. */
export function receiveSecret({ sentSecret, origin }: SentSecret): Secret {
  return Secret.of(sentSecret, origin);
}

/**
 * A `Secret` would arrive without its value and without a word, so options that hold one are our
 * own mistake.
 */
export function assertNoSecret(
  value: unknown,
  path = "options",
  seen: Set<object> = new Set(),
): void {
  if (typeof value !== "object" || value === null || seen.has(value)) return;
  assert(!(value instanceof Secret), `${path} is sent by sendSecret`);
  seen.add(value);
  const entries: Iterable<readonly [unknown, unknown]> =
    value instanceof Map
      ? value
      : value instanceof Set
        ? value.entries()
        : ArrayBuffer.isView(value)
          ? []
          : Object.entries(value);
  for (const [name, item] of entries) assertNoSecret(item, `${path}.${String(name)}`, seen);
}
