/** `role`, `role/:name`, `role/:name/role-id`: what applications log in to. */
import { create } from "@bufbuild/protobuf";
import {
  ApproleRowSchema,
  type ApproleRow,
} from "../../../../gen/steward/state/v1/tokens_auth_pb.ts";
import {
  ApproleNameFieldsSchema,
  ApproleRoleFieldsSchema,
  ApproleRoleIdFieldsSchema,
  NoFieldsSchema,
} from "../../../../gen/steward/tokens/v1/auth_fields_pb.ts";
import { definePath } from "../../../logical/define-path.ts";
import { logicalError } from "../../../logical/occurred.ts";
import type { CoerceRule, Data, Fields, LogicalResponse, Path } from "../../../logical/types.ts";
import { ROOT_POLICY } from "../../policies/built-in.ts";
import { parseCidrs } from "../../cidrs.ts";
import { sanitized, TOKEN_TYPES } from "../grants.ts";
import { countOf, roleNameOf, type ApproleContext } from "./context.ts";

/** How the fields of a role are coerced. */
export const ROLE_COERCE: Readonly<Record<string, CoerceRule>> = {
  secret_id_bound_cidrs: "comma_list",
  bound_cidr_list: "comma_list",
  token_policies: "comma_list",
  policies: "comma_list",
  token_bound_cidrs: "comma_list",
  secret_id_ttl: "duration",
  token_ttl: "duration",
  token_max_ttl: "duration",
  token_explicit_max_ttl: "duration",
  token_period: "duration",
  period: "duration",
};
/** Characters of a role id. */
const MAX_ROLE_ID_LENGTH = 1_024;

/** The paths of roles. */
export function rolePaths(context: ApproleContext): readonly Path[] {
  const { storage, lock } = context;
  return [
    definePath({
      pattern: "role",
      fields: NoFieldsSchema,
      unknown: "warn",
      synopsis: "List the names of roles.",
      description: "Sorted.",
      operations: {
        list: async () => {
          const keys = await storage.roleNames();
          return keys.length === 0 ? undefined : { data: { keys } };
        },
      },
    }),
    definePath({
      pattern: "role/:role_name",
      fields: ApproleRoleFieldsSchema,
      coerce: ROLE_COERCE,
      unknown: "warn",
      synopsis: "Read, write and delete a role.",
      description: "A write changes what it names.",
      exists: async ({ fields }) => (await storage.role(roleNameOf(fields))) !== undefined,
      operations: {
        read: async ({ fields }) => {
          const row = await storage.role(roleNameOf(fields));
          return row === undefined ? undefined : { data: shown(row) };
        },
        write: ({ fields }) => withRoleLock(context, fields, () => write(context, fields)),
        delete: ({ fields }) =>
          lock(roleNameOf(fields), async () => {
            await storage.deleteRole(roleNameOf(fields));
            return undefined;
          }),
      },
    }),
    definePath({
      pattern: "role/:role_name/role-id",
      fields: ApproleRoleIdFieldsSchema,
      unknown: "warn",
      synopsis: "Read or set a role's id.",
      description:
        "The id by which applications name the role. It is not a secret, but need not be published.",
      operations: {
        read: async ({ fields }) => {
          const row = await storage.role(roleNameOf(fields));
          return row === undefined ? undefined : { data: { role_id: row.roleId } };
        },
        update: ({ fields }) => withRoleLock(context, fields, () => setRoleId(context, fields)),
      },
    }),
    definePath({
      pattern: "role/:role_name/local-secret-ids",
      fields: ApproleNameFieldsSchema,
      unknown: "warn",
      synopsis: "Whether secret ids are local to a cluster.",
      description: "They never are: there is one server.",
      operations: {
        read: async ({ fields }) =>
          (await storage.role(roleNameOf(fields))) === undefined
            ? undefined
            : { data: { local_secret_ids: false } },
      },
    }),
  ];
}

/**
 * Serializes role changes, because role ids are unique across roles, and locks this role's secret
 * ids.
 */
export function withRoleLock<T>(
  { lock }: ApproleContext,
  fields: Fields,
  work: () => Promise<T>,
): Promise<T> {
  return lock("/roles", () => lock(roleNameOf(fields), work));
}

async function write(
  context: ApproleContext,
  fields: Fields,
): Promise<LogicalResponse | undefined> {
  const name = roleNameOf(fields);
  const before = await context.storage.role(name);
  return saveRole(
    context,
    name,
    changed(
      before ??
        create(ApproleRowSchema, {
          roleId: context.ids.uuid(),
          bindSecretId: true,
          tokenType: "default-service",
        }),
      fields,
    ),
    before,
  );
}

/**
 * Stores a role under its name; warns of times that the mount cuts. Throws `invalid` for a role
 * that does not hold together.
 */
export async function saveRole(
  context: ApproleContext,
  name: string,
  row: ApproleRow,
  before: ApproleRow | undefined,
): Promise<LogicalResponse | undefined> {
  check(row);
  await assertFreeRoleId(context, name, row.roleId);
  await context.storage.saveRole(name, row, before);
  const { maxLeaseTtlMs } = context.host.limits();
  return row.maxTtlMs > maxLeaseTtlMs
    ? {
        warnings: [
          "token_max_ttl is greater than the system or backend mount's maximum TTL value; issued tokens' max TTL value will be truncated",
        ],
      }
    : undefined;
}

