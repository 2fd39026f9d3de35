/**
 * Mints one token. Once the request is sent, a disconnecting caller no longer cancels it: a token
 * whose response is read can be leased and revoked, an unread one is an orphan for an hour.
 *
 * admit → session → installation → effect.begin → POST → expiry, ceiling → response and lease
 */
import { StewardError } from "../../kernel/base/errors.ts";
import { type RawNumber, numberText } from "../logical/json.ts";
import type { LogicalRequest, LogicalResponse, SecretGrant } from "../logical/types.ts";
import { answerOf, expiryOf, readMinted } from "./answer.ts";
import { IN_FLIGHT, type EngineContext } from "./context.ts";
import { invalidAnswer, isGone, hasCreatedNothing, platformFailure } from "./platform/failures.ts";
import type { HttpLost, HttpReply } from "./platform/http.ts";
import { revokeToken } from "./platform/revocation.ts";
import { aboutScope, bodyOf, grantAboveCeiling, grantWarnings, scopeWarnings } from "./scope.ts";
import type { Session } from "./session.ts";
import type { FreshToken, Scope } from "./types.ts";

/** Secret type; the same as the original plugin's, so its leases are recognised. */
export const SECRET_TYPE = "github_token";

const FAILED = "unable to create access token";

/** Calls the platform for a validated scope. Throws StewardError with the platform's cause. */
export async function mintFresh(
  context: EngineContext,
  session: Session,
  request: LogicalRequest,
  scope: Scope,
): Promise<FreshToken> {
  using _slot = context.inFlight.enter();
  const startedMs = context.host.clock.monotonic();
  const seen = {
    id: scope.installationId === 0 ? "" : String(scope.installationId),
    success: false,
  };
  try {
    const made = await mintAt(session, request, scope, context, seen);
    const fresh = await checked(context, session, request, made);
    seen.success = true;
    return fresh;
  } finally {
    report(context, scope, { ...seen, startedMs });
  }
}

/**
 * Digits of the installation's id, before `mintFresh`. A failure ends the mint and is reported as
 * one of `mintFresh`.
 */
export async function findInstallation(
  context: EngineContext,
  session: Session,
  request: LogicalRequest,
  scope: Scope,
): Promise<string> {
  if (scope.installationId !== 0) return String(scope.installationId);
  const startedMs = context.host.clock.monotonic();
  try {
    const found = await session.installations.find(scope.orgName, request.signal, () =>
      context.inFlight.enter(),
    );
    return numberText(found.id) ?? "";
  } catch (error) {
    if (!(error instanceof StewardError) || error.rule !== IN_FLIGHT)
      report(context, scope, { id: "", success: false, startedMs });
    throw error;
  }
}

function report(
  { metrics, host }: EngineContext,
  scope: Scope,
  {
    id,
    success,
    startedMs,
  }: { readonly id: string; readonly success: boolean; readonly startedMs: number },
): void {
  metrics.minted({
    success,
    installationId: id,
    orgName: scope.orgName,
    permissions: Object.keys(scope.permissions).length > 0,
    repositories: scope.repositories.length > 0,
    repositoryIds: scope.repositoryIds.length > 0,
    seconds: (host.clock.monotonic() - startedMs) / 1_000,
  });
}

// A cached installation may have been replaced: one more attempt, since the refused request created
// nothing.
async function mintAt(
  session: Session,
  request: LogicalRequest,
  scope: Scope,
  context: EngineContext,
  seen: { id: string },
): Promise<Made> {
  for (let last = scope.installationId !== 0; ; last = true) {
    const found =
      scope.installationId === 0
        ? await session.installations.find(scope.orgName, request.signal)
        : { id: scope.installationId, remembered: false };
    const id = numberText(found.id) ?? "";
    seen.id = id;
    request.signal.throwIfAborted();
    request.effect?.begin({ ...aboutScope(scope), installation_id: found.id });
    const { outcome, token } = await session.platform.mint(
      `app/installations/${id}/access_tokens`,
      bodyOf(scope),
      { namesOnly: session.config.excludeRepositoryMetadata },
    );
    if (outcome.lost === undefined && outcome.status >= 200 && outcome.status < 300)
      return { id: found.id, reply: outcome, token };
    if (hasCreatedNothing(outcome)) request.effect?.none();
    const gone = isGone(outcome);
    if (gone && scope.installationId === 0) session.installations.forget(scope.orgName);
    if (gone && found.remembered && !last) continue;
    const failure = platformFailure(
      { failed: FAILED, subject: `installation ${id}`, hints: hintsFor(outcome, scope) },
      outcome,
      context.host.clock.now(),
    );
    throw outcome.lost === undefined
      ? failure
      : await withoutToken(context, session, request, failure, token());
  }
}

