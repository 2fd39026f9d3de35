/**
 * What auth backends know beyond any other backend: the token that a request came with. The core
 * passes it along with the request.
 */
import { StewardError } from "../../../kernel/base/errors.ts";
import type { Secret } from "../../../kernel/base/secret.ts";
import type { LogicalRequest } from "../../logical/types.ts";
import type { TokenEntry } from "../types.ts";

/** A token as it was sent and as it is known. */
export interface Caller {
  readonly id: Secret;
  readonly entry: TokenEntry;
}

/** A request to an auth backend. */
export interface HostRequest extends LogicalRequest {
  /** Absent on paths that need none. */
  readonly token?: Caller;
  /** The token as it was sent, live or not. Absent where none was sent. */
  readonly sentToken?: Secret;
}

/** The token that a request came with; throws `denied` when there is none. */
export function callerOf(request: HostRequest): Caller {
  if (request.token === undefined)
    throw new StewardError("denied", "permission denied", { rule: "token" });
  return request.token;
}