async function setRoleId(context: ApproleContext, fields: Fields): Promise<undefined> {
  const name = roleNameOf(fields);
  const before = await context.storage.role(name);
  if (before === undefined)
    throw logicalError(`role ${JSON.stringify(name)} does not exist`, {
      field: "role_name",
      rule: "role",
    });
  const roleId = fields.text("role_id") ?? "";
  const row = create(ApproleRowSchema, { ...before, roleId });
  check(row);
  await assertFreeRoleId(context, name, roleId);
  await context.storage.saveRole(name, row, before);
  return undefined;
}

async function assertFreeRoleId(
  { storage }: ApproleContext,
  name: string,
  roleId: string,
): Promise<void> {
  const holder = await storage.byRoleId(roleId);
  if (holder !== undefined && holder.name !== name)
    throw logicalError("role_id already in use", { field: "role_id", rule: "unique" });
}

/** The role with the fields that were given. Throws `invalid`. */
export function changed(row: ApproleRow, fields: Fields): ApproleRow {
  const policies = fields.texts("token_policies") ?? fields.texts("policies");
  const cidrs = (name: string, old: readonly string[], former?: string): string[] => [
    ...parseCidrs(
      name,
      fields.texts(name) ?? (former === undefined ? undefined : fields.texts(former)) ?? old,
    ),
  ];
  return create(ApproleRowSchema, {
    roleId: fields.text("role_id") || row.roleId,
    bindSecretId: fields.boolean("bind_secret_id") ?? row.bindSecretId,
    secretIdBoundCidrs: cidrs("secret_id_bound_cidrs", row.secretIdBoundCidrs, "bound_cidr_list"),
    secretIdNumUses: countOf(fields, "secret_id_num_uses") ?? row.secretIdNumUses,
    secretIdTtlMs: fields.durationMs("secret_id_ttl") ?? row.secretIdTtlMs,
    policies: policies === undefined ? row.policies : [...sanitized(policies, false)],
    ttlMs: fields.durationMs("token_ttl") ?? row.ttlMs,
    maxTtlMs: fields.durationMs("token_max_ttl") ?? row.maxTtlMs,
    explicitMaxTtlMs: fields.durationMs("token_explicit_max_ttl") ?? row.explicitMaxTtlMs,
    periodMs: fields.durationMs("token_period") ?? fields.durationMs("period") ?? row.periodMs,
    numUses: countOf(fields, "token_num_uses") ?? row.numUses,
    boundCidrs: cidrs("token_bound_cidrs", row.boundCidrs),
    noDefaultPolicy: fields.boolean("token_no_default_policy") ?? row.noDefaultPolicy,
    tokenType: fields.text("token_type") || row.tokenType,
    strictlyBindIp: fields.boolean("token_strictly_bind_ip") ?? row.strictlyBindIp,
  });
}

function check(row: ApproleRow): void {
  if (row.roleId === "" || row.roleId.length > MAX_ROLE_ID_LENGTH)
    throw logicalError(`role_id has 1 to ${MAX_ROLE_ID_LENGTH} characters`, {
      field: "role_id",
      rule: "length",
    });
  if (!row.bindSecretId && row.secretIdBoundCidrs.length === 0 && row.boundCidrs.length === 0) {
    throw logicalError("at least one constraint should be enabled on the role", {
      field: "bind_secret_id",
      rule: "constraint",
      remedy: "set bind_secret_id, secret_id_bound_cidrs or token_bound_cidrs",
    });
  }
  if (row.maxTtlMs > 0 && row.ttlMs > row.maxTtlMs)
    throw logicalError("'token_ttl' cannot be greater than 'token_max_ttl'", {
      field: "token_ttl",
      rule: "token_max_ttl",
    });
  if (row.policies.includes(ROOT_POLICY))
    throw logicalError("auth methods cannot create root tokens", {
      field: "token_policies",
      rule: "root",
    });
  if (!TOKEN_TYPES.includes(row.tokenType))
    throw logicalError(`invalid 'token_type' value ${JSON.stringify(row.tokenType.slice(0, 40))}`, {
      field: "token_type",
      rule: "token_type",
    });
  if (row.tokenType !== "batch" && row.tokenType !== "default-batch") return;
  if (row.periodMs > 0)
    throw logicalError(
      "'token_type' cannot be 'batch' or 'default_batch' when set to generate periodic tokens",
      { field: "token_type", rule: "batch" },
    );
  if (row.numUses > 0)
    throw logicalError(
      "'token_type' cannot be 'batch' or 'default_batch' when set to generate tokens with limited use count",
      { field: "token_type", rule: "batch" },
    );
  if (row.explicitMaxTtlMs > 0)
    throw logicalError(
      "'token_type' cannot be 'batch' or 'default_batch' when set to generate tokens with an explicit max TTL",
      { field: "token_type", rule: "batch" },
    );
}

/** A role as its path shows it. */
export function shown(row: ApproleRow): Data {
  const seconds = (ms: number): number => Math.round(ms / 1_000);
  return {
    bind_secret_id: row.bindSecretId,
    local_secret_ids: false,
    secret_id_bound_cidrs: row.secretIdBoundCidrs.length === 0 ? null : row.secretIdBoundCidrs,
    secret_id_num_uses: row.secretIdNumUses,
    secret_id_ttl: seconds(row.secretIdTtlMs),
    token_bound_cidrs: row.boundCidrs,
    token_explicit_max_ttl: seconds(row.explicitMaxTtlMs),
    token_max_ttl: seconds(row.maxTtlMs),
    token_no_default_policy: row.noDefaultPolicy,
    token_num_uses: row.numUses,
    token_period: seconds(row.periodMs),
    token_policies: row.policies,
    token_strictly_bind_ip: row.strictlyBindIp,
    token_ttl: seconds(row.ttlMs),
    token_type: row.tokenType,
  };
}
