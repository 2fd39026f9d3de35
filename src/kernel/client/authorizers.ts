/**
 * Credentials of a client: none, a fixed token, user and password, or one that is fetched and
 * renewed.
 */
import type { Clock } from "../base/clock.ts";
import { StewardError } from "../base/errors.ts";
import { Secret } from "../base/secret.ts";
import { orAborted } from "../async/wait.ts";
import { createDeadline } from "../async/deadline.ts";
import type { Authorizer } from "./types.ts";

function fixed(value: Secret | undefined): Authorizer {
  return { authorization: () => Promise.resolve(value), refused: () => false };
}

export const anonymous: Authorizer = fixed(undefined);

/** Sends a token under a scheme: `Bearer`, or another one, e.g. `Token`. */
export function bearer(token: Secret, scheme = "Bearer"): Authorizer {
  return fixed(token.use((value) => Secret.of(`${scheme} ${value}`, token.origin)));
}

/** Sends user and password (RFC 7617). */
export function basic(user: string, password: Secret): Authorizer {
  return fixed(
    password.use((value) =>
      Secret.of(
        `Basic ${Buffer.from(`${user}:${value}`, "utf8").toString("base64")}`,
        password.origin,
      ),
    ),
  );
}

/** A credential that expires. */
export interface Granted {
  readonly token: Secret;
  /** Wall time in milliseconds. */
  readonly expiresAtMs: number;
}

export interface RefreshingOptions {
  readonly fetch: (signal: AbortSignal) => Promise<Granted>;
  /** Renewed by the first call within this time before its expiry. */
  readonly earlyMs: number;
  /** Timeout of a renewal. */
  readonly fetchMs: number;
  /** Default: Bearer. */
  readonly scheme?: string;
}

/**
 * A credential that is fetched on demand, once for all concurrent callers, and again when it
 * expires or is refused.
 */
export function refreshing(options: RefreshingOptions, clock: Clock): Authorizer {
  const scheme = options.scheme ?? "Bearer";
  let held:
    | { readonly value: Secret; readonly expiresAtMs: number; readonly endsMonotonicMs: number }
    | undefined;
  let fetching: Promise<Secret> | undefined;

  // Not the first caller's signal: the others must not fail because that one aborted.
  async function renew(): Promise<Secret> {
    const never = new AbortController().signal;
    using deadline = createDeadline(
      clock,
      options.fetchMs,
      never,
      () => new StewardError("deadline", `no credential within ${options.fetchMs} ms`),
    );
    const granted = await orAborted(options.fetch(deadline.signal), deadline.signal);
    const value = granted.token.use((token) =>
      Secret.of(`${scheme} ${token}`, granted.token.origin),
    );
    held = {
      value,
      expiresAtMs: granted.expiresAtMs,
      endsMonotonicMs: clock.monotonic() + granted.expiresAtMs - clock.now(),
    };
    return value;
  }

  // By both clocks, so that setting the wall clock back does not extend a credential's life.
  const lives = ({ expiresAtMs, endsMonotonicMs }: NonNullable<typeof held>): boolean =>
    clock.now() < expiresAtMs - options.earlyMs &&
    clock.monotonic() < endsMonotonicMs - options.earlyMs;

  return {
    authorization(signal) {
      if (held !== undefined && lives(held)) return Promise.resolve(held.value);
      fetching ??= renew().finally(() => {
        fetching = undefined;
      });
      return orAborted(fetching, signal);
    },
    refused(value) {
      if (held?.value.equals(value) === true) held = undefined;
      return true;
    },
  };
}
