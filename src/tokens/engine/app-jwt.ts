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

/** The Date header of a response to a request sent at a monotonic time. */
interface Dated {
  readonly date: string | undefined;
  readonly sentAtMs: number;
}

/** Signs for one app and key. */
export interface AppJwt {
  /** Value of an Authorization header. */
  authorization(): string;
  /** Evaluates the Date header of a response to a request sent at a monotonic time. */
  answered(date: string | undefined, sentAtMs: number): void;
  /**
   * The platform rejected the dates of `refused`, the authorization that was sent: from now on only
   * this response's Date counts, unless another JWT was signed meanwhile. True when sending again
   * may help.
   */
  clockRefused(refused: string, answer: Dated): boolean;
  /**
   * The platform rejected the issuer of `refused` and requires a number, which is used from now on.
   * True when sending again may help.
   */
  issuerRefused(refused: string): boolean;
  /** The platform's clock, milliseconds since 1970. */
  platformNowMs(): number;
}

/** Signs on first use. */
export function createAppJwt(appId: number, key: KeyObject, clock: Clock): AppJwt {
  let skew: Skew = createSkew(clock);
  let sampledAtMs = Number.NEGATIVE_INFINITY;
  let issuer: string | number = String(appId);
  let held: { readonly value: string; readonly renewAtMs: number } | undefined;
  /** Of the newest JWT, also once it is no longer held. */
  let signedSkewMs = 0;

  function skewMs(): number {
    const measured = skew.skewMs();
    return Math.abs(measured) < MIN_SKEW_MS ? 0 : measured;
  }

  // Requests that are sent at once carry one JWT, and the first refusal mends it for all of them.
  const isReplaced = (value: string): boolean => held !== undefined && held.value !== value;

  return {
    authorization() {
      const nowMs = clock.now();
      // After the wall clock is set back, a JWT looks younger than it is.
      const fresh =
        held !== undefined &&
        nowMs < held.renewAtMs &&
        nowMs > held.renewAtMs - (LASTS_S * 1_000 + RENEWED_BEFORE_MS);
      if (held !== undefined && fresh && Math.abs(skewMs() - signedSkewMs) < RESIGNED_AFTER_MS)
        return held.value;
      signedSkewMs = skewMs();
      const nowS = Math.floor((nowMs + signedSkewMs) / 1_000);
      const value = `Bearer ${signed({ iss: issuer, iat: nowS - ISSUED_BEFORE_S, exp: nowS + LASTS_S }, key)}`;
      held = { value, renewAtMs: nowMs + LASTS_S * 1_000 - RENEWED_BEFORE_MS };
      return value;
    },
    answered(date, sentAtMs) {
      const nowMs = clock.monotonic();
      if (nowMs - sampledAtMs < SAMPLED_EVERY_MS) return;
      sampledAtMs = nowMs;
      skew.sample(date, sentAtMs);
    },
    clockRefused(refused, { date, sentAtMs }) {
      if (isReplaced(refused)) return true;
      skew = createSkew(clock);
      skew.sample(date, sentAtMs);
      held = undefined;
      return Math.abs(skewMs() - signedSkewMs) >= MIN_SKEW_MS;
    },
    issuerRefused(refused) {
      if (isReplaced(refused)) return true;
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
