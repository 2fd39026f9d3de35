/** `role/:name/secret-id` and its kin: what applications prove themselves with. */
import { create } from "@bufbuild/protobuf";
import {
  SecretIdRowSchema,
  type ApproleRow,
  type SecretIdRow,
} from "../../../../gen/steward/state/v1/tokens_auth_pb.ts";
import {
  NoFieldsSchema,
  SecretIdAccessorFieldsSchema,
  SecretIdFieldsSchema,
  SecretIdNameFieldsSchema,
} from "../../../../gen/steward/tokens/v1/auth_fields_pb.ts";
import { StewardError } from "../../../../kernel/base/errors.ts";
import { definePath } from "../../../logical/define-path.ts";
import { parseExact } from "../../../logical/json.ts";
import { logicalError } from "../../../logical/occurred.ts";
import type {
  CoerceRule,
  Data,
  Fields,
  LogicalResponse,
  Path,
  PathRequest,
} from "../../../logical/types.ts";
import { isSubset, parseCidrs } from "../../cidrs.ts";
import type { ExpiryClock } from "../../expiry/expiry-clock.ts";
import { countOf } from "../token-terms.ts";
import { roleNameOf, type ApproleContext } from "./context.ts";
import type { StoredSecretId } from "./storage.ts";
import { tidySecretIds } from "./tidy.ts";

const COERCE: Readonly<Record<string, CoerceRule>> = {
  cidr_list: "comma_list",
  token_bound_cidrs: "comma_list",
  ttl: "duration",
};
const MAX_SECRET_ID_LENGTH = 4_096;
const METADATA_LIMITS = { bytes: 16 * 1024, depth: 4, values: 10_000 };

/** Finds the secret id that a request names. */
type Find = (request: PathRequest) => Promise<StoredSecretId | undefined>;

/** The paths of secret ids. */
export function secretIdPaths(context: ApproleContext): readonly Path[] {
  const make = (request: PathRequest, secretId: string): Promise<LogicalResponse> =>
    context.lock(roleNameOf(request.fields), () => makeSecretId(context, request.fields, secretId));
  return [
    definePath({
      pattern: "role/:role_name/secret-id",
      fields: SecretIdFieldsSchema,
      coerce: COERCE,
      unknown: "warn",
      synopsis: "Make a secret id, or list the accessors of those there are.",
      description: "The secret id is returned only once.",
      operations: {
        update: (request) => make(request, context.ids.uuid()),
        list: ({ fields }) => list(context, fields),
      },
    }),
    definePath({
      pattern: "role/:role_name/custom-secret-id",
      fields: SecretIdFieldsSchema,
      coerce: COERCE,
      unknown: "warn",
      synopsis: "Create a secret id with a given value.",
      description: "Random ones are harder to guess.",
      operations: { update: (request) => make(request, customOf(request.fields)) },
    }),
    ...namedPaths(context, {
      pattern: "role/:role_name/secret-id",
      fields: SecretIdNameFieldsSchema,
      named: "by itself",
      find: (request) => byId(context, request),
    }),
    ...namedPaths(context, {
      pattern: "role/:role_name/secret-id-accessor",
      fields: SecretIdAccessorFieldsSchema,
      named: "by its accessor",
      find: (request) => byAccessor(context, request),
    }),
    definePath({
      pattern: "tidy/secret-id",
      fields: NoFieldsSchema,
      unknown: "warn",
      synopsis: "Delete expired secret ids.",
      description: "They are refused from their expiry on, and deleted every hour.",
      operations: { update: ({ signal }) => tidy(context, signal) },
    }),
  ];
}

