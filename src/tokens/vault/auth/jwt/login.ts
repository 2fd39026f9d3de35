/** `login`: exchanges an identity token of the issuer for a token with the role's policies. */
import type { JwtRoleRow } from "../../../../gen/steward/state/v1/tokens_auth_pb.ts";
import { JwtLoginFieldsSchema } from "../../../../gen/steward/tokens/v1/auth_fields_pb.ts";
import { definePath } from "../../../logical/define-path.ts";
import { logicalError } from "../../../logical/occurred.ts";
import type { LogicalResponse, Path, PathRequest } from "../../../logical/types.ts";
import { admits } from "../../cidrs.ts";
import type { RenewTerms } from "../../token-store/token-store.ts";
import type { TokenEntry } from "../../types.ts";
import { makeLoginToken } from "../token-terms.ts";
import { textAt } from "./claims.ts";
import { roleName, type JwtContext } from "./context.ts";
import { verifyToken, type Verified } from "./verify.ts";

/** Characters of a claim that becomes a name or metadata. */
const MAX_TEXT = 512;

export function loginPath(context: JwtContext): Path {
  return definePath({
    pattern: "login",
    fields: JwtLoginFieldsSchema,
    unknown: "warn",
    unauthenticated: true,
    provesCredential: true,
    synopsis: "Log in.",
    description: "A role, and an identity token that the issuer signed.",
    operations: { update: (request) => login(context, request) },
    proof: {
      subject: ({ fields }) => fields.text("role") || undefined,
      verify: (request) => verify(context, request),
    },
  });
}

/** Renewal terms that a role and the mount set for its tokens. Throws `invalid` when the role is gone. */
export async function renewalTerms(
  { storage, host }: JwtContext,
  entry: TokenEntry,
): Promise<RenewTerms> {
  const name = entry.meta?.["role"] ?? "";
  const row = await storage.role(name);
  if (row === undefined)
    throw logicalError(`role ${JSON.stringify(name)} does not exist during renewal`, {
      rule: "role",
    });
  const { ttlMs: usualMs, maxTtlMs, periodMs } = row;
  return { usualMs, maxTtlMs, periodMs, limits: host.limits() };
}

interface Proven {
  readonly name: string;
  readonly role: JwtRoleRow;
  readonly verified: Verified;
  readonly user: string;
}

async function login(context: JwtContext, request: PathRequest): Promise<LogicalResponse> {
  const { name, role, verified, user } = await verify(context, request);
  if (!role.reusable && !(await context.used.use(verified.identity, verified.endsAtMs)))
    throw alreadyUsed();
  return await makeLoginToken(context, {
    terms: role,
    mountId: context.storage.mountId,
    mountPoint: request.mountPoint,
    displayName: `jwt-${user}`,
    meta: { ...mapped(role, verified), role: name },
    remote: request.remote,
  });
}

/** Whether a login would succeed; uses nothing up. */
async function verify(context: JwtContext, { fields, remote }: PathRequest): Promise<Proven> {
  const { storage, keys, used, clock, expiry } = context;
  const config = await storage.config();
  if (config === undefined)
    throw logicalError("could not load configuration", {
      rule: "config",
      remedy: "write the mount's config",
    });
  const name = roleName(fields.text("role") || config.defaultRole);
  if (name === "") throw logicalError("missing role", { field: "role", rule: "required" });
  const role = await storage.role(name);
  if (role === undefined)
    throw logicalError(`role ${JSON.stringify(name.slice(0, 100))} could not be found`, {
      field: "role",
      rule: "role",
    });
  if (!admits(role.boundCidrs, remote?.address))
    throw logicalError("request originated from invalid CIDR", { rule: "token_bound_cidrs" });
  const jwt = (fields.text("jwt") ?? "").trim();
  // A clock that is set back makes no expired token valid again.
  const nowMs = Math.max(clock.now(), expiry.now());
  const verified = await verifyToken(keys, { config, role, jwt, nowMs });
  if (!role.reusable && used.isUsed(verified.identity, verified.endsAtMs)) throw alreadyUsed();
  const user = textAt(verified.claims, role.userClaim);
  if (user === undefined || user === "")
    throw logicalError(`claim ${JSON.stringify(role.userClaim)} not found in token`, {
      field: "jwt",
      rule: "user_claim",
    });
  return { name, role, verified, user: user.slice(0, MAX_TEXT) };
}

function mapped(role: JwtRoleRow, { claims }: Verified): Record<string, string> {
  return Object.fromEntries(
    Object.entries(role.claimMappings).flatMap(([claim, name]) => {
      const text = textAt(claims, claim);
      return text === undefined ? [] : [[name, text.slice(0, MAX_TEXT)] as const];
    }),
  );
}

function alreadyUsed() {
  return logicalError("error validating token: it has logged in before", {
    field: "jwt",
    rule: "single_use",
    remedy: "ask the issuer for a new one, or set single_use=false on the role",
  });
}
