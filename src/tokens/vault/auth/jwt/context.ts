/** What the paths of one JWT mount share. */
import type { NamedSerial } from "../../../../kernel/async/serial.ts";
import { logicalError } from "../../../logical/occurred.ts";
import type { Host } from "../../../logical/types.ts";
import type { AuthDeps } from "../deps.ts";
import type { KeySource } from "./keys.ts";
import type { JwtStorage } from "./storage.ts";
import type { UsedTokens } from "./used-tokens.ts";

/** One mount. */
export interface JwtContext extends AuthDeps {
  readonly host: Host;
  readonly storage: JwtStorage;
  readonly keys: KeySource;
  readonly used: UsedTokens;
  /** Held while the configuration or a role changes. */
  readonly lock: NamedSerial;
}

const MAX_NAME_LENGTH = 256;

/** A role's name in lower case. Throws `invalid`. */
export function roleName(written: string): string {
  if (written.length > MAX_NAME_LENGTH)
    throw logicalError(`a role's name has at most ${MAX_NAME_LENGTH} characters`, {
      field: "role",
      rule: "length",
    });
  return written.toLowerCase();
}
