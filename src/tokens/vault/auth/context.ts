/** Request data that only auth backends receive: the token of the request. */
import { StewardError } from "../../../kernel/base/errors.ts";
import type { Secret } from "../../../kernel/base/secret.ts";
import type { LogicalRequest } from "../../logical/types.ts";
import type { TokenEntry } from "../types.ts";

/** A token as sent and as stored. */
export interface Caller {
  readonly id: Secret;
  readonly entry: TokenEntry;
}

export interface HostRequest extends LogicalRequest {
  /** Absent on unauthenticated paths. */
  readonly token?: Caller;
  /** The token as sent, live or not; absent if none was sent. */
  readonly sentToken?: Secret;
}

/** Throws `denied` without a token. */
export function callerOf(request: HostRequest): Caller {
  if (request.token === undefined)
    throw new StewardError("denied", "permission denied", { rule: "token" });
  return request.token;
}
