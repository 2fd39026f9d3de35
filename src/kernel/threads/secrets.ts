/** Passes secrets to other threads explicitly; they arrive as `Secret` again. */
import { assert } from "../base/errors.ts";
import { Secret } from "../base/secret.ts";

/** A secret in transit. Do not keep it. */
export interface SentSecret {
  readonly sentSecret: string;
  readonly origin: string;
}

/** Prepares a secret for the options of a service. */
export function sendSecret(secret: Secret): SentSecret {
  return secret.use((value) => ({ sentSecret: value, origin: secret.origin }));
}

/** Inverse of `sendSecret`. */
export function receiveSecret({ sentSecret, origin }: SentSecret): Secret {
  return Secret.of(sentSecret, origin);
}

/**
 * Cloning a `Secret` silently loses its value, so options that contain one are a programming error.
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
