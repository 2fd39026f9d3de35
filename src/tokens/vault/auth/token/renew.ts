/**
 * `auth/token/renew` and its kin: a token lives longer, within its own bounds and those of the role
 * that it came from.
 */
import {
  AccessorRenewFieldsSchema,
  TokenRenewFieldsSchema,
  TokenRenewSelfFieldsSchema,
} from "../../../../gen/steward/tokens/v1/auth_fields_pb.ts";
import type { Secret } from "../../../../kernel/base/secret.ts";
import { definePath } from "../../../logical/define-path.ts";
import { logicalError } from "../../../logical/occurred.ts";
import type { CoerceRule, LogicalResponse, Path, PathRequest } from "../../../logical/types.ts";
import type { RenewTerms } from "../../token-store/token-store.ts";
import type { IssuedAuth, TokenEntry } from "../../types.ts";
import { callerOf } from "../context.ts";
import type { AuthDeps } from "../deps.ts";
import { ttlLeft } from "../grants.ts";
import { byAccessor, idOf } from "./named.ts";
import { tokenRole } from "./roles.ts";

const COERCE: Readonly<Record<string, CoerceRule>> = { increment: "duration" };

/** The three ways to renew. */
export function renewPaths(deps: AuthDeps): readonly Path[] {
  const path = (
    pattern: string,
    fields: Path["fields"],
    whom: (request: PathRequest) => { readonly id: Secret | undefined; readonly entry: TokenEntry },
    description: string,
  ): Path =>
    definePath({
      pattern,
      fields,
      coerce: COERCE,
      unknown: "warn",
      synopsis: "Renew a token.",
      description,
      operations: {
        update: async (request) => {
          const { id, entry } = whom(request);
          return renewed(deps, request, id, entry);
        },
      },
    });
  return [
    path("renew-self", TokenRenewSelfFieldsSchema, callerOf, "The calling token."),
    path("renew", TokenRenewFieldsSchema, (request) => byId(deps, request), "By its id."),
    path(
      "renew-accessor",
      AccessorRenewFieldsSchema,
      (request) => ({ id: undefined, entry: byAccessor(deps.tokens, request) }),
      "By its accessor; the response does not contain the id.",
    ),
  ];
}

function byId(
  { tokens }: AuthDeps,
  request: PathRequest,
): { readonly id: Secret; readonly entry: TokenEntry } {
  const id = idOf(request);
  const entry = tokens.lookup(id);
  if (entry === undefined) throw logicalError("token not found", { field: "token", rule: "live" });
  return { id, entry };
}

async function renewed(
  deps: AuthDeps,
  { fields }: PathRequest,
  id: Secret | undefined,
  before: TokenEntry,
): Promise<LogicalResponse> {
  const { entry, warnings } = await deps.tokens.renew(
    before,
    fields.durationMs("increment"),
    termsOf(deps, before),
  );
  const auth: IssuedAuth = { id, entry, ttlMs: ttlLeft(entry, deps.clock), made: false };
  return { auth, ...(warnings.length === 0 ? {} : { warnings }) };
}

/** The role may have changed since; without it nothing is renewed. */
function termsOf({ env }: AuthDeps, entry: TokenEntry): RenewTerms | undefined {
  if (entry.role === undefined) return undefined;
  const role = tokenRole(env, entry.role);
  if (role === undefined)
    throw logicalError(
      `original token role ${JSON.stringify(entry.role)} could not be found, not renewing`,
      { rule: "role" },
    );
  return { usualMs: entry.creationTtlMs, maxTtlMs: 0, periodMs: role.periodMs };
}
