/** `role`, `role/:name`: which identity tokens may log in, and what their tokens may do. */
import { create } from "@bufbuild/protobuf";
import {
  JwtRoleRowSchema,
  type JwtRoleRow,
} from "../../../../gen/steward/state/v1/tokens_auth_pb.ts";
import {
  JwtNameFieldsSchema,
  JwtRoleFieldsSchema,
} from "../../../../gen/steward/tokens/v1/auth_fields_pb.ts";
import { definePath } from "../../../logical/define-path.ts";
import { logicalError } from "../../../logical/occurred.ts";
import type { Data, Fields, LogicalResponse, Path } from "../../../logical/types.ts";
import { changedTerms, checkTerms, shownTerms, TERMS_COERCE, warningsOf } from "../token-terms.ts";
import type { BoundClaims } from "./claims.ts";
import { roleName, type JwtContext } from "./context.ts";
import { MAX_SKEW_MS } from "./verify.ts";

const DEFAULT_SKEW_MS = 60_000;
/** Claims of a role, and values of each. */
const MAX_CLAIMS = 64;
const MAX_VALUES = 1_024;
/** Names that an account can give up and another take, with the claims that never change. */
const MUTABLE: Readonly<Record<string, string>> = {
  repository: "repository_id",
  repository_owner: "repository_owner_id",
  project_path: "project_id",
  namespace_path: "namespace_id",
};

export function rolePaths(context: JwtContext): readonly Path[] {
  const { storage, lock } = context;
  const nameOf = (fields: Fields): string => roleName(fields.text("name") ?? "");
  return [
    definePath({
      pattern: "role",
      fields: JwtNameFieldsSchema,
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
      pattern: "role/:name",
      fields: JwtRoleFieldsSchema,
      coerce: {
        ...TERMS_COERCE,
        bound_audiences: "comma_list",
        bound_claims: "any",
        claim_mappings: "any",
        clock_skew_leeway: "duration",
      },
      unknown: "warn",
      synopsis: "Read, write and delete a role.",
      description: "A write changes what it names.",
      exists: async ({ fields }) => (await storage.role(nameOf(fields))) !== undefined,
      operations: {
        read: async ({ fields }) => {
          const row = await storage.role(nameOf(fields));
          return row === undefined ? undefined : { data: shown(row) };
        },
        write: ({ fields }) =>
          lock(nameOf(fields), async () => {
            const name = nameOf(fields);
            const row = changed((await storage.role(name)) ?? initial(), fields);
            check(row);
            await storage.saveRole(name, row);
            return withWarnings(row, warningsOf(row, context.host));
          }),
        delete: ({ fields }) =>
          lock(nameOf(fields), async () => {
            await storage.deleteRole(nameOf(fields));
            return undefined;
          }),
      },
    }),
  ];
}

function initial(): JwtRoleRow {
  return create(JwtRoleRowSchema, {
    userClaim: "sub",
    clockSkewMs: DEFAULT_SKEW_MS,
    tokenType: "default-service",
  });
}

function changed(row: JwtRoleRow, fields: Fields): JwtRoleRow {
  const type = fields.text("role_type") || "jwt";
  if (type !== "jwt")
    throw logicalError(`invalid 'role_type': ${type.slice(0, 40)}`, {
      field: "role_type",
      rule: "role_type",
      remedy: "use jwt; logins with a browser (oidc) are not supported",
    });
  const claimsType = fields.text("bound_claims_type") || (row.claimsAreGlobs ? "glob" : "string");
  if (claimsType !== "string" && claimsType !== "glob")
    throw logicalError(`invalid 'bound_claims_type': ${claimsType.slice(0, 40)}`, {
      field: "bound_claims_type",
      rule: "bound_claims_type",
      remedy: "use string or glob",
    });
  const singleUse = fields.boolean("single_use");
  return create(JwtRoleRowSchema, {
    boundAudiences: [...(fields.texts("bound_audiences") ?? row.boundAudiences)],
    boundSubject: fields.text("bound_subject") ?? row.boundSubject,
    boundClaims: fields.has("bound_claims")
      ? JSON.stringify(boundClaims(fields.raw("bound_claims")))
      : row.boundClaims,
    claimsAreGlobs: claimsType === "glob",
    userClaim: fields.text("user_claim") || row.userClaim,
    claimMappings: fields.has("claim_mappings")
      ? mappings(fields.raw("claim_mappings"))
      : row.claimMappings,
    clockSkewMs: fields.durationMs("clock_skew_leeway") ?? row.clockSkewMs,
    reusable: singleUse === undefined ? row.reusable : !singleUse,
    ...changedTerms(row, fields),
  });
}

