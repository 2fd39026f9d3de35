/** The reasons for which a stream request is rejected, with their statuses. */
import { Refusal } from "../refusal.ts";

const statuses = {
  auth: 401,
  auth_required: 403,
  cross_site: 403,
  too_large: 413,
  too_many_records: 413,
  too_many_connections: 413,
  overloaded: 503,
  wal_unavailable: 503,
  unparsable: 400,
  malformed: 400,
  decode_error: 400,
  semantic_invalid: 400,
} as const;

/** Value of the attribute `reason` of `vpn.stream.rejected`. */
export type RejectionReason = keyof typeof statuses;

export function rejection(reason: RejectionReason, message: string): Refusal<RejectionReason> {
  return new Refusal(statuses[reason], reason, message);
}
