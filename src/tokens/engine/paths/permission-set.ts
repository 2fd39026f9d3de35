/** `permissionset/:name` and their list: stored token scopes. */
import {
  EnginePermissionSetFieldsSchema,
  EnginePermissionSetsFieldsSchema,
} from "../../../gen/steward/tokens/v1/engine_pb.ts";
import { definePath } from "../../logical/define-path.ts";
import { logicalError } from "../../logical/occurred.ts";
import type { Data, LogicalResponse, Path, PathRequest } from "../../logical/types.ts";
import type { EngineContext } from "../context.ts";
import { emptiedWarnings, readScope, scopeWarnings, underCeiling } from "../scope.ts";
import { deleteSet, hasSet, listSets, loadConfig, loadSet, saveSet } from "../store.ts";
import type { Scope } from "../types.ts";
import { SCOPE_RULES } from "./token.ts";

const MAX_NAME_LENGTH = 256;

/** Unknown fields are ignored with a warning. */
export function permissionSetPath(context: EngineContext): Path {
  const { host, sessions } = context;
  return definePath({
    pattern: "permissionset/:name",
    fields: EnginePermissionSetFieldsSchema,
    coerce: SCOPE_RULES,
    unknown: "warn",
    synopsis: "Read/write GitHub permission sets for GitHub access tokens.",
    description: "A permission set is a stored request for tokens. Writing replaces the whole set.",
    exists: (request) => hasSet(host.storage, nameOf(request)),
    operations: {
      read: async (request) => {
        const scope = await loadSet(host.storage, nameOf(request));
        return scope === undefined ? undefined : { data: shown(scope) };
      },
      write: (request) => write(context, request),
      delete: async (request) => {
        await deleteSet(host.storage, nameOf(request));
        sessions.forgetSet(nameOf(request));
        return undefined;
      },
    },
  });
}

export function permissionSetsPath({ host }: EngineContext): Path {
  return definePath({
    pattern: "permissionsets",
    also: ["permissionset"],
    fields: EnginePermissionSetsFieldsSchema,
    unknown: "keep",
    synopsis: "List existing permission sets.",
    description: "The names of all permission sets, sorted.",
    operations: {
      list: async () => {
        const keys = await listSets(host.storage);
        return keys.length === 0 ? undefined : { data: { keys } };
      },
    },
  });
}

function nameOf({ fields }: PathRequest): string {
  return fields.text("name") ?? "";
}

async function write(
  { host, sessions }: EngineContext,
  request: PathRequest,
): Promise<LogicalResponse | undefined> {
  const name = nameOf(request);
  if (name.length > MAX_NAME_LENGTH)
    throw logicalError(`name must have at most ${MAX_NAME_LENGTH} characters`, {
      field: "name",
      rule: "length",
    });
  const { scope, emptied } = readScope(request);
  const config = await loadConfig(host.storage);
  underCeiling(scope.permissions, config?.maxPermissions);
  const warnings = [
    ...emptiedWarnings(emptied, config?.strictScopes === true),
    ...scopeWarnings(scope),
  ];
  await saveSet(host.storage, name, scope);
  sessions.forgetSet(name);
  return warnings.length === 0 ? undefined : { warnings };
}

function shown({ installationId, orgName, permissions, repositories, repositoryIds }: Scope): Data {
  return {
    installation_id: installationId,
    org_name: orgName,
    permissions: Object.keys(permissions).length === 0 ? null : permissions,
    repositories: repositories.length === 0 ? null : repositories,
    repository_ids: repositoryIds.length === 0 ? null : repositoryIds,
  };
}
