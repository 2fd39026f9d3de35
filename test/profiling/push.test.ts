import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { systemIds } from "../../src/kernel/base/ids.ts";
import { createLog } from "../../src/kernel/base/log.ts";
import { createHeapSampler } from "../../src/profiling/heap.ts";
import { createProfiler, type ProfilerOptions } from "../../src/profiling/push.ts";
import { testFolder } from "../kernel/listen/test-certificates.ts";
import { createManualClock } from "../kernel/supervisor/manual-clock.ts";
import { turnMill } from "./busy.ts";
import { decodeCompressed, totalOf } from "./decoded.ts";
import { startIngest, type Ingest } from "./ingest.ts";

const never = new AbortController().signal;
const RATE_MS = 60_000;

async function setUp(ingest: Ingest, options: Partial<ProfilerOptions> = {}) {
  const clock = createManualClock();
  const lines: string[] = [];
  const log = createLog({
    level: "info",
    format: "text",
    write: (line) => void lines.push(line),
    now: () => clock.now(),
  });
  const heap = createHeapSampler(clock);
  const scope = { add: () => undefined, gauge: () => undefined, record: () => undefined };
  const target = {
    server: ingest.url,
    application: "steward",
    tags: new Map([["region", "eu"]]),
    headers: { "x-token": "one" },
    tls: { insecureSkipVerify: false },
  };
  const profiler = createProfiler(
    { clock, ids: systemIds, log, version: "1.2.3", scope, heap },
    { target, uploadRateMs: RATE_MS, reload: undefined, ...options },
  );
  await heap.start(never, () => undefined);
  const until = async (holds: () => boolean): Promise<void> => {
    while (!holds()) await setImmediate();
  };
  const start = async (): Promise<void> => {
    await profiler.start(never, () => undefined);
    // The recording begun, it waits for its time to be over.
    await until(() => clock.timers() > (options.reload === undefined ? 0 : 1));
  };
  /** One round: its time passes, and everything it sends has ended. */
  const round = async (attempts: number, leftMs = RATE_MS): Promise<void> => {
    await clock.advance(leftMs);
    await until(() => profiler.status().attempts >= attempts);
  };
  const stop = async (): Promise<void> => {
    await profiler.stop(0);
    await heap.stop(0);
  };
  return { clock, lines, profiler, start, round, stop, until };
}

describe("The profiler", () => {
  it("sends what it recorded, CPU and heap, every so often, and counts", async () => {
    await using ingest = await startIngest();
    const { profiler, start, round, stop, clock } = await setUp(ingest);
    await start();
    const beganMs = clock.now();
    turnMill(200);
    await round(2);
    const [cpu, heap] = ingest.uploads
      .toSorted(
        (one, other) =>
          decodeCompressed(other.profile).types.length - decodeCompressed(one.profile).types.length,
      )
      .map(({ profile }) => decodeCompressed(profile));
    expect(cpu && totalOf(cpu, "turnMill", 1)).toBeGreaterThan(0);
    expect(heap?.types).toEqual(["inuse_space/bytes"]);
    expect(
      ingest.uploads.map(({ query }) => [query["name"], query["from"], query["until"]]),
    ).toEqual(
      Array.from({ length: 2 }, () => [
        "steward{region=eu}",
        String(Math.floor(beganMs / 1_000)),
        String(Math.floor((beganMs + RATE_MS) / 1_000)),
      ]),
    );
    await round(4);
    expect(profiler.status()).toMatchObject({
      attempts: 4,
      failures: 0,
      healthy: true,
      lastSuccessAtMs: clock.now(),
      lastErrorClass: undefined,
    });
    await stop();
  });

  it("goes on while nobody takes its profiles, is unwell meanwhile, and never shows what the server said", async () => {
    await using ingest = await startIngest();
    const { profiler, start, round, stop, lines } = await setUp(ingest);
    ingest.answer = (response) => void response.writeHead(401).end("canary");
    await start();
    await round(2);
    expect(profiler.status()).toMatchObject({
      attempts: 2,
      failures: 2,
      healthy: true,
      lastErrorClass: "unauthenticated",
    });
    await round(4);
    expect(profiler.status()).toMatchObject({ consecutiveFailures: 4, healthy: false });
    ingest.answer = (response) => void response.writeHead(200).end();
    await round(6);
    expect(profiler.status()).toMatchObject({ consecutiveFailures: 0, healthy: true, failures: 4 });
    expect(lines.join("")).toMatch(/uploading a profile failed.*unauthenticated/);
    expect(lines.join("")).not.toContain("canary");
    await stop();
  });

  it("has five uploads under way at most, and begins no more", async () => {
    await using ingest = await startIngest();
    const { clock, start, stop, until } = await setUp(ingest, { uploadRateMs: 1_000 });
    ingest.answer = () => undefined;
    await start();
    for (const arrived of [2, 4, 5]) {
      await clock.advance(1_000);
      await until(() => ingest.uploads.length === arrived);
      await until(() => clock.timers() > arrived);
    }
    await clock.advance(1_000);
    for (let turn = 0; turn < 50; turn++) await setImmediate();
    expect(ingest.uploads).toHaveLength(5);
    await stop();
  });

  it("stops at once while it records, while it sends, and twice; it may start again", async () => {
    await using ingest = await startIngest();
    const { profiler, clock, start, stop, lines, until } = await setUp(ingest);
    await start();
    await profiler.stop(0);
    await profiler.stop(0);
    await start();
    ingest.answer = () => undefined;
    await clock.advance(RATE_MS);
    await until(() => ingest.uploads.length === 2);
    await stop();
    expect([
      profiler.status().failures,
      profiler.status().lastErrorClass,
      lines,
      clock.timers(),
    ]).toEqual([2, "canceled", [], 0]);
  });

  it("takes other credentials from their files, and keeps the last good ones", async () => {
    await using ingest = await startIngest();
    const file = join(testFolder(), "token");
    writeFileSync(file, "one\n");
    const { start, round, stop, lines, clock, until } = await setUp(ingest, {
      reload: {
        everyMs: 20_000,
        caFile: undefined,
        certFile: undefined,
        keyFile: undefined,
        headerFiles: { "x-token": file },
        basic: undefined,
      },
    });
    await start();
    writeFileSync(file, "two\n");
    await clock.advance(20_000);
    await until(() =>
      lines.some((line) => line.includes("reloaded the credentials of the profiler")),
    );
    await until(() => clock.timers() > 1);
    writeFileSync(file, "");
    await clock.advance(20_000);
    await until(() => lines.some((line) => line.includes("cannot reload")));
    await round(2, RATE_MS - 40_000);
    expect(ingest.uploads.map(({ headers }) => headers["x-token"])).toEqual(["two", "two"]);
    await stop();
  });
});
