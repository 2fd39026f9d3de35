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
import { parseCidrs } from "../../cidrs.ts";
import {
  changedTerms,
  checkTerms,
  countOf,
  shownTerms,
  TERMS_COERCE,
  warningsOf,
} from "../token-terms.ts";
import { roleNameOf, type ApproleContext } from "./context.ts";

/** How the fields of a role are coerced. */
export const ROLE_COERCE: Readonly<Record<string, CoerceRule>> = {
  secret_id_bound_cidrs: "comma_list",
  bound_cidr_list: "comma_list",
  secret_id_ttl: "duration",
  ...TERMS_COERCE,
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
  // Those that a crash during the deletion of the name's last role left would open this one.
  if (before === undefined) await context.storage.deleteSecretIds(name);
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
  return warningsOf(row, context.host);
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
    ...changedTerms(row, fields),
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
  checkTerms(row);
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
    ...shownTerms(row),
  };
}
