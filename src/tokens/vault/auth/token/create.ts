/**
 * `auth/token/create` and its variants: a token creates another, never with more permissions than
 * itself or its role allows.
 */
import type { TokenRoleRow } from "../../../../gen/steward/state/v1/tokens_auth_pb.ts";
import { TokenCreateFieldsSchema } from "../../../../gen/steward/tokens/v1/auth_fields_pb.ts";
import { Secret } from "../../../../kernel/base/secret.ts";
import { definePath } from "../../../logical/define-path.ts";
import { logicalError } from "../../../logical/occurred.ts";
import type {
  CoerceRule,
  Fields,
  LogicalResponse,
  Path,
  PathRequest,
} from "../../../logical/types.ts";
import { effectiveTtl } from "../../token-store/ttl.ts";
import type { TokenEntry, TokenSpec, TokenType } from "../../types.ts";
import { callerOf } from "../context.ts";
import type { AuthDeps } from "../deps.ts";
import { checkBatch, checkPolicies, grantOf, tokenTypeOf } from "../grants.ts";
import { ROOT_POLICY } from "../../policies/built-in.ts";
import { childPolicies } from "./child-policies.ts";
import { tokenRole } from "./roles.ts";
import { hasSudo } from "./sudo.ts";

/** Of a name that a message repeats. */
const MAX_ECHO_LENGTH = 100;
const MAX_META_BYTES = 16 * 1024;
const COERCE: Readonly<Record<string, CoerceRule>> = {
  policies: "comma_list",
  ttl: "duration",
  lease: "duration",
  explicit_max_ttl: "duration",
  period: "duration",
};

/** The three ways to make a token. */
export function createPaths(deps: AuthDeps): readonly Path[] {
  const path = (pattern: string, orphan: boolean, description: string): Path =>
    definePath({
      pattern,
      fields: TokenCreateFieldsSchema,
      coerce: COERCE,
      unknown: "warn",
      synopsis: "Make a token.",
      description,
      operations: { update: (request) => makeToken(deps, request, orphan) },
    });
  return [
    path(
      "create",
      false,
      "The new token is a child of the calling token: it is revoked with it, and has at most its policies.",
    ),
    path(
      "create-orphan",
      true,
      "The new token has no parent: it stays valid when the calling token is revoked.",
    ),
    path("create/:role_name", false, "The new token follows the role."),
  ];
}

/** The request combined with its role. */
interface Wish {
  readonly role: { readonly name: string; readonly row: TokenRoleRow } | undefined;
  readonly sudo: boolean;
  readonly orphan: boolean;
  readonly type: TokenType;
  readonly ttlMs: number;
  readonly explicitMaxTtlMs: number;
  readonly periodMs: number;
  readonly numUses: number;
  readonly policies: readonly string[];
}

async function makeToken(
  deps: AuthDeps,
  request: PathRequest,
  orphan: boolean,
): Promise<LogicalResponse> {
  const { tokens, policies, clock } = deps;
  const { entry: parent } = callerOf(request);
  if (parent.type === "batch")
    throw logicalError("batch tokens cannot create more tokens", { rule: "batch" });
  if (parent.numUses !== 0)
    throw logicalError("restricted use token cannot generate child tokens", { rule: "num_uses" });
  const wish = wishOf(deps, request, { parent, orphan });
  const warnings = [...checkPolicies(policies, wish.policies)];
  const { ttlMs, warnings: cut } = lifeOf(deps, wish, parent);
  const { fields } = request;
  const boundCidrs =
    wish.role !== undefined && wish.role.row.boundCidrs.length > 0
      ? wish.role.row.boundCidrs
      : parent.boundCidrs;
  if (ttlMs === 0 && boundCidrs.length > 0)
    throw logicalError("a token that never expires cannot be bound to networks", {
      rule: "bound_cidrs",
    });
  const meta = metaOf(fields);
  const id = fields.text("id");
  const suffix = wish.role?.row.pathSuffix ?? "";
  const spec: TokenSpec = {
    type: wish.type,
    policies: wish.policies,
    path: `${request.mountPoint}${request.path}${suffix === "" ? "" : `/${suffix}`}`,
    displayName: displayNameOf(fields),
    numUses: wish.numUses,
    parent: wish.orphan ? undefined : parent.key,
    ttlMs,
    explicitMaxTtlMs: wish.explicitMaxTtlMs,
    periodMs: wish.periodMs,
    boundCidrs,
    renewable:
      ttlMs > 0 &&
      wish.type === "service" &&
      (fields.boolean("renewable") ?? true) &&
      wish.role?.row.renewable !== false,
    ...(meta === undefined ? {} : { meta }),
    ...(wish.role === undefined ? {} : { role: wish.role.name }),
    ...(id === undefined || id === "" ? {} : { id: Secret.of(id, "id of auth/token/create") }),
  };
  const made = await tokens.create(spec);
  warnings.push(...cut);
  return { auth: grantOf(made, clock), ...(warnings.length === 0 ? {} : { warnings }) };
}

