/**
 * The JWT that authenticates the GitHub App: reused until shortly before it expires, dated by the
 * platform's clock.
 */
import { type KeyObject, sign } from "node:crypto";
import type { Clock } from "../../kernel/base/clock.ts";
import { createSkew, type Skew } from "../../kernel/client/http/skew.ts";

/** Backdated, so that a clock slightly behind ours accepts it. */
const ISSUED_BEFORE_S = 60;

/** The platform accepts at most ten minutes. */
const LASTS_S = 540;

/** A JWT is renewed this long before it expires. */
const RENEWED_BEFORE_MS = 60_000;

/** Smaller differences may be the resolution of the Date header. */
const MIN_SKEW_MS = 5_000;

/** A JWT is also renewed when the clock estimate moved by more than this. */
const RESIGNED_AFTER_MS = 20_000;

/** Shortest interval between evaluations of Date headers. */
const SAMPLED_EVERY_MS = 1_000;

/** Signs for one app and key. */
export interface AppJwt {
  /** Value of an Authorization header. */
  authorization(): string;
  /** Evaluates the Date header of a response to a request sent at a monotonic time. */
  answered(date: string | undefined, sentAtMs: number): void;
  /**
   * The platform rejected the JWT's dates: from now on only this response's Date counts. True when
   * signing again may help.
   */
  clockRefused(date: string | undefined, sentAtMs: number): boolean;
  /** The platform requires a numeric issuer; used from now on. True when signing again may help. */
  issuerRefused(): boolean;
  /** The platform's clock, milliseconds since 1970. */
  platformNowMs(): number;
}

/** Signs on first use. */
export function createAppJwt(appId: number, key: KeyObject, clock: Clock): AppJwt {
  let skew: Skew = createSkew(clock);
  let sampledAtMs = Number.NEGATIVE_INFINITY;
  let issuer: string | number = String(appId);
  let held:
    | { readonly value: string; readonly renewAtMs: number; readonly skewMs: number }
    | undefined;

  function skewMs(): number {
    const measured = skew.skewMs();
    return Math.abs(measured) < MIN_SKEW_MS ? 0 : measured;
  }

  return {
    authorization() {
      const nowMs = clock.now();
      // After the wall clock is set back, a JWT looks younger than it is.
      const fresh =
        held !== undefined &&
        nowMs < held.renewAtMs &&
        nowMs > held.renewAtMs - (LASTS_S * 1_000 + RENEWED_BEFORE_MS);
      if (held !== undefined && fresh && Math.abs(skewMs() - held.skewMs) < RESIGNED_AFTER_MS)
        return held.value;
      const skewed = skewMs();
      const nowS = Math.floor((nowMs + skewed) / 1_000);
      const value = `Bearer ${signed({ iss: issuer, iat: nowS - ISSUED_BEFORE_S, exp: nowS + LASTS_S }, key)}`;
      held = { value, renewAtMs: nowMs + LASTS_S * 1_000 - RENEWED_BEFORE_MS, skewMs: skewed };
      return value;
    },
    answered(date, sentAtMs) {
      const nowMs = clock.monotonic();
      if (nowMs - sampledAtMs < SAMPLED_EVERY_MS) return;
      sampledAtMs = nowMs;
      skew.sample(date, sentAtMs);
    },
    clockRefused(date, sentAtMs) {
      const before = held?.skewMs ?? 0;
      skew = createSkew(clock);
      skew.sample(date, sentAtMs);
      held = undefined;
      return Math.abs(skewMs() - before) >= MIN_SKEW_MS;
    },
    issuerRefused() {
      if (issuer === appId) return false;
      issuer = appId;
      held = undefined;
      return true;
    },
    platformNowMs: () => clock.now() + skewMs(),
  };
}

function signed(claims: Readonly<Record<string, string | number>>, key: KeyObject): string {
  const text = `${encoded({ alg: "RS256", typ: "JWT" })}.${encoded(claims)}`;
  return `${text}.${sign("RSA-SHA256", Buffer.from(text), key).toString("base64url")}`;
}

function encoded(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}
