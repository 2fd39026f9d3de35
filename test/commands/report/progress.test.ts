import { beforeEach, describe, expect, it } from "vitest";
import { createProgress, drawBar, type Progress } from "../../../src/commands/report/progress.ts";

let written: string[];
let nowMs: number;
const clock = {
  now: () => nowMs,
  monotonic: () => nowMs,
  timer: () => ({ [Symbol.dispose]: () => {} }),
};

beforeEach(() => {
  written = [];
  nowMs = 0;
});

function progress(columns: number | undefined, quiet = false): Progress {
  return createProgress({
    clock,
    quiet,
    columns: () => columns,
    write: (text) => written.push(text),
  });
}

describe("progress off a terminal", () => {
  it("is a line per 10 %, one at the beginning and one at the end", () => {
    const lines = progress(undefined);
    for (let done = 0; done <= 1000; done++) {
      nowMs = done;
      lines.update({
        phase: done < 500 ? "reading" : "comparing",
        fraction: done / 1000,
        documents: done,
      });
    }
    lines.end("done");
    expect(written).toHaveLength(11);
    expect(written[0]).toBe("  0 %  reading\n");
    expect(written[5]).toBe(" 50 %  comparing, 500 documents, 1,000 docs/s\n");
    expect(written[10]).toBe("100 %  done, 1,000 documents, 1,000 docs/s\n");
  });

  it("does not claim to be done when it was broken off", () => {
    const lines = progress(undefined);
    lines.update({ phase: "reading", fraction: 0.4, documents: 1 });
    lines.end("broken");
    expect(written).toHaveLength(1);
  });

  it("skips lines when the work is quick, and never goes back", () => {
    const lines = progress(undefined);
    lines.update({ phase: "a", fraction: 0.35, documents: 0 });
    lines.update({ phase: "b", fraction: 0.2, documents: 0 });
    lines.update({ phase: "b", fraction: 1, documents: 0 });
    lines.end("done");
    expect(written).toEqual([" 35 %  a\n", " 99 %  b\n", "100 %  done\n"]);
  });
});

describe("progress on a terminal", () => {
  it("is a bar that is drawn at most ten times a second and gone at the end", () => {
    const bar = progress(80);
    for (nowMs = 0; nowMs <= 1000; nowMs += 1)
      bar.update({ phase: "reading", fraction: nowMs / 1000, documents: nowMs });
    bar.end("done");
    expect(written).toHaveLength(12);
    expect(written[5]).toBe(
      "\r\u001b[K[############------------]  50 %  reading, 1,000 docs/s, 1.0 s left",
    );
    expect(written.at(-1)).toBe("\r\u001b[K");
  });

  it("shows a new phase at once and never goes back", () => {
    const bar = progress(80);
    bar.update({ phase: "reading", fraction: 0.5, documents: 0 });
    bar.update({ phase: "comparing", fraction: 0.1, documents: 0 });
    expect(written[1]).toContain(" 50 %  comparing");
  });

  it.each([1, 4, 8, 30, 40, 60, 80, 200])("leaves the last of %i columns free", (columns) => {
    expect(
      drawBar({ phase: "reading", fraction: 0.5, documents: 123_456 }, 90_000, columns).length,
    ).toBeLessThan(columns);
  });
});

describe("progress when quiet", () => {
  it("is nothing", () => {
    const silent = progress(80, true);
    silent.update({ phase: "reading", fraction: 0.5, documents: 1 });
    silent.end("done");
    expect(written).toEqual([]);
  });
});
