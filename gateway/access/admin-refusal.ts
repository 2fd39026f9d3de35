/** Reasons for refusals by the admin surface: values of `svc.admin.auth.rejected`. */
import { Access } from "../../src/gen/steward/options/v1/options_pb.ts";
import type { StewardError } from "../../src/kernel/base/errors.ts";
import type { RequestHead } from "./authorize.ts";

/**
 * A non-loopback address without a token is not among them: such a configuration does not start.
 */
export type AdminRefusal =
  | "missing_credentials"
  | "bad_credentials"
  | "untrusted_host"
  | "cross_site_request";

/** The reason of a refusal by `Authorize`; undefined when another surface refused. */
export function adminRefusal(
  access: Access,
  { headers }: RequestHead,
  refusal: StewardError,
): AdminRefusal | undefined {
  if (access !== Access.ADMIN) return undefined;
  if (refusal.code === "unauthenticated")
    return headers["authorization"] === undefined ? "missing_credentials" : "bad_credentials";
  if (refusal.rule === "host") return "untrusted_host";
  return refusal.rule === "cross_site" ? "cross_site_request" : undefined;
}
