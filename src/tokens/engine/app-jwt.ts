/**
 * The JWT that the app authenticates with: signed once, used until shortly before its end, dated by
 * the platform's clock.
 */
import { type KeyObject, sign } from "node:crypto";
import type { Clock } from "../../kernel/base/clock.ts";
import { createSkew, type Skew } from "../../kernel/client/skew.ts";

/** Before now, so that a clock a little behind ours accepts it. */
const ISSUED_BEFORE_S = 60;

/** The platform takes at most ten minutes from its own now. */
const LASTS_S = 540;

/** A signature is renewed so much before its end. */
const RENEWED_BEFORE_MS = 60_000;

/** Below it a difference is as likely the resolution of the Date header. */
const MIN_SKEW_MS = 5_000;

/** A signature made with another idea of the platform's clock is renewed, too. */
const RESIGNED_AFTER_MS = 20_000;

/** Date headers are looked at no more often. */
const SAMPLED_EVERY_MS = 1_000;

/** Signs for one app and key. */
export interface AppJwt {
  /** Value of an Authorization header. */
  authorization(): string;
  /** An answer came, to a request that was sent at a monotonic instant. */
  answered(date: string | undefined, sentAtMs: number): void;
  /**
   * The platform found our dates wrong: only this answer's Date counts from now on. True when
   * signing again may help.
   */
  clockRefused(date: string | undefined, sentAtMs: number): boolean;
  /**
   * The platform wants the app's id as a number, not as text: so it is from now on. True when
   * signing again may help.
   */
  issuerRefused(): boolean;
  /** The platform's clock, milliseconds since 1970. */
  platformNowMs(): number;
}

/** Nothing is signed before the first use. */
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
      // A wall clock that was set back makes a signature look younger than it is.
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
