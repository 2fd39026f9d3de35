/** The wording of the vendor's refusals. */
import { json, type Reply } from "../control-plane/reply.ts";

/** An error in the vendor's form. */
export function refuse(status: number, message: string): Reply {
  return json({ message }, status);
}

/** An error of the token endpoints (RFC 6749 §5.2). */
export function refuseToken(status: number, error: string, description: string): Reply {
  return json({ error, error_description: description }, status, { "cache-control": "no-store" });
}

/** 401 without valid credentials. */
export const INVALID_TOKEN: Reply = refuse(401, "API token invalid");
/** 403 without the required scope. */
export const SCOPE_MISSING: Reply = refuse(
  403,
  "calling actor does not have enough permissions to perform this function",
);
/** 404 for another network than the credential's. */
export const NO_TAILNET: Reply = refuse(404, "tailnet not found");
/** 404 for what is not there. */
export const NOT_FOUND: Reply = refuse(404, "not found");
