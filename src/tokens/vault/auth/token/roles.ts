/** `auth/token/roles`: rules for created tokens that replace those of the creating token. */
import { create } from "@bufbuild/protobuf";
import {
  TokenRoleRowSchema,
  type TokenRoleRow,
} from "../../../../gen/steward/state/v1/tokens_auth_pb.ts";
import {
  NoFieldsSchema,
  TokenRoleFieldsSchema,
} from "../../../../gen/steward/tokens/v1/auth_fields_pb.ts";
import type { Env } from "../../../../kernel/state/types.ts";
import { definePath } from "../../../logical/define-path.ts";
import { logicalError } from "../../../logical/occurred.ts";
import type { Data, Fields, Path } from "../../../logical/types.ts";
import { tokenRoles } from "../../token-store/tables.ts";
import { parseCidrs } from "../../cidrs.ts";
import { TOKEN_TYPES } from "../grants.ts";

/** A role's name is one segment of a path; this bounds its key. */
const MAX_NAME_LENGTH = 256;

/** The role of this name, which may be any text. */
export function tokenRole(env: Env, name: string): TokenRoleRow | undefined {
  return name.length > MAX_NAME_LENGTH || !name.isWellFormed()
    ? undefined
    : env.read((snapshot) => snapshot.get(tokenRoles, name));
}

/** The paths of roles. */
export function rolePaths(env: Env): readonly Path[] {
  const list = definePath({
    pattern: "roles",
    fields: NoFieldsSchema,
    unknown: "warn",
    synopsis: "List the names of token roles.",
    description: "The names of all roles, sorted.",
    operations: {
      list: async () => {
        const keys = env.read((snapshot) => [...snapshot.keys(tokenRoles)]);
        return keys.length === 0 ? undefined : { data: { keys } };
      },
    },
  });
  const one = definePath({
    pattern: "roles/:role_name",
    fields: TokenRoleFieldsSchema,
    unknown: "warn",
    coerce: {
      allowed_policies: "comma_list",
      disallowed_policies: "comma_list",
      allowed_policies_glob: "comma_list",
      disallowed_policies_glob: "comma_list",
      token_bound_cidrs: "comma_list",
      bound_cidrs: "comma_list",
      allowed_entity_aliases: "comma_list",
      token_explicit_max_ttl: "duration",
      explicit_max_ttl: "duration",
      token_period: "duration",
      period: "duration",
    },
    synopsis: "Read, write and delete a token role.",
    description:
      "Tokens created by auth/token/create/ROLE follow the role. A write changes only the fields it contains.",
    exists: async ({ fields }) => tokenRole(env, nameOf(fields)) !== undefined,
    operations: {
      read: async ({ fields }) => {
        const role = tokenRole(env, nameOf(fields));
        return role === undefined ? undefined : { data: shown(nameOf(fields), role) };
      },
      write: async ({ fields }) => {
        const name = nameOf(fields);
        if (name.length > MAX_NAME_LENGTH)
          throw logicalError(`a role's name has at most ${MAX_NAME_LENGTH} characters`, {
            field: "role_name",
            rule: "length",
          });
        await env.write((tx) =>
          tx.put(tokenRoles, name, changed(tx.get(tokenRoles, name), fields)),
        );
        return undefined;
      },
      delete: async ({ fields }) => {
        const name = nameOf(fields);
        if (name.length <= MAX_NAME_LENGTH) await env.write((tx) => tx.delete(tokenRoles, name));
        return undefined;
      },
    },
  });
  return [list, one];
}

function nameOf(fields: Fields): string {
  return fields.text("role_name") ?? "";
}

