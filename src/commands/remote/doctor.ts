/** `steward doctor`: what is wrong with the daemon and its three services, and what helps. */
import type { GetAnalysisStatusResponse } from "../../gen/dedup-json.ts";
import type { StatusJson } from "../../gen/status-json.ts";
import { StewardError, toStewardError } from "../../kernel/base/errors.ts";
import { printable } from "../../kernel/base/text/printable.ts";
import { ENGINE_TYPE } from "../../tokens/engine/type.ts";
import type { CommandContext } from "../command.ts";
import { counted } from "../report/text.ts";
import type { DaemonRequest } from "./client.ts";
import type { RemoteArguments } from "./options.ts";
import { ifFound, runRemote, type RemoteSession } from "./run.ts";
import { UNREACHABLE } from "./target.ts";
import { encodedPath } from "./vault-path.ts";
import { vaultHeadersIfAny } from "./vault-token.ts";

/** One thing that was looked at. */
interface Check {
  readonly part: "process" | "monitor" | "dedup" | "tokens";
  readonly name: string;
  /** `unknown` is not a failure: it could not be looked at, or the service is off. */
  readonly state: "ok" | "failed" | "unknown";
  readonly detail: string;
  /** Empty when nothing needs to be done. */
  readonly remedy: string;
}

/** Exits 0 when nothing is wrong, 1 otherwise. */
export function doctor(options: RemoteArguments, context: CommandContext): Promise<number> {
  return runRemote(options, context, async (session) => {
    const vault = vaultHeadersIfAny(context.environment);
    const checks = [
      await ready(session),
      ...(await monitor(session)),
      ...(await dedup(session)),
      ...(await tokens(session, vault)),
    ];
    if (!session.printJson(checks)) for (const check of checks) print(check, session);
    return checks.some(({ state }) => state === "failed") ? 1 : 0;
  });
}

function print({ part, name, state, detail, remedy }: Check, session: RemoteSession): void {
  const { style } = session;
  const mark = { ok: style.good("ok"), failed: style.bad("FAILED"), unknown: style.quiet("-") }[
    state
  ];
  const width = "FAILED".length + mark.length - { ok: 2, failed: 6, unknown: 1 }[state];
  session.print(`${mark.padEnd(width)}  ${part.padEnd(7)}  ${name}: ${printable(detail)}`);
  if (remedy !== "")
    session.print(`${" ".repeat(8)}${" ".repeat(9)}${style.notice(printable(remedy))}`);
}

async function ready({ daemon, signal }: RemoteSession): Promise<Check> {
  return await checked("process", "readiness", async () => {
    await daemon.bytes({ path: "/readyz" }, signal);
    return "ready";
  });
}

async function monitor({ daemon, signal }: RemoteSession): Promise<Check[]> {
  const status = await ifFound(daemon.json<StatusJson>({ path: "/api/status.json" }, signal));
  if (status === undefined) return [off("monitor")];
  const problems = status.health_problems ?? [];
  const { active, failing } = status.fleet;
  const collectors = `${counted(active, "collector")}, ${failing} failing`;
  const checks: Check[] = problems.map(({ part, reason, remedy = "" }) => ({
    part: "monitor",
    name: part,
    state: "failed",
    detail: reason,
    remedy,
  }));
  if (checks.length === 0)
    checks.push({ part: "monitor", name: "health", state: "ok", detail: collectors, remedy: "" });
  for (const { key = "configuration", message } of status.advisories)
    checks.push({ part: "process", name: key, state: "unknown", detail: message, remedy: "" });
  return checks;
}

async function dedup(session: RemoteSession): Promise<Check[]> {
  const { daemon, signal } = session;
  const analysis = await ifFound(
    daemon.json<GetAnalysisStatusResponse>({ path: "/api/v1/analysis/status" }, signal),
  ).catch((error: unknown) => toStewardError(error));
  if (analysis === undefined) return [off("dedup")];
  if (analysis instanceof StewardError) return [failure("dedup", "service", analysis)];
  const { analysisStale, warnings, lastAnalysisAt } = analysis.data;
  return [
    await archive(session),
    {
      part: "dedup",
      name: "analysis",
      state: analysisStale ? "failed" : "ok",
      detail: analysisStale
        ? "the settings were changed after the last one"
        : lastAnalysisAt === null
          ? "none yet"
          : `the last one was at ${lastAnalysisAt}`,
      remedy: analysisStale ? "run an analysis: POST /api/v1/analysis, or /duplicates" : "",
    },
    ...warnings.map((detail): Check => ({
      part: "dedup",
      name: "settings",
      state: "unknown",
      detail,
      remedy: "",
    })),
  ];
}