/** A response with a success status. */
interface Made {
  readonly id: number | RawNumber;
  readonly reply: HttpReply;
  readonly token: () => string | undefined;
}

function hintsFor(outcome: HttpReply | HttpLost, scope: Scope): readonly string[] {
  return outcome.lost === "too_large"
    ? ["name the repositories, or set exclude_repository_metadata"]
    : scopeWarnings(scope);
}

/** Revokes a token that must not be handed out, and throws. */
async function checked(
  context: EngineContext,
  session: Session,
  request: LogicalRequest,
  { id, reply, token }: Made,
): Promise<FreshToken> {
  const mintedAtMs = context.host.clock.now();
  const minted = readMinted(reply.body);
  if (minted === undefined)
    throw await withoutToken(
      context,
      session,
      request,
      invalidAnswer(
        { failed: "unable to decode access token response", subject: "" },
        "the response contains no token",
      ),
      token(),
    );
  const expiresAtMs = expiryOf(minted.data);
  const refuse = (what: string, rule: string): Promise<StewardError> =>
    unusable(context, session, request, { token: minted.token, what, rule });
  if (expiresAtMs === undefined) throw await refuse("without a time of expiry", "expires_at");
  if (expiresAtMs <= session.jwt.platformNowMs())
    throw await refuse("that is expired already", "expires_at");
  const above = grantAboveCeiling(minted.data, session.config.maxPermissions);
  if (above !== undefined) throw await refuse(above, "max_permissions");
  return { installationId: id, minted, mintedAtMs, expiresAtMs, bytes: reply.body.length };
}

/** The response with a token. Throws `not_ready` when it has expired meanwhile. */
export function leased(
  context: EngineContext,
  session: Session,
  scope: Scope,
  { token, share }: { readonly token: FreshToken; readonly share?: SecretGrant["share"] },
): LogicalResponse {
  const { minted, installationId, mintedAtMs, expiresAtMs } = token;
  const ttlMs = expiresAtMs - session.jwt.platformNowMs();
  if (ttlMs <= 0)
    throw new StewardError("not_ready", `${FAILED}: the token expired before it had a lease`);
  const data = answerOf(minted, {
    installationId,
    orgName: scope.orgName,
    excludeRepositoryMetadata: session.config.excludeRepositoryMetadata,
  });
  context.headroom?.note(session.base, numberText(installationId) ?? "", minted.token);
  const warnings = [...scopeWarnings(scope), ...grantWarnings(scope, minted.data)];
  const internalData = {
    secret_type: SECRET_TYPE,
    base_url: session.config.baseUrl,
    minted_at_ms: mintedAtMs,
  };
  return {
    data: share === undefined ? data : { ...data, reused: share.reused },
    secret: {
      ttlMs,
      renewable: false,
      internalData,
      ...(share === undefined ? {} : { share }),
    },
    ...(warnings.length === 0 ? {} : { warnings }),
  };
}

// Revokes at once a token that no lease can end, or that may do too much.
async function unusable(
  context: EngineContext,
  session: Session,
  request: LogicalRequest,
  { token, what, rule }: { readonly token: string; readonly what: string; readonly rule: string },
): Promise<StewardError> {
  const ended = await revokeNow(context, session, request, token);
  return new StewardError(
    "upstream",
    `${FAILED}: the platform answered with a token ${what}; it was ${ended ? "revoked at once" : "not leased and could not be revoked"}; ${rule === "expires_at" ? "check the platform's version and clock" : "check what base_url names: the platform grants at most what is requested"}`,
    { rule },
  );
}

/** Error for an unusable response, after revoking the token in it. */
async function withoutToken(
  context: EngineContext,
  session: Session,
  request: LogicalRequest,
  failure: StewardError,
  token: string | undefined,
): Promise<StewardError> {
  if (token === undefined) return failure;
  const ended = await revokeNow(context, session, request, token);
  const { code, rule, message } = failure;
  return new StewardError(
    code,
    `${message}; the token in it was ${ended ? "revoked at once" : "not leased and could not be revoked"}`,
    rule === undefined ? {} : { rule },
  );
}

/** Whether the token, just minted, is revoked. If not, its record stays as an orphan. */
async function revokeNow(
  context: EngineContext,
  session: Session,
  request: LogicalRequest,
  token: string,
): Promise<boolean> {
  const { over } = await revokeToken(context.platform, session.base, { token, ageMs: 0 });
  if (over) request.effect?.none();
  else
    context.host.log.error("revoking a token that cannot be leased failed", {
      request_id: request.id,
    });
  return over;
}