function namedPaths(
  { storage, lock, expiry }: ApproleContext,
  {
    pattern,
    fields,
    named,
    find,
  }: {
    readonly pattern: string;
    readonly fields: Path["fields"];
    readonly named: string;
    readonly find: Find;
  },
): readonly Path[] {
  const destroy = (request: PathRequest): Promise<undefined> =>
    lock(roleNameOf(request.fields), async () => {
      const stored = await find(request);
      if (stored !== undefined) await storage.deleteSecretId(roleNameOf(request.fields), stored);
      return undefined;
    });
  const lookup = async (request: PathRequest): Promise<LogicalResponse | undefined> => {
    const stored = await find(request);
    return stored === undefined || isOver(stored.row, expiry)
      ? undefined
      : { data: shown(stored.row, expiry) };
  };
  return [
    definePath({
      pattern: `${pattern}/lookup`,
      fields,
      unknown: "warn",
      synopsis: `Look up a secret id ${named}.`,
      description: "Everything but the secret id itself.",
      operations: { update: lookup },
    }),
    definePath({
      pattern: `${pattern}/destroy`,
      fields,
      unknown: "warn",
      synopsis: `Destroy a secret id ${named}.`,
      description: "Tokens created with it stay valid.",
      operations: { update: destroy, delete: destroy },
    }),
  ];
}

async function list(context: ApproleContext, fields: Fields): Promise<LogicalResponse | undefined> {
  const { name } = await existingRole(context, fields);
  const keys: string[] = [];
  for await (const page of context.storage.secretIds(name))
    for (const { row } of page) if (!isOver(row, context.expiry)) keys.push(row.accessor);
  return keys.length === 0 ? undefined : { data: { keys: keys.toSorted() } };
}

async function byId(
  context: ApproleContext,
  { fields }: PathRequest,
): Promise<StoredSecretId | undefined> {
  const { name } = await existingRole(context, fields);
  const secretId = fields.text("secret_id") ?? "";
  if (secretId === "")
    throw logicalError("missing secret_id", { field: "secret_id", rule: "required" });
  return context.storage.secretId(name, secretId);
}

async function byAccessor(
  context: ApproleContext,
  { fields }: PathRequest,
): Promise<StoredSecretId> {
  const { name } = await existingRole(context, fields);
  const accessor = fields.text("secret_id_accessor") ?? "";
  if (accessor === "")
    throw logicalError("missing secret_id_accessor", {
      field: "secret_id_accessor",
      rule: "required",
    });
  const stored = await context.storage.byAccessor(name, accessor);
  if (stored === undefined)
    throw new StewardError(
      "not_found",
      `failed to find accessor entry for secret_id_accessor: ${JSON.stringify(accessor.slice(0, 64))}`,
      { field: "secret_id_accessor", rule: "live" },
    );
  return stored;
}

/** Whether a secret id is of no use now. */
export function isOver(row: SecretIdRow, expiry: ExpiryClock): boolean {
  return expiry.isOver(row.expiresAtMs, row.createdAtMs);
}

async function existingRole(
  { storage }: ApproleContext,
  fields: Fields,
): Promise<{ readonly name: string; readonly row: ApproleRow }> {
  const name = roleNameOf(fields);
  const row = await storage.role(name);
  if (row === undefined)
    throw logicalError(`role ${JSON.stringify(name)} does not exist`, {
      field: "role_name",
      rule: "role",
    });
  return { name, row };
}

function customOf(fields: Fields): string {
  const secretId = fields.text("secret_id") ?? "";
  if (secretId === "" || secretId.length > MAX_SECRET_ID_LENGTH)
    throw logicalError(`missing secret_id; it has 1 to ${MAX_SECRET_ID_LENGTH} characters`, {
      field: "secret_id",
      rule: "length",
    });
  return secretId;
}

