import type { ChildProcess } from "node:child_process";
import { randomInt } from "node:crypto";
import { writeFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { writeDemoArchive } from "../support/demo-archive.ts";
import { folderConfig } from "../contract/corpus.ts";
import {
  cleanEnvironment,
  type Daemon,
  jobEnd,
  removeTemporaryFolders,
  rest,
  runJob,
  startDaemon,
  temporaryFolder,
} from "../contract/daemon.ts";
import { median } from "../soak/statistics.ts";
import { LAUNCHER } from "../support/launcher.ts";
import { spawn } from "../support/spawn.ts";
import { isLongRun } from "../support/long-run.ts";

const STOPS = isLongRun ? 100 : 3;
const STARTS = isLongRun ? 50 : 4;
/**
 * Requests in flight finish within this time; of several stops the median keeps it, since a busy
 * machine may hold up one.
 */
const DEADLINE_MS = 10_000;
/** When the daemon ends whatever is still under way. */
const LATEST_MS = 30_000;
/**
 * A second signal waits for nothing but the change that is being stored (2 s at most), and the end
 * of the process itself.
 */
const AT_ONCE_MS = 15_000;
const READERS = 4;
const verdicts = ["ignored", "false_positive", "pending"] as const;

let archive: string;

beforeAll(async () => {
  archive = join(temporaryFolder(), "archive");
  await writeDemoArchive(archive, { seed: 11 });
});

afterAll(removeTemporaryFolders);

/** What was answered before the stop, and what went wrong with an answer that had begun. */
interface Load {
  readonly verdicts: Map<string, string>;
  readonly jobs: Set<string>;
  readonly broken: string[];
  reads: number;
  stopping: boolean;
  /** Resolves when all parts have ended. */
  readonly over: Promise<unknown>;
}

/**
 * Asks for ever until the daemon is gone. An answer that has begun must come whole; a connection
 * may be refused or closed before it.
 */
async function ask(
  daemon: Daemon,
  load: Load,
  method: string,
  path: string,
  body?: unknown,
): Promise<{ status: number; json: any } | undefined> {
  let answer: Response;
  try {
    answer = await fetch(daemon.url + path, {
      method,
      ...(body === undefined
        ? {}
        : { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
    });
  } catch (error) {
    if (!load.stopping) load.broken.push(`${method} ${path}: ${String(error)} before the stop`);
    return undefined;
  }
  try {
    return { status: answer.status, json: await answer.json() };
  } catch (error) {
    load.broken.push(`${method} ${path}: ${answer.status} was cut: ${String(error)}`);
    return undefined;
  }
}

async function read(daemon: Daemon, load: Load): Promise<void> {
  for (let turn = 0; ; turn += 1) {
    const path =
      [
        "/api/v1/documents?limit=100",
        "/api/v1/duplicates?limit=20",
        "/api/v1/jobs",
        "/api/v1/sync/status",
      ][turn % 4] ?? "";
    const answer = await ask(daemon, load, "GET", path);
    if (answer === undefined) return;
    if (answer.status === 200) load.reads += 1;
    else if (!load.stopping) load.broken.push(`GET ${path}: ${answer.status}`);
  }
}

async function decide(daemon: Daemon, load: Load, groups: readonly string[]): Promise<void> {
  for (let turn = 0; ; turn += 1) {
    const id = groups[randomInt(groups.length)] ?? "";
    const status = verdicts[turn % verdicts.length] ?? "pending";
    const before = load.verdicts.get(id);
    load.verdicts.delete(id);
    const answer = await ask(daemon, load, "PUT", `/api/v1/duplicates/${id}/status`, { status });
    if (answer === undefined) return;
    if (answer.status === 200) load.verdicts.set(id, status);
    else if (before !== undefined) load.verdicts.set(id, before);
  }
}

/**
 * Starts jobs one after the other and follows each on its event stream, which must end whole
 * whenever it ends.
 */
async function work(
  daemon: Daemon,
  load: Load,
  kind: "sync" | "analysis",
  seen: () => void,
): Promise<void> {
  for (;;) {
    const started = await ask(daemon, load, "POST", `/api/v1/${kind}`, { force: true });
    if (started === undefined) return;
    if (started.status !== 202) continue;
    const id = started.json.data.jobId as string;
    load.jobs.add(id);
    const stream = await fetch(`${daemon.url}/api/v1/jobs/${id}/progress`).catch(() => undefined);
    if (stream?.body === undefined || stream.body === null) return;
    try {
      for await (const _ of stream.body) seen();
    } catch (error) {
      load.broken.push(`the event stream of ${id} was cut: ${String(error)}`);
    }
  }
}

/** Everything at once. `underWay` resolves once both jobs have reported on their streams. */
function loadDaemon(
  daemon: Daemon,
  groups: readonly string[],
  kind: "sync" | "analysis",
): { load: Load; underWay: Promise<void> } {
  const { promise: underWay, resolve } = Promise.withResolvers<void>();
  const load: Omit<Load, "over"> & { over?: Promise<unknown> } = {
    verdicts: new Map(),
    jobs: new Set(),
    broken: [],
    reads: 0,
    stopping: false,
  };
  const whole = load as Load;
  let frames = 0;
  const enough = randomInt(2, 6);
  const seen = (): void => {
    frames += 1;
    if (frames >= enough && load.reads > 0) resolve();
  };
  load.over = Promise.all([
    ...Array.from({ length: READERS }, () => read(daemon, whole)),
    decide(daemon, whole, groups),
    work(daemon, whole, kind, seen),
  ]);
  return { load: whole, underWay };
}

async function groupIds(daemon: Daemon): Promise<string[]> {
  return (
    (
      await rest(
        daemon,
        "GET",
        "/api/v1/duplicates?limit=100&status=pending,ignored,false_positive",
      )
    ).json.data as { id: string }[]
  ).map(({ id }) => id);
}

describe("SIGTERM under load", () => {
  it(
    `${STOPS} times ends with 0 in time, answers what it has begun and loses nothing it acknowledged`,
    { timeout: 900_000 },
    async () => {
      const config = folderConfig(temporaryFolder(), archive);
      let daemon = await startDaemon({ config });
      expect((await runJob(daemon, "/api/v1/sync", { force: true })).status).toBe("completed");
      const chained = (await rest(daemon, "GET", "/api/v1/analysis/status")).json.data
        .currentJobId as string | null;
      if (chained !== null) await jobEnd(daemon, chained);
      const groups = await groupIds(daemon);
      const documents = (await rest(daemon, "GET", "/api/v1/documents")).json.meta.total as number;
      expect(groups.length).toBeGreaterThan(10);
      const tookMs: number[] = [];
      for (let stop = 0; stop < STOPS; stop += 1) {
        const { load, underWay } = loadDaemon(daemon, groups, stop % 2 === 0 ? "analysis" : "sync");
        await underWay;
        load.stopping = true;
        const began = performance.now();
        expect(await daemon.stop()).toEqual({ code: 0, signal: null });
        tookMs.push(performance.now() - began);
        expect(tookMs.at(-1)).toBeLessThan(LATEST_MS);
        await load.over;
        expect(load.broken).toEqual([]);
        daemon = await startDaemon({ config });
        for (const id of load.jobs)
          expect(await jobEnd(daemon, id)).toMatchObject({
            status: "completed",
            errorMessage: null,
          });
        for (const [id, status] of load.verdicts)
          expect([
            id,
            (await rest(daemon, "GET", `/api/v1/duplicates/${id}?light=true`)).json.data?.status,
          ]).toEqual([id, status]);
        expect((await rest(daemon, "GET", "/api/v1/documents")).json.meta.total).toBe(documents);
      }
      expect(median(tookMs)).toBeLessThan(DEADLINE_MS);
      expect((await rest(daemon, "GET", "/readyz")).status).toBe(200);
      expect(await daemon.stop()).toEqual({ code: 0, signal: null });
    },
  );
});

/** A request whose body is half there: it keeps a stop waiting, as any client may. */
async function halfRequest(daemon: Daemon): Promise<{ socket: Socket; answer: Promise<string> }> {
  const { hostname, port } = new URL(daemon.url);
  const socket = connect(Number(port), hostname);
  let text = "";
  socket
    .setEncoding("latin1")
    .on("data", (chunk: string) => (text += chunk))
    .on("error", () => {});
  const answer = new Promise<string>((resolve) => socket.once("close", () => resolve(text)));
  socket.write(
    "POST /api/v1/sync HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 14\r\nExpect: 100-continue\r\n\r\n",
  );
  await new Promise((resolve) => socket.once("data", resolve)); // 100 Continue: the request is being answered
  socket.write('{"force"');
  return { socket, answer };
}

async function line(daemon: Daemon, pattern: RegExp): Promise<void> {
  await expect
    .poll(() => daemon.stderr.some((each) => pattern.test(each)), { interval: 5, timeout: 60_000 })
    .toBe(true);
}

describe("a stop that has to wait", () => {
  it("answers the request that has begun, then ends with 0", async () => {
    const daemon = await startDaemon({ config: folderConfig(temporaryFolder(), archive) });
    const { socket, answer } = await halfRequest(daemon);
    const stopped = daemon.stop();
    await line(daemon, /stopping/);
    socket.write(":true}");
    expect(await answer).toMatch(/HTTP\/1\.1 202 Accepted[\s\S]*"jobId"/);
    expect(await stopped).toEqual({ code: 0, signal: null });
  });

  // Killed and failed when the process does not end by itself.
  it("ends at once, with 0, at the second signal", async () => {
    for (const second of ["SIGTERM", "SIGINT"] as const) {
      const daemon = await startDaemon({ config: folderConfig(temporaryFolder(), archive) });
      const { answer } = await halfRequest(daemon);
      const stopped = daemon.stop();
      await line(daemon, /stopping/);
      expect(
        await Promise.race([
          stopped,
          answer,
          new Promise((resolve) => setTimeout(resolve, 200, "still waiting")),
        ]),
      ).toBe("still waiting");
      process.kill(daemon.pid, second);
      const hung = setTimeout(() => process.kill(daemon.pid, "SIGKILL"), AT_ONCE_MS);
      expect(await stopped).toEqual({ code: 0, signal: null });
      clearTimeout(hung);
    }
  });
});

/** Starts the launcher without waiting for it. */
function launch(config: string): {
  child: ChildProcess;
  lines: string[];
  exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
} {
  const file = join(temporaryFolder(), "steward.yaml");
  writeFileSync(file, `${config}logging:\n  level: debug\n`);
  const child = spawn(LAUNCHER, ["-config", file], {
    env: cleanEnvironment,
    cwd: tmpdir(),
    stdio: ["ignore", "pipe", "pipe"],
  });
  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    createInterface(stream).on("line", (text) => lines.push(text));
  return {
    child,
    lines,
    exited: new Promise((resolve) =>
      child.once("close", (code, signal) => resolve({ code, signal })),
    ),
  };
}

describe("SIGTERM while starting", () => {
  it("ends with 0 and without an error once the first part has started", async () => {
    const { child, lines, exited } = launch(folderConfig(temporaryFolder(), archive));
    await expect
      .poll(() => lines.some((each) => /component started name=pool/.test(each)), {
        interval: 1,
        timeout: 60_000,
      })
      .toBe(true);
    child.kill("SIGTERM");
    expect([await exited, lines.filter((each) => /error|steward:/i.test(each))]).toEqual([
      { code: 0, signal: null },
      [],
    ]);
  });

  it(`at any moment (${STARTS} times) ends soon and leaves a state that starts`, async () => {
    const config = folderConfig(temporaryFolder(), archive);
    const tookMs: number[] = [];
    for (let start = 0; start < STARTS; start += 1) {
      const { child, lines, exited } = launch(config);
      await new Promise((resolve) => setTimeout(resolve, randomInt(600)));
      const began = performance.now();
      child.kill("SIGTERM");
      const { code, signal } = await exited;
      tookMs.push(performance.now() - began);
      expect(tookMs.at(-1)).toBeLessThan(LATEST_MS);
      // Before Steward's first line nobody listens for signals, and the system ends the process.
      if (lines.length > 1) expect([code, signal, lines]).toEqual([0, null, lines]);
      else expect(code === 0 || signal === "SIGTERM").toBe(true);
    }
    expect(median(tookMs)).toBeLessThan(DEADLINE_MS);
    const daemon = await startDaemon({ config });
    expect((await rest(daemon, "GET", "/readyz")).status).toBe(200);
    expect(daemon.stderr.filter((each) => /not closed cleanly/.test(each))).toEqual([]);
    expect(await daemon.stop()).toEqual({ code: 0, signal: null });
  });
});
