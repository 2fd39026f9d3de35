import { readFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { folderConfig, writeFiles } from "../contract/corpus.ts";
import {
  type Daemon,
  jobEnd,
  removeTemporaryFolders,
  rest,
  startDaemon,
  temporaryFolder,
} from "../contract/daemon.ts";
import { isLongRun } from "../support/long-run.ts";

const LORIS = isLongRun ? 2_000 : 100;
const SLOW_READERS = isLongRun ? 24 : 8;
/** As the listener's limits say: time for a head, time for an answer that does not move. */
const HEADER_MS = 10_000;
const STALL_MS = 30_000;
/** What the machine may add to a limit. */
const GRACE_MS = 3_000;
const DRIP_MS = 500;
const PROBES = isLongRun ? 300 : 150;
/** For all heads that never end. */
const MEMORY_MIB = 64;
/**
 * For an answer that is not read: it is made whole and held, as rows, text and bytes, until it is
 * read or cut.
 */
const COPIES_HELD = 4;
const ASKED_EACH = 6;
/**
 * Others may wait this many times as long as before at most, or this long: a hiccup of a fast
 * baseline is no harm.
 */
const FACTOR = 2;
const HARMLESS_MS = 50;
/** A machine that is busy otherwise is slow in one round, slow clients are so in each. */
const ROUNDS = 3;

let daemon: Daemon;
/**
 * A document whose answer fills more than the buffers between daemon and client, and the size of
 * that answer.
 */
let largeId: number;
let answerMiB: number;

beforeAll(async () => {
  const folder = temporaryFolder();
  const words = Array.from({ length: 700_000 }, (_, at) => `word${(at * 7_919) % 50_000}`);
  writeFiles(folder, { "large.txt": words.join(" "), "small.txt": words.slice(0, 100).join(" ") });
  daemon = await startDaemon({ config: folderConfig(temporaryFolder(), folder), launched: true });
  const started = await rest(daemon, "POST", "/api/v1/sync", { force: true });
  await jobEnd(daemon, started.json.data.jobId as string);
  const documents = (await rest(daemon, "GET", "/api/v1/documents")).json.data as {
    id: number;
    title: string;
  }[];
  largeId = documents.find(({ title }) => title.includes("large"))?.id ?? 0;
  answerMiB = (await rest(daemon, "GET", `/api/v1/documents/${largeId}`)).text.length / 2 ** 20;
  expect(answerMiB).toBeGreaterThan(0.5);
});

afterAll(async () => {
  await daemon.stop();
  removeTemporaryFolders();
});

function raw(): Socket {
  const { hostname, port } = new URL(daemon.url);
  return connect(Number(port), hostname).on("error", () => {});
}

function residentMiB(): number {
  return (
    Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${daemon.pid}/status`, "utf8"))?.[1] ?? 0) /
    1_024
  );
}

/** A connection that sends its head a byte at a time and never ends it. */
interface Loris {
  readonly socket: Socket;
  /** When the connection stood: with very many, the system itself lets some wait. */
  openedAtMs: number;
  closedAtMs: number | undefined;
}

function openLoris(): Loris {
  const head = `GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\nX-Slow: ${"x".repeat(1_000)}`;
  const socket = raw();
  const loris: Loris = { socket, openedAtMs: performance.now(), closedAtMs: undefined };
  let sent = 0;
  const drip = setInterval(() => socket.write(head[sent++] ?? "x"), DRIP_MS);
  socket.once("connect", () => (loris.openedAtMs = performance.now()));
  socket.resume().once("close", () => {
    clearInterval(drip);
    loris.closedAtMs = performance.now();
  });
  return loris;
}

/** A client that asks for much and reads nothing. Resolves when its request is out. */
async function openSlowReader(path: string): Promise<Socket> {
  const socket = raw();
  await new Promise((resolve) => socket.once("connect", resolve));
  socket.pause();
  socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`.repeat(ASKED_EACH));
  return socket;
}

/**
 * How long well-behaved clients wait, in milliseconds; `agent` keeps their connection or opens one
 * for each.
 */
async function latencies(
  count: number,
  agent: Agent,
): Promise<{ p50: number; p99: number; failed: number }> {
  const times: number[] = [];
  let failed = 0;
  for (let probe = 0; probe < count; probe += 1) {
    const began = performance.now();
    const status = await new Promise<number>((resolve) => {
      const sent = request(`${daemon.url}/api/v1/sync/status`, { agent }, (answer) =>
        answer.resume().once("end", () => resolve(answer.statusCode ?? 0)),
      );
      sent.on("error", () => resolve(0)).end();
    });
    if (status === 200) times.push(performance.now() - began);
    else failed += 1;
  }
  times.sort((a, b) => a - b);
  const at = (share: number): number => times[Math.floor(times.length * share)] ?? Number.NaN;
  return { p50: at(0.5), p99: at(0.99), failed };
}

/** The round with the least p99; a failure in any counts. */
async function leastOf(agent: Agent): Promise<{ p50: number; p99: number; failed: number }> {
  const rounds = [];
  for (let round = 0; round < ROUNDS; round += 1) rounds.push(await latencies(PROBES, agent));
  const failed = rounds.reduce((sum, each) => sum + each.failed, 0);
  return { ...rounds.reduce((least, each) => (each.p99 < least.p99 ? each : least)), failed };
}

function say(text: string): void {
  if (isLongRun) process.stdout.write(`${text}\n`);
}

describe("slow clients", () => {
  it(`(${LORIS} that never end their heads, 2 × ${SLOW_READERS} that never read) are cut in time and harm nobody else`, async () => {
    const kept = new Agent({ keepAlive: true, maxSockets: 1 });
    const fresh = new Agent({ keepAlive: false });
    await warmUp(kept);
    const baseline = {
      kept: await latencies(PROBES, kept),
      fresh: await latencies(PROBES, fresh),
    };
    const memoryBefore = residentMiB();

    const { jobId } = (await rest(daemon, "POST", "/api/v1/sync", { force: true })).json.data as {
      jobId: string;
    };
    const watchers = await Promise.all(
      Array.from({ length: SLOW_READERS }, () => openSlowReader(`/api/v1/jobs/${jobId}/progress`)),
    );
    const readers = await Promise.all(
      Array.from({ length: SLOW_READERS }, () => openSlowReader(`/api/v1/documents/${largeId}`)),
    );
    const readersOpenedAtMs = performance.now();
    // The same requests as with the slow heads: what they leave on the heap is not the heads'.
    await leastOf(kept);
    await leastOf(fresh);
    const memoryOfReaders = residentMiB();
    const loris = Array.from({ length: LORIS }, openLoris);
    await new Promise((resolve) => setTimeout(resolve, 2 * DRIP_MS));
    const under = { kept: await leastOf(kept), fresh: await leastOf(fresh) };
    const memoryUnder = residentMiB();

    await expect
      .poll(() => loris.filter(({ closedAtMs }) => closedAtMs === undefined).length, {
        interval: 100,
        timeout: 2 * HEADER_MS + GRACE_MS,
      })
      .toBe(0);
    const longestMs = Math.max(
      ...loris.map(({ openedAtMs, closedAtMs = Infinity }) => closedAtMs - openedAtMs),
    );
    const after = await latencies(PROBES, fresh);
    say(
      `kept connection p50/p99: ${show(baseline.kept)} before, ${show(under.kept)} under; new connections: ${show(baseline.fresh)} before, ${show(under.fresh)} under, ${show(after)} after; ${under.fresh.failed} of ${ROUNDS * PROBES} new ones failed`,
    );
    say(
      `resident: ${memoryBefore.toFixed(0)} MiB before, ${memoryOfReaders.toFixed(0)} MiB with ${SLOW_READERS} × ${ASKED_EACH} answers of ${answerMiB.toFixed(1)} MiB unread, ${memoryUnder.toFixed(0)} MiB with the slow heads too; the last slow head was cut after ${longestMs.toFixed(0)} ms`,
    );

    expect(longestMs).toBeLessThan(2 * HEADER_MS + GRACE_MS);
    expect([under.kept.failed, after.failed]).toEqual([0, 0]);
    // Also with more slow heads than there are places: a new connection takes the place of the
    // oldest of them.
    expect(under.fresh.failed).toBe(0);
    expect(memoryUnder - memoryOfReaders).toBeLessThan(MEMORY_MIB);
    expect(memoryOfReaders - memoryBefore).toBeLessThan(
      MEMORY_MIB + COPIES_HELD * SLOW_READERS * ASKED_EACH * answerMiB,
    );
    // What a job has to say fits the system's buffers: a watcher that does not read it is an idle
    // connection, not a stalled one.
    if (isLongRun) await expectCut(readers, readersOpenedAtMs);
    // Times belong to a quiet machine.
    if (isLongRun) expectHarmless(baseline, under);
    for (const socket of [...readers, ...watchers]) socket.destroy();
    kept.destroy();
    fresh.destroy();
    expect((await rest(daemon, "GET", "/readyz")).status).toBe(200);
  });
});

/** The same work by clients that read: what it costs in memory is not the slow ones' doing. */
async function warmUp(agent: Agent): Promise<void> {
  await Promise.all(
    Array.from({ length: SLOW_READERS }, () => rest(daemon, "GET", `/api/v1/documents/${largeId}`)),
  );
  const started = await rest(daemon, "POST", "/api/v1/sync", { force: true });
  await jobEnd(daemon, started.json.data.jobId as string);
  await latencies(2 * PROBES, agent);
}

type Waits = Record<"kept" | "fresh", { readonly p99: number }>;

function expectHarmless(baseline: Waits, under: Waits): void {
  for (const kind of ["kept", "fresh"] as const)
    expect(under[kind].p99).toBeLessThan(Math.max(HARMLESS_MS, FACTOR * baseline[kind].p99));
}

function show({ p50, p99 }: { p50: number; p99: number }): string {
  return `${p50.toFixed(2)}/${p99.toFixed(2)} ms`;
}

/**
 * Node looks for progress once each stall time, so an answer that stops moving right after a look
 * is cut after two of them. A paused socket hears nothing of its end; the system's table tells how
 * many the daemon still holds.
 */
async function expectCut(readers: readonly Socket[], openedAtMs: number): Promise<void> {
  const ports = new Set(readers.map((socket) => socket.localPort));
  const open = (): number =>
    readFileSync("/proc/net/tcp", "utf8")
      .split("\n")
      .filter((line) => {
        const [, local = "", remote = "", state] = line.trim().split(/\s+/);
        const portOf = (address: string): number =>
          Number.parseInt(address.split(":")[1] ?? "", 16);
        return (
          state === "01" &&
          portOf(local) === Number(new URL(daemon.url).port) &&
          ports.has(portOf(remote))
        );
      }).length;
  await expect.poll(open, { interval: 500, timeout: 2 * STALL_MS + 2 * GRACE_MS }).toBe(0);
  const tookMs = performance.now() - openedAtMs;
  say(`the last reader that does not read was cut after ${tookMs.toFixed(0)} ms`);
  expect(tookMs).toBeLessThan(2 * STALL_MS + 2 * GRACE_MS);
}