async function makeSecretId(
  context: ApproleContext,
  fields: Fields,
  secretId: string,
): Promise<LogicalResponse> {
  const { storage, expiry, ids } = context;
  const { name, row: role } = await existingRole(context, fields);
  if (!role.bindSecretId)
    throw logicalError("bind_secret_id is not set on the role", {
      field: "role_name",
      rule: "bind_secret_id",
    });
  if ((await storage.secretId(name, secretId)) !== undefined)
    throw logicalError("secret_id already registered", { field: "secret_id", rule: "unique" });
  const nowMs = expiry.now();
  const ttlMs = limitedTtl(fields, role);
  const row = create(SecretIdRowSchema, {
    accessor: ids.uuid(),
    numUses: limitedUses(fields, role),
    ttlMs,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
    metadata: metadataOf(fields),
    cidrs: [...within("cidr_list", fields, role.secretIdBoundCidrs)],
    tokenBoundCidrs: [...within("token_bound_cidrs", fields, role.boundCidrs)],
  });
  if (ttlMs > 0) row.expiresAtMs = nowMs + ttlMs;
  await storage.saveSecretId(name, { key: storage.keyOf(secretId), row });
  return {
    data: {
      secret_id: secretId,
      secret_id_accessor: row.accessor,
      secret_id_num_uses: row.numUses,
      secret_id_ttl: Math.round(ttlMs / 1_000),
    },
  };
}

function limitedUses(fields: Fields, role: ApproleRow): number {
  const requested = countOf(fields, "num_uses");
  if (requested === undefined) return role.secretIdNumUses;
  if (role.secretIdNumUses > 0 && (requested === 0 || requested > role.secretIdNumUses))
    throw logicalError("num_uses cannot be higher than the role's secret_id_num_uses", {
      field: "num_uses",
      rule: "secret_id_num_uses",
    });
  return requested;
}

function limitedTtl(fields: Fields, role: ApproleRow): number {
  const requested = fields.durationMs("ttl");
  if (requested === undefined) return role.secretIdTtlMs;
  if (role.secretIdTtlMs > 0 && (requested === 0 || requested > role.secretIdTtlMs))
    throw logicalError("ttl cannot be longer than the role's secret_id_ttl", {
      field: "ttl",
      rule: "secret_id_ttl",
    });
  return requested;
}

function within(field: string, fields: Fields, outer: readonly string[]): readonly string[] {
  const cidrs = parseCidrs(field, fields.texts(field) ?? []);
  if (!isSubset(cidrs, outer))
    throw logicalError(`the CIDR blocks in ${field} should be a subset of those of the role`, {
      field,
      rule: "subset",
    });
  return cidrs;
}

function metadataOf(fields: Fields): Record<string, string> {
  const text = fields.text("metadata") ?? "";
  if (text === "") return {};
  const value = parseMetadata(text);
  if (
    typeof value !== "object" ||
    value === null ||
    Array.isArray(value) ||
    !Object.values(value).every((one) => typeof one === "string")
  )
    throw badMetadata();
  return { ...(value as Record<string, string>) };
}

function parseMetadata(text: string): unknown {
  try {
    return parseExact(text, METADATA_LIMITS);
  } catch {
    throw badMetadata();
  }
}

function badMetadata(): Error {
  return logicalError(
    "failed to parse metadata: it is the JSON text of an object of strings, at most 16 KiB",
    { field: "metadata", rule: "json" },
  );
}

async function tidy(context: ApproleContext, signal: AbortSignal): Promise<LogicalResponse> {
  const gone = await tidySecretIds(context, signal);
  return { status: 202, warnings: [`Tidy operation is done; ${gone} secret ids had expired.`] };
}

function shown(row: SecretIdRow, expiry: ExpiryClock): Data {
  const time = (atMs: number | undefined): string =>
    atMs === undefined
      ? "0001-01-01T00:00:00Z"
      : new Date(expiry.toWall(atMs, row.createdAtMs)).toISOString();
  return {
    cidr_list: row.cidrs,
    creation_time: time(row.createdAtMs),
    expiration_time: time(row.expiresAtMs),
    last_updated_time: time(row.updatedAtMs),
    metadata: row.metadata,
    secret_id_accessor: row.accessor,
    secret_id_num_uses: row.numUses,
    secret_id_ttl: Math.round(row.ttlMs / 1_000),
    token_bound_cidrs: row.tokenBoundCidrs,
  };
}
