import { describe, expect, it } from "vitest";
import { StewardError } from "../../../src/kernel/base/errors.ts";
import { createLog } from "../../../src/kernel/base/log.ts";
import type { Scope } from "../../../src/kernel/telemetry/types.ts";
import { createAnnotator, noAnnotations } from "../../../src/monitor/annotations/annotator.ts";
import type { Mark } from "../../../src/monitor/annotations/rollup.ts";
import type { AnnotationEvent } from "../../../src/monitor/annotations/types.ts";
import type { SeenDigests } from "../../../src/monitor/checkpoints/types.ts";
import type { AnnotationOptions } from "../../../src/monitor/options.ts";
import { createManualClock } from "../../kernel/supervisor/manual-clock.ts";

const MINUTE_MS = 60_000;

const defaults: AnnotationOptions = {
  url: "http://127.0.0.1:1",
  token: { sentSecret: "t", origin: "test" },
  dashboardUid: "",
  timeoutMs: 1_000,
  maxPerMinute: 60,
  queueSize: 4,
  rollupIntervalMs: 5 * MINUTE_MS,
  dedupeRetentionMs: 48 * 60 * MINUTE_MS,
  extraTags: [],
  categories: {
    config_change: { enabled: true, rollup: true },
    expiry: { enabled: true, rollup: false },
  },
};

function setUp(changes: Partial<AnnotationOptions> = {}, remembered = new Map<string, number>()) {
  const clock = createManualClock();
  const written: Mark[] = [];
  const counted: string[] = [];
  let failure: Error | undefined;
  let hang = false;
  let open = true;
  const seen: SeenDigests = {
    has: (digest) => remembered.has(digest),
    add: (digests, untilMs) => {
      for (const digest of digests) remembered.set(digest, untilMs);
      return Promise.resolve();
    },
    get size() {
      return remembered.size;
    },
  };
  const scope = {
    add: (row: { name: string }, delta: number, attributes: object) =>
      void counted.push(`${row.name}${JSON.stringify(attributes)} ${delta}`),
    gauge: () => undefined,
  } as unknown as Scope;
  const annotator = createAnnotator(
    {
      clock,
      scope,
      seen,
      log: createLog({
        level: "error",
        format: "json",
        write: () => undefined,
        now: () => clock.now(),
      }),
      fence: { isOpen: () => open },
      backend: {
        write: (mark, signal) => {
          if (failure !== undefined) return Promise.reject(failure);
          if (hang)
            return new Promise((_, reject) =>
              signal.addEventListener("abort", () => reject(signal.reason as Error)),
            );
          written.push(mark);
          return Promise.resolve();
        },
        close: () => Promise.resolve(),
      },
    },
    { ...defaults, ...changes },
  );
  return {
    clock,
    written,
    counted,
    annotator,
    remembered,
    fail: (error: Error | undefined) => void (failure = error),
    hang: () => void (hang = true),
    close: () => void (open = false),
  };
}

const never = new AbortController().signal;

function event(
  identity: string,
  category: AnnotationEvent["category"] = "expiry",
): AnnotationEvent {
  return { category, timeMs: 1_000, text: `text of ${identity}`, tags: ["a"], identity };
}

describe("The publisher of annotations", () => {
  it("writes an event once, however often it is told, also after a restart", async () => {
    const first = setUp();
    await first.annotator.start(never, () => undefined);
    first.annotator.publish(event("key 1"));
    first.annotator.publish(event("key 1"));
    await first.clock.advance(MINUTE_MS);
    first.annotator.publish(event("key 1"));
    await first.clock.advance(MINUTE_MS);
    expect(first.written.map(({ text }) => text)).toEqual(["text of key 1"]);
    await first.annotator.stop(0);

    const second = setUp({}, first.remembered);
    await second.annotator.start(never, () => undefined);
    second.annotator.publish(event("key 1"));
    await second.clock.advance(MINUTE_MS);
    expect(second.written).toEqual([]);
    await second.annotator.stop(0);
  });

  it("rolls up what comes within the interval, and writes a single event in its own words", async () => {
    const { annotator, clock, written } = setUp();
    await annotator.start(never, () => undefined);
    for (const name of ["one", "two", "three"]) annotator.publish(event(name, "config_change"));
    await clock.advance(5 * MINUTE_MS - 1);
    expect(written).toEqual([]);
    await clock.advance(1);
    expect(written).toHaveLength(1);
    expect(written[0]?.text).toBe("3 events\n- text of one\n- text of two\n- text of three");
    annotator.publish(event("four", "config_change"));
    await clock.advance(5 * MINUTE_MS);
    expect(written[1]?.text).toBe("text of four");
    await annotator.stop(0);
  });

  it("keeps to the rate, and drops and counts what the queue does not hold", async () => {
    const { annotator, clock, written, counted } = setUp({ maxPerMinute: 2, queueSize: 4 });
    await annotator.start(never, () => undefined);
    for (let index = 0; index < 6; index++) annotator.publish(event(`key ${index}`));
    expect(counted).toEqual([
      'svc.annotation.dropped{"reason":"queue_full"} 1',
      'svc.annotation.dropped{"reason":"queue_full"} 1',
    ]);
    await clock.advance(0);
    expect(written).toHaveLength(2);
    await clock.advance(30_000);
    expect(written).toHaveLength(3);
    await annotator.stop(0);
    expect(counted.at(-1)).toBe('svc.annotation.dropped{"reason":"shutdown"} 1');
  });

  it("writes nothing once its fence is closed: another replica may write by then", async () => {
    const { annotator, clock, written, counted, remembered, close } = setUp();
    await annotator.start(never, () => undefined);
    annotator.publish(event("key 1"));
    close();
    await clock.advance(MINUTE_MS);
    expect([written, counted, remembered.size]).toEqual([
      [],
      ['svc.annotation.dropped{"reason":"shutdown"} 1'],
      0,
    ]);
    await annotator.stop(0);
  });

  it("drops what the server refuses, says so in its health, and recovers", async () => {
    const { annotator, clock, counted, fail, written } = setUp();
    await annotator.start(never, () => undefined);
    fail(new StewardError("upstream", "no"));
    annotator.publish(event("key 1"));
    await clock.advance(0);
    expect(counted).toEqual(['svc.annotation.dropped{"reason":"unavailable"} 1']);
    expect(annotator.health?.()).toEqual({ ok: false, reason: "annotations cannot be written" });
    fail(undefined);
    annotator.publish(event("key 1"));
    await clock.advance(1_000);
    expect(written).toHaveLength(1);
    expect(annotator.health?.()).toEqual({ ok: true });
    await annotator.stop(0);
  });

  it("leaves out categories that are off, and everything before its start", async () => {
    const { annotator, clock, written } = setUp({
      categories: {
        config_change: { enabled: true, rollup: false },
        expiry: { enabled: false, rollup: false },
      },
    });
    annotator.publish(event("early", "config_change"));
    await annotator.start(never, () => undefined);
    annotator.publish(event("key"));
    annotator.publish(event("start", "startup"));
    await clock.advance(1_000);
    expect(written.map(({ text }) => text)).toEqual(["text of start"]);
    await annotator.stop(0);
    noAnnotations.publish(event("x"));
  });

  it("stops while a write hangs", async () => {
    const { annotator, clock, hang, counted } = setUp();
    await annotator.start(never, () => undefined);
    hang();
    annotator.publish(event("key"));
    await clock.advance(0);
    await annotator.stop(0);
    expect(counted).toEqual(['svc.annotation.dropped{"reason":"shutdown"} 1']);
    await annotator.stop(0);
  });
});
