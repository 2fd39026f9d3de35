/** Classifies upload errors. */
import { failureOf } from "../kernel/client/failure.ts";

/** The closed set of classes; a label of a metric. */
export type UploadErrorClass =
  | "timeout"
  | "canceled"
  | "unauthenticated"
  | "rate_limited"
  | "unavailable"
  | "tls"
  | "invalid"
  | "other";

/** TLS error codes of OpenSSL and Node. */
const TLS =
  /^(?:ERR_SSL|ERR_TLS|ERR_OSSL|EPROTO$|CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|HOSTNAME_MISMATCH|INVALID_CA|CRL_)/;
const MAX_CAUSE_CHAIN = 5;

/** The class of an upload's error. */
export function uploadClassOf(error: unknown): UploadErrorClass {
  const failure = failureOf(error);
  switch (failure?.class) {
    case "timeout":
      return "timeout";
    case "cancelled":
      return "canceled";
    case "auth":
    case "forbidden":
      return "unauthenticated";
    case "rate_limited":
      return "rate_limited";
    case "server":
    case "unavailable":
      return "unavailable";
    case "rejected":
    case "not_found":
    case "redirect":
    case "decode":
    case "too_large":
      return "invalid";
    case "transport":
      return isTls(error) ? "tls" : "unavailable";
    default:
      return isAbort(error) ? "canceled" : "other";
  }
}

/** The code is that of the innermost cause. */
function isTls(error: unknown): boolean {
  let inner = error;
  for (let depth = 0; depth < MAX_CAUSE_CHAIN && inner instanceof Error; depth++) {
    const { code, cause } = inner as Error & { readonly code?: unknown };
    if (typeof code === "string" && TLS.test(code)) return true;
    inner = cause;
  }
  return false;
}

function isAbort(error: unknown): boolean {
  return (
    error instanceof Error &&
    (error.name === "AbortError" || (error as { readonly code?: unknown }).code === "cancelled")
  );
}
