import { describe, expect, it } from "vitest";
import { judge, type Row, type SoakResult } from "./verdict.ts";

/** An hour of rows, ten seconds apart. */
function rows(of: (minute: number) => Partial<Row>): Row[] {
  return Array.from({ length: 360 }, (_, at) => ({
    atMs: at * 10_000,
    residentMiB: 300 + (at % 7),
    anonymousMiB: 230,
    fileMiB: 70,
    sharedMiB: 0,
    threads: 14,
    descriptors: 70 + (at % 9),
    cpuSeconds: at * 2,
    resting: at % 18 === 17,
    dataMiB: 200,
    codeMiB: 30,
    ...of(at / 6),
  }));
}

const sound: SoakResult = {
  rows: rows(() => ({})),
  outcomes: [{ name: "reads", succeeded: 1_000, failed: 5, reason: "reset" }],
  errors: [],
  ready: 200,
  exit: 0,
};

function missed(change: Partial<SoakResult>): string[] {
  return judge({ ...sound, ...change })
    .filter(({ passed }) => !passed)
    .map(({ name }) => name);
}

describe("the verdict of a soak", () => {
  it("passes a daemon that is flat and does its work", () => {
    expect(missed({})).toEqual([]);
  });

  it("names each bar that is missed", () => {
    expect(missed({ rows: rows((minute) => ({ residentMiB: 300 + minute / 20 })) })).toEqual([
      "resident memory at rest",
    ]);
    expect(missed({ rows: rows((minute) => ({ dataMiB: 200 + minute / 50 })) })).toEqual([
      "objects and buffers at rest",
    ]);
    expect(
      missed({ rows: rows((minute) => ({ descriptors: 70 + Math.floor(minute / 4) })) }),
    ).toEqual(["descriptors, last quarter"]);
    expect(missed({ rows: rows((minute) => ({ threads: minute < 45 ? 14 : 15 })) })).toEqual([
      "threads, last quarter",
    ]);
    expect(
      missed({
        outcomes: [
          { name: "reads", succeeded: 97, failed: 3, reason: "503" },
          { name: "pages", succeeded: 0, failed: 0, reason: "" },
        ],
      }),
    ).toEqual(["reads", "pages"]);
    expect(missed({ errors: ["error x"], ready: 503, exit: "SIGKILL" })).toEqual([
      "errors in the log",
      "ready at the end",
      "stops cleanly",
    ]);
  });

  it("holds nothing against a daemon that chance explains", () => {
    expect(
      missed({
        rows: rows((minute) => ({ residentMiB: 300 + 4 * Math.sin(minute * 7.1) + minute / 60 })),
      }),
    ).toEqual([]);
    expect(
      missed({
        rows: rows((minute) => ({ residentMiB: 300 + 4 * Math.sin(minute * 7.1) + minute })),
      }),
    ).toEqual(["resident memory at rest"]);
  });

  it("does not judge growth before caches are full, nor a soak of which there is nothing", () => {
    expect(
      missed({ rows: rows((minute) => ({ residentMiB: 300 + Math.min(minute, 29) })) }),
    ).toEqual([]);
    expect(missed({ rows: [] })).toEqual([
      "resident memory at rest",
      "objects and buffers at rest",
      "descriptors, last quarter",
      "threads, last quarter",
    ]);
  });
});