async function archive({ daemon, signal }: RemoteSession): Promise<Check> {
  return await checked("dedup", "archive", async () => {
    try {
      const { data } = await daemon.json<{
        readonly data: { readonly archive: string; readonly documentCount: number };
      }>({ method: "POST", path: "/api/v1/config/test-connection" }, signal);
      return `${data.archive} has ${counted(data.documentCount, "document")}`;
    } catch (error) {
      // The only conflict of this call.
      if (error instanceof StewardError && error.code === "conflict") return undefined;
      throw error;
    }
  });
}

type Headers = Readonly<Record<string, string>> | undefined;

async function tokens(session: RemoteSession, headers: Headers): Promise<Check[]> {
  const seal = await ifFound(
    session.daemon.json<{ readonly sealed: boolean }>(
      { path: "/v1/sys/seal-status" },
      session.signal,
    ),
  ).catch((error: unknown) => toStewardError(error));
  if (seal === undefined) return [off("tokens")];
  if (seal instanceof StewardError) return [failure("tokens", "service", seal)];
  const sealed: Check = {
    part: "tokens",
    name: "seal",
    state: seal.sealed ? "failed" : "ok",
    detail: seal.sealed ? "sealed" : "unsealed",
    remedy: seal.sealed ? "see docs/runbooks/tokens-sealed.md" : "",
  };
  if (seal.sealed) return [sealed];
  if (headers === undefined)
    return [
      sealed,
      {
        part: "tokens",
        name: "apps",
        state: "unknown",
        detail: "not looked at without a Vault token",
        remedy: "set VAULT_TOKEN, or write the token to ~/.vault-token",
      },
    ];
  const examined = await Promise.all(
    (await mountsOf(session, headers)).map((mount) => examine(mount, session, headers)),
  );
  return [sealed, ...examined.flat()];
}

/** Mounts of the engine; the usual one for a token that may not list them. */
async function mountsOf(session: RemoteSession, headers: Headers): Promise<string[]> {
  try {
    const { data } = await vaultJson<{
      readonly data: Readonly<Record<string, { readonly type: string }>>;
    }>(session, { path: "/v1/sys/mounts" }, headers);
    return Object.entries(data).flatMap(([path, { type }]) =>
      type === ENGINE_TYPE ? [path.replace(/\/$/, "")] : [],
    );
  } catch (error) {
    if (error instanceof StewardError && error.code === "denied") return ["github"];
    throw error;
  }
}

interface Examination {
  readonly data: {
    readonly checks: readonly {
      readonly name: string;
      readonly ok: boolean;
      readonly detail: string;
      readonly remedy: string;
    }[];
  };
}

async function examine(mount: string, session: RemoteSession, headers: Headers): Promise<Check[]> {
  try {
    const { data } = await vaultJson<Examination>(
      session,
      { path: `/v1/${encodedPath(mount)}/doctor` },
      headers,
    );
    return data.checks.map(({ name, ok, detail, remedy }) => ({
      part: "tokens",
      name: `${mount} ${name}`,
      state: ok ? "ok" : "failed",
      detail,
      remedy,
    }));
  } catch (error) {
    session.signal.throwIfAborted();
    return [failure("tokens", mount, toStewardError(error))];
  }
}

function vaultJson<T>(
  { daemon, signal }: RemoteSession,
  request: DaemonRequest,
  headers: Headers,
): Promise<T> {
  return daemon.json<T>({ ...request, ...(headers === undefined ? {} : { headers }) }, signal);
}

/**
 * `look` resolves with undefined when nothing is configured. A daemon that does not answer is no
 * finding: the command fails with it.
 */
async function checked(
  part: Check["part"],
  name: string,
  look: () => Promise<string | undefined>,
): Promise<Check> {
  try {
    const detail = await look();
    return detail === undefined
      ? { part, name, state: "unknown", detail: "none configured", remedy: "" }
      : { part, name, state: "ok", detail, remedy: "" };
  } catch (error) {
    const known = toStewardError(error);
    if (known.rule === UNREACHABLE || known.code === "cancelled") throw error;
    return failure(part, name, known);
  }
}

function failure(part: Check["part"], name: string, { message, remedy = "" }: StewardError): Check {
  return {
    part,
    name,
    state: "failed",
    detail: message.replace("the daemon refuses: ", ""),
    remedy,
  };
}

function off(part: Check["part"]): Check {
  return { part, name: "service", state: "unknown", detail: "off", remedy: "" };
}