function changed(before: TokenRoleRow | undefined, fields: Fields): TokenRoleRow {
  const role =
    before ?? create(TokenRoleRowSchema, { renewable: true, tokenType: "default-service" });
  const policies = (name: string, old: readonly string[]): string[] =>
    [...new Set((fields.texts(name) ?? old).map((policy) => policy.toLowerCase()))].toSorted();
  const next = create(TokenRoleRowSchema, {
    allowedPolicies: policies("allowed_policies", role.allowedPolicies),
    disallowedPolicies: policies("disallowed_policies", role.disallowedPolicies),
    allowedPoliciesGlob: policies("allowed_policies_glob", role.allowedPoliciesGlob),
    disallowedPoliciesGlob: policies("disallowed_policies_glob", role.disallowedPoliciesGlob),
    orphan: fields.boolean("orphan") ?? role.orphan,
    renewable: fields.boolean("renewable") ?? role.renewable,
    pathSuffix: fields.text("path_suffix") ?? role.pathSuffix,
    explicitMaxTtlMs:
      fields.durationMs("token_explicit_max_ttl") ??
      fields.durationMs("explicit_max_ttl") ??
      role.explicitMaxTtlMs,
    periodMs: fields.durationMs("token_period") ?? fields.durationMs("period") ?? role.periodMs,
    boundCidrs: [
      ...parseCidrs(
        "token_bound_cidrs",
        fields.texts("token_bound_cidrs") ?? fields.texts("bound_cidrs") ?? role.boundCidrs,
      ),
    ],
    noDefaultPolicy: fields.boolean("token_no_default_policy") ?? role.noDefaultPolicy,
    numUses: fields.integer("token_num_uses") ?? role.numUses,
    tokenType: fields.text("token_type") || role.tokenType,
  });
  check(next, fields);
  return next;
}

function check(role: TokenRoleRow, fields: Fields): void {
  if (role.tokenType === "default" || !TOKEN_TYPES.includes(role.tokenType))
    throw logicalError(
      `invalid 'token_type' value ${JSON.stringify(role.tokenType.slice(0, 40))}`,
      { field: "token_type", rule: "token_type" },
    );
  if (role.pathSuffix !== "" && !/^\w[\w.-]{0,254}\w$/.test(role.pathSuffix))
    throw logicalError(
      "given role path suffix contains invalid characters; must match \\w[\\w-.]+\\w",
      { field: "path_suffix", rule: "path_suffix" },
    );
  if (role.numUses < 0 || role.numUses > 2 ** 31 - 1)
    throw logicalError("'token_num_uses' cannot be negative", {
      field: "token_num_uses",
      rule: "range",
    });
  if ((fields.texts("allowed_entity_aliases") ?? []).length > 0)
    throw logicalError("entity aliases need identities, which are not served", {
      field: "allowed_entity_aliases",
      rule: "unsupported",
    });
  if (role.tokenType !== "batch") return;
  if (role.periodMs > 0)
    throw logicalError(
      "'token_type' cannot be 'batch' when role is set to generate periodic tokens",
      { field: "token_type", rule: "batch" },
    );
  if (role.numUses > 0)
    throw logicalError(
      "'token_type' cannot be 'batch' when role is set to generate tokens with limited use count",
      { field: "token_type", rule: "batch" },
    );
  if (role.explicitMaxTtlMs > 0)
    throw logicalError(
      "'token_type' cannot be 'batch' when role is set to generate tokens with an explicit max TTL",
      { field: "token_type", rule: "batch" },
    );
}

function shown(name: string, role: TokenRoleRow): Data {
  const [explicitMaxTtl, period] = [
    Math.round(role.explicitMaxTtlMs / 1_000),
    Math.round(role.periodMs / 1_000),
  ];
  return {
    allowed_entity_aliases: [],
    allowed_policies: role.allowedPolicies,
    allowed_policies_glob: role.allowedPoliciesGlob,
    ...(role.boundCidrs.length === 0
      ? {}
      : { bound_cidrs: role.boundCidrs, token_bound_cidrs: role.boundCidrs }),
    disallowed_policies: role.disallowedPolicies,
    disallowed_policies_glob: role.disallowedPoliciesGlob,
    explicit_max_ttl: explicitMaxTtl,
    name,
    orphan: role.orphan,
    path_suffix: role.pathSuffix,
    period,
    renewable: role.renewable,
    token_explicit_max_ttl: explicitMaxTtl,
    token_no_default_policy: role.noDefaultPolicy,
    token_num_uses: role.numUses,
    token_period: period,
    token_type: role.tokenType,
  };
}
