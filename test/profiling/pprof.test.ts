import type { HeapProfiler, Profiler } from "node:inspector";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatCpuProfile, formatHeapProfile } from "../../src/profiling/pprof.ts";
import { decode, totalOf } from "./decoded.ts";

const recorded = { fromMs: 1_700_000_000_000, untilMs: 1_700_000_030_000 };
const frame = (
  functionName: string,
  url = "",
  lineNumber = -1,
): Profiler.ProfileNode["callFrame"] => ({
  functionName,
  scriptId: "1",
  url,
  lineNumber,
  columnNumber: 0,
});

/** root → a → b, and root → (idle). */
const nodes: Profiler.ProfileNode[] = [
  { id: 1, callFrame: frame("(root)"), children: [2, 4] },
  {
    id: 2,
    callFrame: frame("a", pathToFileURL(join(import.meta.dirname, "../../src/main.ts")).href, 9),
    children: [3],
  },
  { id: 3, callFrame: frame("", "node:internal/timers", 4) },
  { id: 4, callFrame: frame("(idle)") },
];

describe("A CPU profile in pprof", () => {
  it("has each stack once, with its samples, its time until the next sample, its place and its thread", () => {
    const profile: Profiler.Profile = {
      nodes,
      samples: [3, 4, 2, 3],
      timeDeltas: [500, 10_000, 20_000, 10_000],
      startTime: 0,
      endTime: 60_500,
    };
    const decoded = decode(
      formatCpuProfile(
        [
          { thread: "main", profile },
          { thread: "monitor", profile },
        ],
        recorded,
        10_000,
      ),
    );
    expect(decoded).toMatchObject({
      types: ["samples/count", "cpu/nanoseconds"],
      period: "cpu/nanoseconds 10000000",
      timeMs: recorded.fromMs,
      durationMs: 30_000,
    });
    const a = { name: "a", file: "src/main.ts", line: 10 };
    const anonymous = {
      name: "(anonymous) node:internal/timers:5",
      file: "node:internal/timers",
      line: 5,
    };
    const samples = [
      { stack: [anonymous, a], values: [2, 10_000_000 + 20_000_000] },
      { stack: [a], values: [1, 10_000_000] },
    ];
    expect(decoded.samples).toEqual([
      ...samples.map((sample) => ({ ...sample, thread: "main" })),
      ...samples.map((sample) => ({ ...sample, thread: "monitor" })),
    ]);
  });

  it("is empty when nothing was sampled", () => {
    expect(decode(formatCpuProfile([], recorded, 10_000)).samples).toEqual([]);
    expect(
      decode(
        formatCpuProfile(
          [{ thread: "main", profile: { nodes: [], startTime: 0, endTime: 0 } }],
          recorded,
          10_000,
        ),
      ).samples,
    ).toEqual([]);
  });

  it("loses no sample and no time of a tree of any shape, idleness apart", () => {
    const trees = fc.array(fc.nat(1_000), { minLength: 1, maxLength: 40 }).chain((parents) =>
      fc.record({
        parents: fc.constant(parents),
        samples: fc.array(fc.tuple(fc.nat(parents.length - 1), fc.nat(50_000)), { maxLength: 60 }),
      }),
    );
    fc.assert(
      fc.property(trees, ({ parents, samples }) => {
        const tree: Profiler.ProfileNode[] = parents.map((_parent, index) => ({
          id: index + 1,
          callFrame: frame(index === 0 ? "(root)" : `f${index % 7}`, "", index),
          children: parents.flatMap((other, child) =>
            child > 0 && other % child === index ? [child + 1] : [],
          ),
        }));
        const deltas = samples.map(([, delta]) => delta);
        const endTime = deltas.reduce((sum, delta) => sum + delta, 0) + 5;
        const decoded = decode(
          formatCpuProfile(
            [
              {
                thread: "main",
                profile: {
                  nodes: tree,
                  samples: samples.map(([node]) => node + 1),
                  timeDeltas: deltas,
                  startTime: 0,
                  endTime,
                },
              },
            ],
            recorded,
            10_000,
          ),
        );
        const sum = (value: number): number =>
          decoded.samples.reduce((total, { values }) => total + (values[value] ?? 0), 0);
        expect(sum(0)).toBe(samples.length);
        expect(sum(1)).toBe(samples.length === 0 ? 0 : (endTime - (deltas[0] ?? 0)) * 1_000);
      }),
    );
  });
});

describe("A heap profile in pprof", () => {
  const node = (
    functionName: string,
    selfSize: number,
    children: HeapProfiler.SamplingHeapProfileNode[] = [],
  ): HeapProfiler.SamplingHeapProfileNode => ({
    callFrame: frame(functionName, "file:///elsewhere/x.ts", 1),
    selfSize,
    children,
  });

  it("has the bytes of each stack, the callee first", () => {
    const head = node("(root)", 0, [
      node("outer", 100, [node("inner", 23.6), node("empty", 0)]),
      node("other", 7),
    ]);
    const decoded = decode(
      formatHeapProfile([{ thread: "main", profile: { head } }], recorded, 524_288),
    );
    expect(decoded).toMatchObject({ types: ["inuse_space/bytes"], period: "space/bytes 524288" });
    const seen = Object.fromEntries(
      decoded.samples.map(({ stack, values }) => [stack.map(({ name }) => name).join("<"), values]),
    );
    expect(seen).toEqual({ outer: [100], "inner<outer": [24], other: [7] });
    expect(totalOf(decoded, "outer", 0)).toBe(124);
    expect(decoded.samples[0]?.stack[0]?.file).toBe("/elsewhere/x.ts");
  });
});
