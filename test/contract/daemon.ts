/**
 * Starts the real launcher on ports and folders of its own, and calls it over HTTP.
 */
import type { ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setImmediate as nextTurn } from "node:timers/promises";
import { DAEMON, LAUNCHER, SOURCES_LAUNCHER } from "../support/launcher.ts";
import { spawn } from "../support/spawn.ts";

const root = join(import.meta.dirname, "../..");

/** A launcher that was started. */
export interface Daemon {
  readonly url: string;
  readonly host: string;
  readonly pid: number;
  /** Lines seen so far. */
  readonly stdout: string[];
  readonly stderr: string[];
  /** Sends a signal and waits for the end. */
  stop(signal?: NodeJS.Signals): Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

/** What to start with. `config` is written to a file of its own. */
export interface DaemonOptions {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly config?: string;
  readonly cwd?: string;
  /** By the launcher, as shipped: for what measures its memory or its time. */
  readonly launched?: true;
  /** From the sources, as a clone without a build. */
  readonly sources?: true;
}

/**
 * Only what a launcher needs: nothing of the developer's own settings reaches the test. All daemons
 * share one cache of compiled code, so that a start takes a fifth less.
 */
export const cleanEnvironment: Readonly<Record<string, string>> = {
  PATH: process.env["PATH"] ?? "",
  HOME: "/nonexistent",
  LANG: "C.UTF-8",
  NODE_COMPILE_CACHE: join(root, "node_modules/.cache/steward-test"),
};

const folders: string[] = [];

/** A folder that goes when the test file ends. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "steward-test-"));
  folders.push(folder);
  return folder;
}

/** Removes every folder of `temporaryFolder`. */
export function removeTemporaryFolders(): void {
  for (const folder of folders.splice(0))
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

/**
 * Resolves when what a process wrote before something that was just received from it is read too:
 * one turn of the event loop reads from all pipes and sockets, in any order.
 */
export async function readLines(): Promise<void> {
  await nextTurn();
}

/**
 * Starts the daemon and waits for its start line; rejects with everything it said when it ends
 * before that.
 */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  const args = [...(options.args ?? [])];
  if (options.config !== undefined) {
    const file = join(temporaryFolder(), "steward.yaml");
    writeFileSync(file, options.config);
    args.push("-config", file);
  }
  const [program, ...first] = programOf(options);
  const child = spawn(program, [...first, ...args], {
    env: { ...cleanEnvironment, ...options.env },
    cwd: options.cwd ?? tmpdir(),
    stdio: ["ignore", "pipe", "pipe"],
  });
  return await watchStart(child);
}

function programOf({ launched, sources }: DaemonOptions): typeof DAEMON {
  if (sources) return [SOURCES_LAUNCHER];
  return launched ? [LAUNCHER] : DAEMON;
}

/**
 * Waits for the start line of a process that runs the daemon; rejects with everything it said when
 * it ends before that.
 */
export async function watchStart(child: ChildProcess): Promise<Daemon> {
  const stdout: string[] = [];
  const stderr: string[] = [];
  const exited = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) =>
    child.on("close", (code, signal) => resolve({ code, signal })),
  );
  if (child.stderr) createInterface(child.stderr).on("line", (line) => stderr.push(line));
  const url = await new Promise<string>((resolve, reject) => {
    if (child.stdout) {
      createInterface(child.stdout).on("line", (line) => {
        stdout.push(line);
        const match = /^steward listening on (https?:\/\/\S+)$/.exec(line);
        if (match?.[1]) void readLines().then(() => resolve(match[1] as string));
      });
    }
    void exited.then(({ code }) =>
      reject(new Error(`ended with ${code} before it listened:\n${stderr.join("\n")}`)),
    );
  });
  const stop: Daemon["stop"] = async (signal = "SIGTERM") => {
    child.kill(signal);
    return await exited;
  };
  return { url, host: new URL(url).host, pid: child.pid ?? 0, stdout, stderr, stop, exited };
}

