/**
 * `login`: exchanges a role id and a secret id for a token. All failures give the same response,
 * and ids are found by their HMACs, so that timing reveals nothing. The core limits failed
 * attempts.
 */
import { create } from "@bufbuild/protobuf";
import {
  SecretIdRowSchema,
  type ApproleRow,
  type SecretIdRow,
} from "../../../../gen/steward/state/v1/tokens_auth_pb.ts";
import { ApproleLoginFieldsSchema } from "../../../../gen/steward/tokens/v1/auth_fields_pb.ts";
import type { StewardError } from "../../../../kernel/base/errors.ts";
import { definePath } from "../../../logical/define-path.ts";
import { logicalError } from "../../../logical/occurred.ts";
import type { LogicalResponse, Path, PathRequest, Remote } from "../../../logical/types.ts";
import { admits } from "../../cidrs.ts";
import type { RenewTerms } from "../../token-store/token-store.ts";
import type { TokenEntry } from "../../types.ts";
import { makeLoginToken } from "../token-terms.ts";
import type { ApproleContext } from "./context.ts";
import type { StoredSecretId } from "./storage.ts";
import { isOver } from "./secret-id-paths.ts";
import { isSpent } from "./tidy.ts";

/** In place of the name of a role that does not exist; no role has a slash in its name. */
const UNKNOWN_ROLE = "/";

/** The login. */
export function loginPath(context: ApproleContext): Path {
  return definePath({
    pattern: "login",
    fields: ApproleLoginFieldsSchema,
    unknown: "warn",
    unauthenticated: true,
    provesCredential: true,
    synopsis: "Log in.",
    description: "A role id and, unless the role does without, a secret id.",
    operations: { update: (request) => login(context, request) },
    proof: {
      subject: ({ fields }) => fields.text("role_id") || undefined,
      verify: (request) => verify(context, request),
    },
  });
}

/** Renewal terms that a role and the mount set for its tokens. Throws `invalid` when the role is gone. */
export async function renewalTerms(
  { storage, host }: ApproleContext,
  entry: TokenEntry,
): Promise<RenewTerms> {
  const name = entry.meta?.["role_name"] ?? "";
  const row = await storage.role(name);
  if (row === undefined)
    throw logicalError(`role ${JSON.stringify(name)} does not exist during renewal`, {
      rule: "role",
    });
  const { ttlMs: usualMs, maxTtlMs, periodMs } = row;
  return { usualMs, maxTtlMs, periodMs, limits: host.limits() };
}

async function login(context: ApproleContext, request: PathRequest): Promise<LogicalResponse> {
  const { remote, mountPoint } = request;
  const role = await roleOf(context, request);
  const secret = role.row.bindSecretId
    ? await context.lock(role.name, () => takeUse(context, role, request))
    : undefined;
  if (!admits(role.row.secretIdBoundCidrs, remote?.address)) throw mismatch();
  return makeToken(context, role, { secret, remote, mountPoint });
}

/** Whether a login would succeed; takes no use and removes nothing. */
async function verify(context: ApproleContext, request: PathRequest): Promise<void> {
  const role = await roleOf(context, request);
  if (role.row.bindSecretId) {
    await context.lock(role.name, async () =>
      usable(
        context,
        role,
        request,
        await context.storage.secretId(role.name, secretIdOf(request)),
      ),
    );
  }
  if (!admits(role.row.secretIdBoundCidrs, request.remote?.address)) throw mismatch();
}

interface Role {
  readonly name: string;
  readonly row: ApproleRow;
}

async function roleOf({ storage, lock }: ApproleContext, request: PathRequest): Promise<Role> {
  const roleId = request.fields.text("role_id") ?? "";
  if (roleId === "") throw logicalError("missing role_id", { field: "role_id", rule: "required" });
  const role = await storage.byRoleId(roleId);
  if (role !== undefined) return role;
  // Takes the same steps as for an existing role, so that timing does not reveal which id was
  // wrong.
  return await lock(UNKNOWN_ROLE, async () => {
    await storage.secretId(UNKNOWN_ROLE, secretIdOf(request));
    throw mismatch();
  });
}

function secretIdOf({ fields }: PathRequest): string {
  return fields.text("secret_id") ?? "";
}

/**
 * What was stored, if it is a secret id, is not over, and may come from where the request comes
 * from. Call it under the lock.
 */
async function usable(
  { storage, expiry }: ApproleContext,
  role: Role,
  { remote }: PathRequest,
  stored: StoredSecretId | undefined,
): Promise<StoredSecretId> {
  // Read again under the lock: the role may have gone meanwhile, and its secret ids are going.
  if (
    stored === undefined ||
    isOver(stored.row, expiry) ||
    (await storage.role(role.name)) === undefined
  )
    throw mismatch();
  if (
    ![stored.row.cidrs, role.row.secretIdBoundCidrs].every((cidrs) =>
      admits(cidrs, remote?.address),
    )
  )
    throw mismatch();
  return stored;
}

/** Takes one use of the secret id; removes one that is over. */
async function takeUse(
  context: ApproleContext,
  role: Role,
  request: PathRequest,
): Promise<SecretIdRow> {
  const { storage, expiry } = context;
  const stored = await storage.secretId(role.name, secretIdOf(request));
  if (stored !== undefined && isSpent(stored.row, expiry))
    await storage.deleteSecretId(role.name, stored);
  const { key, row } = await usable(context, role, request, stored);
  if (row.numUses === 1) await storage.deleteSecretId(role.name, { key, row });
  else if (row.numUses > 1) {
    const used = create(SecretIdRowSchema, {
      ...row,
      numUses: row.numUses - 1,
      updatedAtMs: expiry.now(),
    });
    await storage.saveSecretId(role.name, { key, row: used });
  }
  return row;
}

async function makeToken(
  context: ApproleContext,
  { name, row }: { readonly name: string; readonly row: ApproleRow },
  login: {
    readonly secret: SecretIdRow | undefined;
    readonly remote: Remote | undefined;
    readonly mountPoint: string;
  },
): Promise<LogicalResponse> {
  const { secret, remote, mountPoint } = login;
  return await makeLoginToken(context, {
    terms: row,
    mountId: context.storage.mountId,
    mountPoint,
    displayName: "approle",
    meta: { ...secret?.metadata, role_name: name },
    ...(secret === undefined ? {} : { boundCidrs: secret.tokenBoundCidrs }),
    remote,
  });
}

function mismatch(): StewardError {
  return logicalError("invalid role or secret ID", { rule: "login" });
}