function check(row: JwtRoleRow): void {
  if (row.clockSkewMs < 0 || row.clockSkewMs > MAX_SKEW_MS)
    throw logicalError(`clock_skew_leeway is from 0 to ${MAX_SKEW_MS / 1_000} seconds`, {
      field: "clock_skew_leeway",
      rule: "range",
    });
  const isBound =
    row.boundAudiences.length > 0 ||
    row.boundSubject !== "" ||
    !["", "{}"].includes(row.boundClaims) ||
    row.boundCidrs.length > 0;
  if (!isBound)
    throw logicalError("must have at least one bound constraint when creating/updating a role", {
      field: "bound_claims",
      rule: "constraint",
      remedy: "set bound_audiences, and bound_subject or bound_claims",
    });
  checkTerms(row);
}

/** What is allowed and probably not meant. */
function withWarnings(
  row: JwtRoleRow,
  terms: LogicalResponse | undefined,
): LogicalResponse | undefined {
  const claims = Object.keys(JSON.parse(row.boundClaims || "{}") as BoundClaims);
  const warnings = [
    ...(terms?.warnings ?? []),
    ...(row.boundSubject === "" && claims.length === 0
      ? [
          "neither bound_subject nor bound_claims is set: everybody to whom the issuer gives a token with this audience can log in",
        ]
      : []),
    ...claims.flatMap((name) => {
      const stable = Object.hasOwn(MUTABLE, name) ? (MUTABLE[name] ?? "") : "";
      return stable === "" || claims.includes(stable)
        ? []
        : [`${name} is a name that somebody else may take over: bind ${stable}, too`];
    }),
  ];
  return warnings.length === 0 ? undefined : { warnings };
}

/** A JSON object, also as text, as clients on the command line send it. Throws `invalid`. */
function objectOf(field: string, raw: unknown): Readonly<Record<string, unknown>> {
  let value = raw;
  if (typeof raw === "string") {
    try {
      value = raw.trim() === "" ? {} : JSON.parse(raw);
    } catch {
      value = undefined;
    }
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw logicalError(`${field} must be a JSON object`, {
      field,
      rule: "type",
      remedy: `write e.g. ${field}='{"repository_id": "123456"}'`,
    });
  const entries = Object.entries(value);
  if (entries.length > MAX_CLAIMS)
    throw logicalError(`${field} has at most ${MAX_CLAIMS} claims`, { field, rule: "count" });
  return Object.fromEntries(entries);
}

function boundClaims(raw: unknown): BoundClaims {
  return Object.fromEntries(
    Object.entries(objectOf("bound_claims", raw)).map(([name, value]) => {
      const values = Array.isArray(value) ? value : [value];
      if (
        values.length === 0 ||
        values.length > MAX_VALUES ||
        !values.every((each) => ["string", "number", "boolean"].includes(typeof each))
      )
        throw logicalError(
          `bound_claims: ${JSON.stringify(name.slice(0, 100))} must be a text or a list of 1 to ${MAX_VALUES} texts`,
          { field: "bound_claims", rule: "value" },
        );
      return [name, values.map(String)];
    }),
  );
}

function mappings(raw: unknown): Record<string, string> {
  return Object.fromEntries(
    Object.entries(objectOf("claim_mappings", raw)).map(([claim, name]) => {
      if (typeof name !== "string" || name === "" || name === "role")
        throw logicalError(
          `claim_mappings: ${JSON.stringify(claim.slice(0, 100))} must have a name other than role`,
          { field: "claim_mappings", rule: "value" },
        );
      return [claim, name];
    }),
  );
}

function shown(row: JwtRoleRow): Data {
  const claims = JSON.parse(row.boundClaims || "{}") as BoundClaims;
  const isEmpty = (value: object): boolean => Object.keys(value).length === 0;
  return {
    allowed_redirect_uris: null,
    bound_audiences: row.boundAudiences.length === 0 ? null : row.boundAudiences,
    bound_claims: isEmpty(claims)
      ? null
      : Object.fromEntries(
          Object.entries(claims).map(([name, values]) => [
            name,
            values.length === 1 ? values[0] : values,
          ]),
        ),
    bound_claims_type: row.claimsAreGlobs ? "glob" : "string",
    bound_subject: row.boundSubject,
    claim_mappings: isEmpty(row.claimMappings) ? null : row.claimMappings,
    clock_skew_leeway: Math.round(row.clockSkewMs / 1_000),
    role_type: "jwt",
    single_use: !row.reusable,
    user_claim: row.userClaim,
    ...shownTerms(row),
  };
}
