/** Tokens that a request names. */
import { Secret } from "../../../../kernel/base/secret.ts";
import { logicalError, occurred } from "../../../logical/occurred.ts";
import type { PathRequest } from "../../../logical/types.ts";
import type { TokenEntry, Tokens } from "../../types.ts";

/** The accessor that a request names. Throws `invalid` for none. */
export function accessorOf({ fields }: PathRequest): string {
  const accessor = fields.text("accessor") ?? "";
  if (accessor === "")
    throw logicalError(occurred("missing accessor"), { field: "accessor", rule: "required" });
  return accessor;
}

/**
 * The token behind the accessor that a request names. Throws `invalid` for none and for one that
 * ended.
 */
export function byAccessor(tokens: Tokens, request: PathRequest): TokenEntry {
  const entry = tokens.byAccessor(accessorOf(request));
  if (entry === undefined)
    throw logicalError(occurred("invalid accessor"), { field: "accessor", rule: "live" });
  return entry;
}

/** The id that a request names. Throws `invalid` for none. */
export function idOf({ fields }: PathRequest): Secret {
  const token = fields.text("token") ?? "";
  if (token === "") throw logicalError("missing token ID", { field: "token", rule: "required" });
  return Secret.of(token, "token of a request");
}
