/** Diagnoses a configuration step by step, each finding with its remedy. Mints nothing. */
import { StewardError } from "../../kernel/base/errors.ts";
import { createSkew } from "../../kernel/client/http/skew.ts";
import { type RawNumber, numberText, parseExact } from "../logical/json.ts";
import type { EngineContext } from "./context.ts";
import { reaches } from "./permission-names.ts";
import { platformFailure } from "./platform/failures.ts";
import type { HttpReply } from "./platform/http.ts";
import { permissionsOf } from "./platform/installations.ts";
import { readPrivateKey } from "./private-key.ts";
import type { Session } from "./session.ts";
import type { Installation, Permissions } from "./types.ts";

export interface Check {
  readonly name:
    | "config"
    | "key"
    | "app"
    | "clock"
    | "installation"
    | "suspended"
    | "permissions"
    | "policies";
  readonly ok: boolean;
  readonly detail: string;
  /** Empty when no action is needed. */
  readonly remedy: string;
}

/** The JWT's dates tolerate a minute; half of it is reported. */
const MAX_SKEW_MS = 30_000;

/** Inputs besides the app itself. */
export interface Examined {
  readonly installationId: number;
  readonly orgName: string;
}

/** Runs the checks on the current configuration. */
export async function examine(
  context: EngineContext,
  mountPoint: string,
  examined: Examined,
  signal: AbortSignal,
): Promise<readonly Check[]> {
  const checks: Check[] = [];
  const session = await tried(
    checks,
    "config",
    `write app_id and prv_key to ${mountPoint}config`,
    () => context.sessions.current(mountPoint),
  );
  if (session === undefined) return checks;
  checks.push(
    good("config", `app ${session.config.appId} at ${session.config.baseUrl}`),
    keyCheck(session),
  );
  const reply = await readApp(context, session, checks, signal);
  if (reply === undefined) return checks;
  checks.push(clockCheck(context, reply));
  const installation = await findInstallation(session, examined, checks, signal);
  if (installation !== undefined)
    checks.push(
      suspendedCheck(installation),
      permissionsCheck(permissionsOf(bodyOf(reply)["permissions"]), installation),
    );
  return checks;
}

/**
 * Mistakes in policies about this mount; undefined where the host cannot tell. The mount works
 * regardless, so the check passes.
 */
export async function policiesCheck({ host }: EngineContext): Promise<Check | undefined> {
  const warnings = await host.warnings?.();
  if (warnings === undefined) return undefined;
  return {
    name: "policies",
    ok: true,
    detail:
      warnings.length === 0
        ? "no warnings"
        : `warnings about paths of this mount: ${warnings.length}`,
    remedy: warnings.join("; "),
  };
}

function keyCheck(session: Session): Check {
  const { bits, warnings } = readPrivateKey(session.config.privateKey);
  return { name: "key", ok: true, detail: `RSA, ${bits} bits, signs`, remedy: warnings.join("; ") };
}

async function readApp(
  context: EngineContext,
  session: Session,
  checks: Check[],
  signal: AbortSignal,
): Promise<HttpReply | undefined> {
  const { outcome } = await session.platform.get("app", signal);
  if (outcome.lost === undefined && outcome.status === 200) {
    const { slug, name, installations_count: count } = bodyOf(outcome);
    const called =
      typeof slug === "string" ? slug : typeof name === "string" ? name : "without a name";
    checks.push(
      good(
        "app",
        `${called.slice(0, 100)}${typeof count === "number" ? `, installed ${count === 1 ? "once" : `${count} times`}` : ""}`,
      ),
    );
    return outcome;
  }
  const { message } = platformFailure(
    { failed: "unable to read the app", subject: "app of this id" },
    outcome,
    context.host.clock.now(),
  );
  checks.push({
    name: "app",
    ok: false,
    detail: message,
    remedy: "check app_id, prv_key, base_url and the network",
  });
  return undefined;
}

function clockCheck(context: EngineContext, reply: HttpReply): Check {
  const skew = createSkew(context.host.clock);
  skew.sample(reply.headers["date"], reply.sentAtMs);
  const skewMs = skew.skewMs();
  const detail =
    reply.headers["date"] === undefined
      ? "the platform did not say its time"
      : `${Math.abs(Math.round(skewMs / 1_000))} s ${skewMs > 0 ? "behind" : "ahead of"} the platform's`;
  return {
    name: "clock",
    ok: Math.abs(skewMs) <= MAX_SKEW_MS,
    detail,
    remedy:
      Math.abs(skewMs) <= MAX_SKEW_MS
        ? ""
        : "correct this machine's clock; JWTs are corrected meanwhile, but leases expire by this clock",
  };
}

async function findInstallation(
  session: Session,
  { installationId, orgName }: Examined,
  checks: Check[],
  signal: AbortSignal,
): Promise<Installation | undefined> {
  if (installationId === 0 && orgName === "") return undefined;
  const found = await tried(
    checks,
    "installation",
    "install the app there, or read installations for those it has",
    async () => {
      const id: number | RawNumber =
        installationId === 0
          ? (await session.installations.find(orgName, signal)).id
          : installationId;
      return session.installations.read(id, signal);
    },
  );
  if (found !== undefined)
    checks.push(
      good(
        "installation",
        `${numberText(found.id) ?? ""} in ${found.login === "" ? "an account without a name" : found.login}`,
      ),
    );
  return found;
}

function suspendedCheck({ suspended, login }: Installation): Check {
  if (!suspended) return good("suspended", "it is not");
  return {
    name: "suspended",
    ok: false,
    detail: "the installation is suspended",
    remedy: `an owner of ${login} can unsuspend it in the installation's settings`,
  };
}

function permissionsCheck(wanted: Permissions, { permissions, login }: Installation): Check {
  const missing = Object.entries(wanted)
    .filter(
      ([name, level]) =>
        !reaches(Object.hasOwn(permissions, name) ? permissions[name] : undefined, level),
    )
    .map(([name, level]) => `${name}=${level}`);
  if (missing.length === 0)
    return good(
      "permissions",
      Object.entries(permissions)
        .map(([name, level]) => `${name}=${level}`)
        .join(", ") || "none",
    );
  return {
    name: "permissions",
    ok: false,
    detail: `not accepted: ${missing.join(", ")}`,
    remedy: `an owner of ${login} can accept the app's new permissions in the installation's settings`,
  };
}

async function tried<T>(
  checks: Check[],
  name: Check["name"],
  remedy: string,
  work: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof StewardError) || error.code === "cancelled") throw error;
    checks.push({ name, ok: false, detail: error.message.trim(), remedy });
    return undefined;
  }
}

function good(name: Check["name"], detail: string): Check {
  return { name, ok: true, detail, remedy: "" };
}

function bodyOf(reply: HttpReply): Readonly<Record<string, unknown>> {
  try {
    const value = parseExact(reply.body);
    return typeof value === "object" && value !== null
      ? (value as Readonly<Record<string, unknown>>)
      : {};
  } catch {
    return {};
  }
}
