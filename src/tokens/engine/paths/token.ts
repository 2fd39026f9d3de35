/** `token` and `token/:permissionset`: mint a token. */
import {
  EnginePermissionSetTokenFieldsSchema,
  EngineTokenFieldsSchema,
} from "../../../gen/steward/tokens/v1/engine_pb.ts";
import { definePath } from "../../logical/define-path.ts";
import { logicalError } from "../../logical/occurred.ts";
import type { LogicalResponse, Path, PathHandler } from "../../logical/types.ts";
import type { EngineContext } from "../context.ts";
import { mint } from "../cache/mint-shared.ts";
import { emptiedWarnings, readScope } from "../scope.ts";
import { loadSet } from "../store.ts";

// A token never exists beforehand, so a POST is a `create` for the policy.
const neverExists = (): Promise<boolean> => Promise.resolve(false);

/** Fields with lists and pairs. */
export const SCOPE_RULES = {
  repositories: "comma_list",
  repository_ids: "comma_list",
  permissions: "pairs",
} as const;

/** Mints with the scope in the request. */
export function tokenPath(context: EngineContext): Path {
  const handle: PathHandler = async (request) => {
    const { scope, emptied } = readScope(request);
    const session = await context.sessions.current(request.mountPoint);
    const warnings = emptiedWarnings(emptied, session.config.strictScopes);
    return withWarnings(await mint(context, session, request, { wanted: scope }), warnings);
  };
  return definePath({
    pattern: "token",
    fields: EngineTokenFieldsSchema,
    coerce: SCOPE_RULES,
    mints: true,
    exists: neverExists,
    synopsis: "Create and return a token using the GitHub secrets plugin.",
    description:
      "Mints an installation token with a lease of the token's lifetime. Revoking the lease revokes the token. Without repositories and permissions the token has all that the installation has.",
    operations: { read: handle, write: handle },
  });
}

/** Mints with a stored scope. */
export function permissionSetTokenPath(context: EngineContext): Path {
  const handle: PathHandler = async (request) => {
    const name = request.fields.text("permissionset") ?? "";
    const session = await context.sessions.current(request.mountPoint);
    const scope = await loadSet(context.host.storage, name);
    if (scope === undefined)
      throw logicalError(`permission set '${name}' does not exist`, {
        field: "permissionset",
        rule: "unknown",
      });
    return mint(context, session, request, { wanted: scope, permissionSet: name });
  };
  return definePath({
    pattern: "token/:permissionset",
    fields: EnginePermissionSetTokenFieldsSchema,
    mints: true,
    exists: neverExists,
    synopsis: "Create and return a token using the GitHub secrets plugin.",
    description:
      "Mints an installation token as defined by a permission set. The request cannot change its scope.",
    operations: { read: handle, write: handle },
  });
}

function withWarnings(response: LogicalResponse, warnings: readonly string[]): LogicalResponse {
  return warnings.length === 0
    ? response
    : { ...response, warnings: [...warnings, ...(response.warnings ?? [])] };
}
