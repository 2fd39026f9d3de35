/** What the paths of one AppRole mount share. */
import { logicalError } from "../../../logical/occurred.ts";
import type { Fields, Host } from "../../../logical/types.ts";
import type { AuthDeps } from "../deps.ts";
import type { NamedSerial } from "../../../../kernel/async/serial.ts";
import type { ApproleStorage } from "./storage.ts";

/** One mount. */
export interface ApproleContext extends AuthDeps {
  readonly host: Host;
  readonly storage: ApproleStorage;
  /** Per role; held while the role or its secret ids change. */
  readonly lock: NamedSerial;
}

/** A role's name is one segment of a path; this bounds its keys. */
const MAX_NAME_LENGTH = 256;

/** The role that a path names, lower case. Throws `invalid`. */
export function roleNameOf(fields: Fields): string {
  const name = (fields.text("role_name") ?? "").toLowerCase();
  if (name.length > MAX_NAME_LENGTH)
    throw logicalError(`role_name has at most ${MAX_NAME_LENGTH} characters`, {
      field: "role_name",
      rule: "length",
    });
  return name;
}
