/** Verifies `Tailscale-Webhook-Signature: t=SECONDS,v1=HEX[,v1=HEX…]`. */
import { createHmac } from "node:crypto";
import { equalSecrets, type Secret } from "../../../kernel/base/secret.ts";

/** Name of the header, in lower case. */
export const SIGNATURE_HEADER = "tailscale-webhook-signature";

export interface Signature {
  /** As written: part of what is signed. */
  readonly seconds: string;
  /** At least one. */
  readonly digests: readonly string[];
}

export type SignatureFault =
  | "missing_signature"
  | "malformed_signature"
  | "stale_timestamp"
  | "future_timestamp"
  | "bad_signature";

/** More are a mistake: a secret that is replaced has two. */
const MAX_DIGESTS = 16;

/** Unknown elements are ignored. */
export function readSignature(header: string | undefined): Signature | SignatureFault {
  if (header === undefined || header === "") return "missing_signature";
  let seconds: string | undefined;
  const digests: string[] = [];
  for (const element of header.split(",")) {
    const [, name, value = ""] = /^([^=]*)=(.*)$/s.exec(element.trim()) ?? [];
    if (name === undefined) return "malformed_signature";
    if (name === "t") {
      if (!/^\d{1,12}$/.test(value)) return "malformed_signature";
      seconds = value;
    } else if (name === "v1") digests.push(value);
  }
  return seconds === undefined || digests.length === 0 || digests.length > MAX_DIGESTS
    ? "malformed_signature"
    : { seconds, digests };
}

/** Undefined when the time is within the tolerance; 0 accepts any time. */
export function checkTime(
  { seconds }: Signature,
  nowMs: number,
  toleranceMs: number,
): SignatureFault | undefined {
  if (toleranceMs === 0) return undefined;
  const timeMs = Number(seconds) * 1_000;
  if (timeMs < nowMs - toleranceMs) return "stale_timestamp";
  return timeMs > nowMs + toleranceMs ? "future_timestamp" : undefined;
}

/** Whether one of the digests is the HMAC of time and body. Compares in constant time. */
export function isSigned(
  { seconds, digests }: Signature,
  body: Uint8Array,
  secret: Secret,
): boolean {
  const expected = secret.use((key) =>
    createHmac("sha256", key).update(`${seconds}.`).update(body).digest("hex"),
  );
  let matches = false;
  for (const digest of digests) matches = equalSecrets(expected, digest) || matches;
  return matches;
}
