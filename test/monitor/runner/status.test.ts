import { describe, expect, it } from "vitest";
import { StewardError } from "../../../src/kernel/base/errors.ts";
import { checkpointLag } from "../../../src/monitor/runner/checkpoint-lag.ts";
import { failureWord } from "../../../src/monitor/runner/failure-class.ts";
import {
  freshnessOf,
  isOverdue,
  nextRunInMs,
  staleAfterMs,
} from "../../../src/monitor/runner/freshness.ts";
import { RunHistory } from "../../../src/monitor/runner/run-history.ts";
import { nextWindow, reachedBy } from "../../../src/monitor/runner/windows.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

describe("freshness", () => {
  it("is ok up to two intervals, a warning up to five, stale after that, and none without a success", () => {
    expect(
      [undefined, 0, 120_000, 120_001, 300_000, 300_001].map((ageMs) =>
        freshnessOf(ageMs, MINUTE_MS),
      ),
    ).toEqual(["none", "ok", "ok", "warning", "warning", "stale"]);
    expect(freshnessOf(HOUR_MS, 0)).toBe("ok");
    expect(staleAfterMs(MINUTE_MS)).toBe(300_000);
  });

  it("tells a run that is overdue and when the next one is due", () => {
    expect([
      isOverdue(220_000, 100_000, MINUTE_MS),
      isOverdue(220_001, 100_000, MINUTE_MS),
      isOverdue(HOUR_MS, undefined, MINUTE_MS),
    ]).toEqual([false, true, false]);
    expect([
      nextRunInMs(110_000, 100_000, MINUTE_MS),
      nextRunInMs(HOUR_MS, 100_000, MINUTE_MS),
      nextRunInMs(5, undefined, MINUTE_MS),
    ]).toEqual([50_000, 0, 0]);
  });

  it("takes a mark for stuck when it lags three intervals more than it may and has not gained for as long", () => {
    const facts = { lagMs: 120_000, intervalMs: MINUTE_MS, sinceGainMs: 180_001 };
    expect(checkpointLag(400_000, 100_000, facts)).toEqual({
      markMs: 100_000,
      lagMs: 300_000,
      stuck: false,
    });
    expect(checkpointLag(400_001, 100_000, facts)?.stuck).toBe(true);
    expect(checkpointLag(400_001, 100_000, { ...facts, sinceGainMs: 180_000 })?.stuck).toBe(false);
    expect(checkpointLag(400_001, undefined, facts)).toBeUndefined();
  });
});

describe("the history of runs", () => {
  it("remembers the last 60 and counts all", () => {
    const history = new RunHistory();
    for (let run = 1; run <= 100; run += 1)
      history.add({
        startedMs: run,
        finishedMs: run + 1,
        tookMs: run,
        error: run > 97 ? "no" : undefined,
      });
    const totals = history.totals();
    expect(totals).toMatchObject({
      runs: 100,
      failures: 3,
      consecutiveFailures: 3,
      lastSuccessMs: 98,
      last: { error: "no" },
    });
    expect(totals.recent).toHaveLength(60);
    expect([totals.recent[0], totals.recent.at(-1)]).toEqual([
      { tookMs: 41, ok: true },
      { tookMs: 100, ok: false },
    ]);
    history.add({ startedMs: 1, finishedMs: 2, tookMs: 1, error: undefined });
    expect(history.totals().consecutiveFailures).toBe(0);
  });
});

describe("the word for a failure", () => {
  it.each([
    ["panic", new TypeError("x is not a function")],
    ["panic", "thrown"],
    ["panic", new StewardError("internal", "assertion failed")],
    ["timeout", new StewardError("deadline", "late")],
    [
      "timeout",
      new StewardError("upstream", "outer", { cause: new StewardError("deadline", "inner") }),
    ],
    ["error", new StewardError("upstream", "refused")],
    ["error", Object.assign(new Error("gone"), { code: "ECONNRESET" })],
  ] as const)("is %s for %s", (word, thrown) => {
    expect(failureWord(thrown)).toBe(word);
  });
});

describe("windows", () => {
  const rule = {
    lagMs: 120_000,
    initialLookbackMs: 300_000,
    maxWindowMs: HOUR_MS,
    overlapMs: 300_000,
  };
  const nowMs = 100 * HOUR_MS;

  it("begin at the lookback and are not read again in part before there is a mark", () => {
    expect(nextWindow(rule, nowMs, undefined)).toEqual({
      fromMs: nowMs - 420_000,
      toMs: nowMs - 120_000,
    });
  });

  it("go on at the mark, with the overlap before it", () => {
    expect(nextWindow(rule, nowMs, nowMs - 180_000)).toEqual({
      fromMs: nowMs - 480_000,
      toMs: nowMs - 120_000,
    });
  });

  it("are cut to the longest one before the overlap is added, and have no limit at 0", () => {
    const markMs = nowMs - 10 * HOUR_MS;
    expect(nextWindow(rule, nowMs, markMs)).toEqual({
      fromMs: markMs - 300_000,
      toMs: markMs + HOUR_MS,
    });
    expect(nextWindow({ ...rule, maxWindowMs: 0 }, nowMs, markMs)).toEqual({
      fromMs: markMs - 300_000,
      toMs: nowMs - 120_000,
    });
  });

  it("are left out while the mark is not behind the lag", () => {
    expect(nextWindow(rule, nowMs, nowMs - 120_000)).toBeUndefined();
    expect(nextWindow(rule, nowMs, nowMs)).toBeUndefined();
  });

  it("reach their end, or what the collector tells unless they overlap", () => {
    const window = { fromMs: 1, toMs: 9 };
    expect([
      reachedBy(rule, window, 5),
      reachedBy({ ...rule, overlapMs: 0 }, window, 5),
      reachedBy({ ...rule, overlapMs: 0 }, window, 0),
      reachedBy({ ...rule, overlapMs: 0 }, window, undefined),
    ]).toEqual([9, 5, 9, 9]);
  });
});
