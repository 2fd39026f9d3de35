/**
 * `login`: a role id and a secret id become a token. Whatever does not fit, the answer is the same; ids are found by their HMACs, so
 * that the time taken says nothing about how much of one was right. How often somebody may fail is the core's matter.
 */
import { create } from "@bufbuild/protobuf";
import { SecretIdRowSchema, type ApproleRow, type SecretIdRow } from "../../../../gen/steward/state/v1/tokens_auth_pb.ts";
import { ApproleLoginFieldsSchema } from "../../../../gen/steward/tokens/v1/auth_fields_pb.ts";
import type { StewardError } from "../../../../kernel/base/errors.ts";
import { definePath } from "../../../logical/define-path.ts";
import { logicalError } from "../../../logical/occurred.ts";
import type { LogicalResponse, Path, PathRequest, Remote } from "../../../logical/types.ts";
import { admits, parseCidrs } from "../../cidrs.ts";
import type { RenewTerms } from "../../token-store/token-store.ts";
import { effectiveTtl } from "../../token-store/ttl.ts";
import type { TokenEntry } from "../../types.ts";
import { checkPolicies, grantOf, sanitized, tokenTypeOf } from "../grants.ts";
import type { ApproleContext } from "./context.ts";
import { isOver, isSpent } from "./secret-id-paths.ts";

/** In place of the name of a role that does not exist; no role has a slash in its name. */
const UNKNOWN_ROLE = "/";

/** The login. */
export function loginPath(context: ApproleContext): Path {
  return definePath({
    pattern: "login", fields: ApproleLoginFieldsSchema, unknown: "warn", unauthenticated: true, synopsis: "Log in.", description: "A role id and, unless the role does without, a secret id.",
    operations: { update: (request) => login(context, request) },
  });
}

/** What a role says about renewals of tokens that were made by it. Throws `invalid` when the role has gone. */
export async function renewalTerms({ storage }: ApproleContext, entry: TokenEntry): Promise<RenewTerms> {
  const name = entry.meta?.["role_name"] ?? "";
  const row = await storage.role(name);
  if (row === undefined) throw logicalError(`role ${JSON.stringify(name)} does not exist during renewal`, { rule: "role" });
  return { usualMs: row.ttlMs, maxTtlMs: row.maxTtlMs, periodMs: row.periodMs };
}

async function login(context: ApproleContext, { fields, remote, mountPoint }: PathRequest): Promise<LogicalResponse> {
  const { storage, lock } = context;
  const [roleId, secretId] = [fields.text("role_id") ?? "", fields.text("secret_id") ?? ""];
  if (roleId === "") throw logicalError("missing role_id", { field: "role_id", rule: "required" });
  const role = await storage.byRoleId(roleId);
  if (role === undefined) {
    // The same steps as with a role, so that the time does not tell which of the two was wrong.
    return await lock(UNKNOWN_ROLE, async () => {
      await storage.secretId(UNKNOWN_ROLE, secretId);
      throw mismatch();
    });
  }
  const secret = role.row.bindSecretId ? await lock(role.name, () => takeUse(context, role, { secretId, remote })) : undefined;
  if (!admits(role.row.secretIdBoundCidrs, remote?.address)) throw mismatch();
  return makeToken(context, role, { secret, remote, mountPoint });
}

/** One use of the secret id, if it is one, is not over, and may come from where it comes from. */
async function takeUse({ storage, expiry }: ApproleContext, role: { readonly name: string; readonly row: ApproleRow }, { secretId, remote }: { readonly secretId: string; readonly remote: Remote | undefined }): Promise<SecretIdRow> {
  const stored = await storage.secretId(role.name, secretId);
  // Read again under the lock: the role may have gone meanwhile, and its secret ids are going.
  if (stored === undefined || await storage.role(role.name) === undefined) throw mismatch();
  const { row } = stored;
  if (isOver(row, expiry)) {
    if (isSpent(row, expiry)) await storage.deleteSecretId(role.name, stored);
    throw mismatch();
  }
  if (![row.cidrs, role.row.secretIdBoundCidrs].every((cidrs) => admits(cidrs, remote?.address))) throw mismatch();
  if (row.numUses === 1) await storage.deleteSecretId(role.name, stored);
  else if (row.numUses > 1) await storage.saveSecretId(role.name, { key: stored.key, row: create(SecretIdRowSchema, { ...row, numUses: row.numUses - 1, updatedAtMs: expiry.now() }) });
  return row;
}

async function makeToken(context: ApproleContext, { name, row }: { readonly name: string; readonly row: ApproleRow }, login: { readonly secret: SecretIdRow | undefined; readonly remote: Remote | undefined; readonly mountPoint: string }): Promise<LogicalResponse> {
  const { tokens, clock, host, storage } = context;
  const { secret, remote, mountPoint } = login;
  const policies = sanitized(row.policies, !row.noDefaultPolicy);
  if (policies.length === 0) throw logicalError("token must have at least one policy", { field: "token_policies", rule: "required" });
  const nowMs = clock.now();
  const { ttlMs, warnings: cut } = effectiveTtl({
    incrementMs: 0, usualMs: row.ttlMs, periodMs: row.periodMs, maxTtlMs: row.maxTtlMs, explicitMaxTtlMs: row.explicitMaxTtlMs, startedAtMs: nowMs, nowMs, limits: host.limits(),
  });
  const warnings = [...checkPolicies(context.policies, policies), ...cut];
  const type = tokenTypeOf(row.tokenType, undefined);
  const made = await tokens.create({
    type, policies, path: `${mountPoint}login`, displayName: "approle", meta: { ...secret?.metadata, role_name: name }, numUses: type === "batch" ? 0 : row.numUses, parent: undefined, ttlMs,
    explicitMaxTtlMs: row.explicitMaxTtlMs, maxTtlMs: row.maxTtlMs, periodMs: row.periodMs, renewable: type === "service", issuer: storage.mountId,
    boundCidrs: row.strictlyBindIp && remote !== undefined ? parseCidrs("remote address", [plainAddress(remote.address)]) : secret !== undefined && secret.tokenBoundCidrs.length > 0 ? secret.tokenBoundCidrs : row.boundCidrs,
  });
  return { auth: grantOf(made, clock), ...(warnings.length === 0 ? {} : { warnings }) };
}

function plainAddress(address: string): string {
  return address.startsWith("::ffff:") && address.includes(".") ? address.slice("::ffff:".length) : address;
}

function mismatch(): StewardError {
  return logicalError("invalid role or secret ID", { rule: "login" });
}