function wishOf(
  deps: AuthDeps,
  request: PathRequest,
  { parent, orphan }: { readonly parent: TokenEntry; readonly orphan: boolean },
): Wish {
  const { fields } = request;
  const sudo = hasSudo(deps.policies, parent, `${request.mountPoint}${request.path}`);
  const role = roleOf(deps, request);
  const [given, row] = [givenOf(fields), role?.row];
  if (!sudo) refuseWithoutSudo(fields, given.periodMs, role !== undefined);
  if (fields.text("entity_alias"))
    throw logicalError("entity aliases need identities, which are not served", {
      field: "entity_alias",
      rule: "unsupported",
    });
  const type = tokenTypeOf(row?.tokenType, fields.text("type"));
  const wish = {
    role,
    sudo,
    type,
    ttlMs: given.ttlMs,
    orphan:
      orphan ||
      row?.orphan === true ||
      (role === undefined && fields.boolean("no_parent") === true),
    explicitMaxTtlMs: smaller(given.explicitMaxTtlMs, row?.explicitMaxTtlMs ?? 0),
    periodMs: smaller(given.periodMs, row?.periodMs ?? 0),
    numUses: smaller(given.numUses, row?.numUses ?? 0),
  };
  checkBatch(type, wish);
  const policies = childPolicies({
    parent: parent.policies,
    requested: fields.texts("policies") ?? [],
    noDefault: fields.boolean("no_default_policy") === true,
    sudo,
    role: row,
  });
  return { ...wish, policies };
}

/** Only the path names a role: it is what policies rule over. */
function roleOf({ env }: AuthDeps, { path, fields }: PathRequest): Wish["role"] {
  const name = path.startsWith("create/") ? fields.text("role_name") : undefined;
  if (name === undefined) return undefined;
  const row = tokenRole(env, name);
  if (row === undefined)
    throw logicalError(`unknown role ${name.slice(0, MAX_ECHO_LENGTH)}`, {
      field: "role_name",
      rule: "role",
    });
  return { name, row };
}

function givenOf(fields: Fields): {
  readonly ttlMs: number;
  readonly explicitMaxTtlMs: number;
  readonly periodMs: number;
  readonly numUses: number;
} {
  const numUses = fields.integer("num_uses") ?? 0;
  if (numUses < 0)
    throw logicalError("number of uses cannot be negative", { field: "num_uses", rule: "range" });
  if (numUses > 2 ** 31 - 1)
    throw logicalError("number of uses is too large; 0 is for as many as wanted", {
      field: "num_uses",
      rule: "range",
    });
  return {
    ttlMs: fields.durationMs("ttl") || (fields.durationMs("lease") ?? 0),
    explicitMaxTtlMs: fields.durationMs("explicit_max_ttl") ?? 0,
    periodMs: fields.durationMs("period") ?? 0,
    numUses,
  };
}

function refuseWithoutSudo(fields: Fields, periodMs: number, byRole: boolean): void {
  const needs = (field: string, what: string): Error =>
    logicalError(`root or sudo privileges required to ${what}`, { field, rule: "sudo" });
  if (fields.text("id")) throw needs("id", "specify token id");
  if (!byRole && fields.boolean("no_parent") === true)
    throw needs("no_parent", "create orphan token");
  if (periodMs > 0) throw needs("period", "create periodic token");
}

function lifeOf(
  { limits, clock }: AuthDeps,
  wish: Wish,
  parent: TokenEntry,
): { readonly ttlMs: number; readonly warnings: readonly string[] } {
  const isRoot = wish.policies.includes(ROOT_POLICY);
  if (isRoot && wish.ttlMs === 0 && wish.periodMs === 0 && wish.explicitMaxTtlMs === 0) {
    if (parent.expiresAtMs !== undefined)
      throw logicalError("expiring root tokens cannot create non-expiring root tokens", {
        field: "ttl",
        rule: "root",
      });
    if (wish.type === "batch")
      throw logicalError("batch tokens cannot be root tokens that never expire", {
        field: "type",
        rule: "batch",
      });
    return { ttlMs: 0, warnings: [] };
  }
  const nowMs = clock.now();
  return effectiveTtl({
    incrementMs: wish.ttlMs,
    usualMs: isRoot ? wish.explicitMaxTtlMs : 0,
    periodMs: wish.periodMs,
    maxTtlMs: 0,
    explicitMaxTtlMs: wish.explicitMaxTtlMs,
    startedAtMs: nowMs,
    nowMs,
    limits: limits(),
  });
}

/** Bounded as the metadata of a secret id is: every request with the token reads it. */
function metaOf(fields: Fields): Record<string, string> | undefined {
  const pairs = fields.pairs("meta");
  if (pairs === undefined) return undefined;
  const meta = Object.fromEntries(pairs);
  if (Buffer.byteLength(JSON.stringify(meta)) > MAX_META_BYTES)
    throw logicalError("meta has at most 16 KiB", { field: "meta", rule: "length" });
  return meta;
}

/** `token`, or `token-` and the name with foreign signs replaced. */
function displayNameOf(fields: Fields): string {
  const name = (fields.text("display_name") ?? "").slice(0, 256).replaceAll(/[^a-zA-Z0-9-]/g, "-");
  return name === "" ? "token" : `token-${name}`.replace(/-$/, "");
}

/** The smaller of two bounds; 0 is no bound. */
function smaller(left: number, right: number): number {
  return left === 0 || right === 0 ? left + right : Math.min(left, right);
}
