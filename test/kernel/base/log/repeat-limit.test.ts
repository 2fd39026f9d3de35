import { describe, expect, it } from "vitest";
import { StewardError } from "../../../../src/kernel/base/errors.ts";
import { createLog } from "../../../../src/kernel/base/log.ts";
import type { LogLine, LogOptions, RootLog } from "../../../../src/kernel/base/log.ts";
import { RepeatLimit } from "../../../../src/kernel/base/log/repeat-limit.ts";
import { createManualClock } from "../../supervisor/manual-clock.ts";

const FIVE_MINUTES = 5 * 60_000;

function open(options: Partial<LogOptions> = {}): {
  log: RootLog;
  written: string[];
  pass: (ms: number) => Promise<void>;
} {
  const written: string[] = [];
  const clock = createManualClock();
  const log = createLog({
    level: "info",
    format: "text",
    write: (line) => void written.push(line.slice(25, -1)),
    now: () => clock.now(),
    ...options,
  });
  return { log, written, pass: (ms) => clock.advance(ms) };
}

describe("warnings and errors that are equal", () => {
  it.each(["warn", "error"] as const)(
    "are written once in five minutes, then with how many were left out (%s)",
    async (level) => {
      const { log, written, pass } = open();
      const archive = log.child("archive");
      for (let count = 0; count < 4; count++) archive[level]("is down", { tries: count });
      expect(written).toEqual([`${level.padEnd(5)} archive: is down tries=0`]);
      await pass(FIVE_MINUTES - 1_000);
      archive[level]("is down", { tries: 4 });
      expect(written.length).toBe(1);
      await pass(1_000);
      archive[level]("is down", { tries: 5 });
      archive[level]("is down", { tries: 6 });
      expect(written.slice(1)).toEqual([`${level.padEnd(5)} archive: is down tries=5 repeated=4`]);
      await pass(FIVE_MINUTES);
      archive[level]("is down");
      await pass(FIVE_MINUTES);
      archive[level]("is down");
      expect(written.slice(2)).toEqual([
        `${level.padEnd(5)} archive: is down repeated=1`,
        `${level.padEnd(5)} archive: is down`,
      ]);
    },
  );

  it("are heard by taps as they are written, in either format", async () => {
    const lines: string[] = [];
    const heard: LogLine[] = [];
    const { log, pass } = open({ format: "json", write: (line) => void lines.push(line) });
    log.warn("slow");
    log.warn("slow");
    log.tap((line) => void heard.push(line));
    log.warn("slow");
    await pass(FIVE_MINUTES);
    log.child("x", { a: 1 }).warn("other");
    log.warn("slow");
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { msg: "slow" },
      { component: "x", msg: "other" },
      { level: "warn", msg: "slow", repeated: 2 },
    ]);
    expect(heard.map(({ message, attributes }) => [message, attributes])).toEqual([
      ["other", { a: 1 }],
      ["slow", { repeated: 2 }],
    ]);
  });

  it("differ by component, level, words, what they are about, and the class of their error", () => {
    const { log, written } = open();
    for (let round = 0; round < 3; round++) {
      log.warn("failed");
      log.error("failed");
      log.warn("failed otherwise");
      log.child("a").warn("failed");
      log.child("b").warn("failed");
      log.child("b").warn("failed", { name: "one", request_id: `r-${round}` });
      log.child("b").warn("failed", { name: "two", request_id: `r-${round}` });
      log.warn("failed", { error: new StewardError("deadline", `took ${round} s`) });
      log.warn("failed", { error: new StewardError("upstream", `took ${round} s`) });
      log.warn("failed", { error: Object.assign(new Error(`${round}`), { code: "ECONNREFUSED" }) });
      log.warn("failed", { error: "text" });
    }
    expect(written.length).toBe(11);
  });

  it("do not hide another mistake of ours behind one of the same type", () => {
    const { log, written } = open();
    for (let round = 0; round < 3; round++) {
      log.error("request failed", { error: new TypeError(`here, ${round}`) });
      log.error("request failed", { error: new TypeError(`there, ${round}`) });
      log.error("request failed", { error: new StewardError("internal", `elsewhere, ${round}`) });
    }
    expect(written.length).toBe(3);
  });

  it("are all written by a log whose lines another one limits", () => {
    const { log, written } = open({ limitRepeats: false });
    log.warn("slow");
    log.warn("slow");
    expect(written.length).toBe(2);
  });
});

describe("lines that are not limited", () => {
  it("are those of information, and warnings of the configuration, each of which names its key", () => {
    const { log, written } = open();
    for (let count = 0; count < 3; count++) log.info("listening");
    for (let count = 0; count < 3_000; count++)
      log.warn(`WARN tokens.mounts[${count}].path: is named twice — rename one of them.`);
    expect(written.length).toBe(3_003);
  });
});

describe("what is remembered of lines", () => {
  it("is bounded: the line written longest ago is forgotten first", () => {
    const limit = new RepeatLimit(() => 0);
    const line = (count: number): number | undefined =>
      limit.admit({ level: "warn", msg: String(count) });
    for (let count = 0; count < 1_025; count++) line(count);
    expect([line(1), line(1_024)]).toEqual([undefined, undefined]);
    expect(line(0)).toBe(0);
    expect(line(1)).toBe(0);
  });

  it("limits nothing after the clock was put back", () => {
    let nowMs = 1_000_000;
    const limit = new RepeatLimit(() => nowMs);
    const line = { level: "error", msg: "x" };
    expect([limit.admit(line), limit.admit(line)]).toEqual([0, undefined]);
    nowMs = 0;
    expect(limit.admit(line)).toBe(1);
  });
});