/** One run of a command to its end. */
export interface CommandResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the launcher with arguments and standard input to its end. */
export async function runSteward(
  args: readonly string[],
  options: {
    input?: string;
    env?: Readonly<Record<string, string>>;
    cwd?: string;
    sources?: true;
  } = {},
): Promise<CommandResult> {
  const child = spawn(options.sources ? SOURCES_LAUNCHER : LAUNCHER, args, {
    env: { ...cleanEnvironment, ...options.env },
    cwd: options.cwd ?? tmpdir(),
  });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  child.stdin.on("error", () => {});
  child.stdin.end(options.input ?? "");
  const code = await new Promise<number | null>((resolve) =>
    child.on("close", (value) => resolve(value)),
  );
  await readLines();
  return { code, stdout, stderr };
}

/**
 * Host and port of a listener by its name in the log, e.g. `metrics`: those that it opened last.
 * Undefined until it listens.
 */
export function listenAddress(
  { stderr }: Pick<Daemon, "stderr">,
  name: string,
): string | undefined {
  const opened = new RegExp(`listening.*name=${name}.*address=(\\S+)`);
  return stderr.map((line) => opened.exec(line)?.[1]).findLast((found) => found !== undefined);
}

/** Its port alone; NaN until it listens. */
export function listenPort(daemon: Pick<Daemon, "stderr">, name: string): number {
  return Number(listenAddress(daemon, name)?.split(":").at(-1));
}

/** The exposition of the pull endpoint, with no credential. */
export async function scrape(
  daemon: Pick<Daemon, "stderr">,
  headers: Readonly<Record<string, string>> = {},
): Promise<string> {
  const address = listenAddress(daemon, "metrics");
  return await (await fetch(`http://${address}/metrics`, { headers })).text();
}

/** A metric without labels on the pull endpoint; NaN when it is not there. */
export async function scrapeValue(daemon: Pick<Daemon, "stderr">, name: string): Promise<number> {
  return Number(new RegExp(`^${name} (\\S+)$`, "m").exec(await scrape(daemon))?.[1] ?? Number.NaN);
}

/** A REST answer with its parsed body. */
export interface Rest {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly json: any;
}

/** One REST call. A body that is no string is sent as JSON. */
export async function rest(
  daemon: Pick<Daemon, "url">,
  method: string,
  path: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Rest> {
  const init: RequestInit = {
    method,
    headers: body === undefined ? headers : { "content-type": "application/json", ...headers },
  };
  if (body !== undefined) init.body = typeof body === "string" ? body : JSON.stringify(body);
  const answer = await fetch(daemon.url + path, init);
  const text = await answer.text();
  await readLines();
  return {
    status: answer.status,
    headers: answer.headers,
    text,
    json: /json/.test(answer.headers.get("content-type") ?? "") ? JSON.parse(text) : undefined,
  };
}

/** Starts a job by POST and waits on its event stream until it has ended; returns the job. */
export async function runJob(
  daemon: Pick<Daemon, "url">,
  path: string,
  body?: unknown,
): Promise<any> {
  const started = await rest(daemon, "POST", path, body);
  if (started.status !== 202) throw new Error(`POST ${path}: ${started.status} ${started.text}`);
  return await jobEnd(daemon, started.json.data.jobId as string);
}

/** Waits on the event stream of a job until it has ended; returns the job. */
export async function jobEnd(daemon: Pick<Daemon, "url">, id: string): Promise<any> {
  await (await fetch(`${daemon.url}/api/v1/jobs/${id}/progress`)).text();
  const { status, json, text } = await rest(daemon, "GET", `/api/v1/jobs/${id}`);
  if (status !== 200) throw new Error(`job ${id}: ${status} ${text}`);
  return json.data;
}

/** Waits for the analyses that were begun so far: the end of a sync begins one. */
export async function analysesEnd(daemon: Pick<Daemon, "url">): Promise<void> {
  const { json } = await rest(daemon, "GET", "/api/v1/jobs?type=analysis");
  for (const { id } of json.data) await jobEnd(daemon, id as string);
}
