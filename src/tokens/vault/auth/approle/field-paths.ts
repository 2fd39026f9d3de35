/**
 * `role/:name/token-ttl` and the like: one field of a role, read, written and set back to its
 * default.
 */
import { create, type DescMessage } from "@bufbuild/protobuf";
import {
  ApproleRowSchema,
  type ApproleRow,
} from "../../../../gen/steward/state/v1/tokens_auth_pb.ts";
import {
  ApproleBindSecretIdFieldsSchema,
  ApproleBoundCidrListFieldsSchema,
  ApprolePeriodFieldsSchema,
  ApprolePoliciesFieldsSchema,
  ApproleSecretIdBoundCidrsFieldsSchema,
  ApproleSecretIdNumUsesFieldsSchema,
  ApproleSecretIdTtlFieldsSchema,
  ApproleTokenBoundCidrsFieldsSchema,
  ApproleTokenMaxTtlFieldsSchema,
  ApproleTokenNumUsesFieldsSchema,
  ApproleTokenTtlFieldsSchema,
} from "../../../../gen/steward/tokens/v1/auth_fields_pb.ts";
import { definePath } from "../../../logical/define-path.ts";
import { logicalError } from "../../../logical/occurred.ts";
import type { Data, Fields, LogicalResponse, Path } from "../../../logical/types.ts";
import { roleNameOf, type ApproleContext } from "./context.ts";
import { withRoleLock, changed, ROLE_COERCE, saveRole, shown } from "./role-paths.ts";

interface RoleField {
  /** Last segment of the path. */
  readonly segment: string;
  /** `role_name`, then the field; its deprecated name comes last. */
  readonly fields: DescMessage;
  readonly initial: Partial<ApproleRow>;
}

const FIELDS: readonly RoleField[] = [
  {
    segment: "bind-secret-id",
    fields: ApproleBindSecretIdFieldsSchema,
    initial: { bindSecretId: true },
  },
  {
    segment: "secret-id-bound-cidrs",
    fields: ApproleSecretIdBoundCidrsFieldsSchema,
    initial: { secretIdBoundCidrs: [] },
  },
  {
    segment: "bound-cidr-list",
    fields: ApproleBoundCidrListFieldsSchema,
    initial: { secretIdBoundCidrs: [] },
  },
  {
    segment: "secret-id-num-uses",
    fields: ApproleSecretIdNumUsesFieldsSchema,
    initial: { secretIdNumUses: 0 },
  },
  {
    segment: "secret-id-ttl",
    fields: ApproleSecretIdTtlFieldsSchema,
    initial: { secretIdTtlMs: 0 },
  },
  { segment: "policies", fields: ApprolePoliciesFieldsSchema, initial: { policies: [] } },
  { segment: "token-ttl", fields: ApproleTokenTtlFieldsSchema, initial: { ttlMs: 0 } },
  { segment: "token-max-ttl", fields: ApproleTokenMaxTtlFieldsSchema, initial: { maxTtlMs: 0 } },
  { segment: "period", fields: ApprolePeriodFieldsSchema, initial: { periodMs: 0 } },
  { segment: "token-num-uses", fields: ApproleTokenNumUsesFieldsSchema, initial: { numUses: 0 } },
  {
    segment: "token-bound-cidrs",
    fields: ApproleTokenBoundCidrsFieldsSchema,
    initial: { boundCidrs: [] },
  },
];

/** Current names of fields, by their deprecated names. */
const CURRENT_NAMES: Readonly<Record<string, string>> = {
  bound_cidr_list: "secret_id_bound_cidrs",
  policies: "token_policies",
  period: "token_period",
};

export function fieldPaths(context: ApproleContext): readonly Path[] {
  return FIELDS.map(({ segment, fields: message, initial }) => {
    const names = message.fields.map(({ name }) => name).filter((name) => name !== "role_name");
    const [main = ""] = names;
    return definePath({
      pattern: `role/:role_name/${segment}`,
      fields: message,
      coerce: Object.fromEntries(
        Object.entries(ROLE_COERCE).filter(([name]) => names.includes(name)),
      ),
      unknown: "warn",
      operations: {
        read: async ({ fields }) => {
          const row = await context.storage.role(roleNameOf(fields));
          return row === undefined ? undefined : { data: valuesOf(row, names) };
        },
        update: ({ fields }) => {
          if (!names.some((name) => fields.has(name)))
            throw logicalError(`missing ${main}`, { field: main, rule: "required" });
          return change(context, fields, (row) => changed(row, only(fields, names)));
        },
        delete: ({ fields }) =>
          change(context, fields, (row) => create(ApproleRowSchema, { ...row, ...initial })),
      },
      synopsis: `Read, write and reset ${CURRENT_NAMES[main] ?? main} of a role.`,
      description: "As the field of the same name of the role; DELETE sets its default.",
    });
  });
}

function change(
  context: ApproleContext,
  fields: Fields,
  update: (row: ApproleRow) => ApproleRow,
): Promise<LogicalResponse | undefined> {
  return withRoleLock(context, fields, async () => {
    const name = roleNameOf(fields);
    const before = await context.storage.role(name);
    if (before === undefined)
      throw logicalError(`role ${JSON.stringify(name)} does not exist`, {
        field: "role_name",
        rule: "role",
      });
    return await saveRole(context, name, update(before), before);
  });
}

function valuesOf(row: ApproleRow, names: readonly string[]): Data {
  const all = shown(row);
  return Object.fromEntries(names.map((name) => [name, all[CURRENT_NAMES[name] ?? name]]));
}

/** Restricts a reader of role fields to declared ones. */
function only(fields: Fields, names: readonly string[]): Fields {
  const some =
    <T>(read: (name: string) => T | undefined) =>
    (name: string): T | undefined =>
      names.includes(name) ? read(name) : undefined;
  return {
    has: (name) => names.includes(name) && fields.has(name),
    text: some((name) => fields.text(name)),
    integer: some((name) => fields.integer(name)),
    boolean: some((name) => fields.boolean(name)),
    durationMs: some((name) => fields.durationMs(name)),
    texts: some((name) => fields.texts(name)),
    integers: some((name) => fields.integers(name)),
    pairs: some((name) => fields.pairs(name)),
    raw: some((name) => fields.raw(name)),
  };
}
