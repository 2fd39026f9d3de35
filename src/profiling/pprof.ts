/** Converts V8's profiles to pprof's format. Pure. */
import type { HeapProfiler, Profiler, Runtime } from "node:inspector";
import { join, sep } from "node:path";
import { fileURLToPath } from "node:url";
import {
  Function as PprofFunction,
  Label,
  Line,
  Location,
  Profile,
  Sample,
  StringTable,
  ValueType,
} from "pprof-format";
import type { CpuThread } from "./cpu.ts";
import type { HeapThread } from "./heap.ts";

const NANOSECONDS_IN_MICROSECOND = 1_000;
const NANOSECONDS_IN_MILLISECOND = 1_000_000n;
const OUR_FOLDER = join(import.meta.dirname, "../..") + sep;
const ROOT = "(root)";

export interface Recorded {
  /** Milliseconds since 1970. */
  readonly fromMs: number;
  readonly untilMs: number;
}

/** Samples and CPU nanoseconds by stack, each sample with the label `thread`. Not compressed. */
export function formatCpuProfile(
  threads: readonly CpuThread[],
  recorded: Recorded,
  periodUs: number,
): Uint8Array {
  const table = new StackTable();
  for (const { thread, profile } of threads) {
    const parents = parentsOf(profile.nodes);
    const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
    for (const [id, [count, microseconds]] of spentByNode(profile)) {
      const stack = stackOf(nodes.get(id), (node) => parents.get(node.id));
      if (!isIdle(stack[0]))
        table.add(stack, [count, Math.round(microseconds * NANOSECONDS_IN_MICROSECOND)], thread);
    }
  }
  return table.encode({
    types: [
      ["samples", "count"],
      ["cpu", "nanoseconds"],
    ],
    period: ["cpu", "nanoseconds", periodUs * NANOSECONDS_IN_MICROSECOND],
    recorded,
  });
}

/** Live bytes by allocating stack, each sample with the label `thread`. Not compressed. */
export function formatHeapProfile(
  threads: readonly HeapThread[],
  recorded: Recorded,
  intervalBytes: number,
): Uint8Array {
  const table = new StackTable();
  for (const { thread, profile } of threads) {
    const above: [HeapProfiler.SamplingHeapProfileNode, readonly Runtime.CallFrame[]][] = [
      [profile.head, []],
    ];
    for (let next = above.pop(); next !== undefined; next = above.pop()) {
      const [node, callers] = next;
      const stack = node.callFrame.functionName === ROOT ? callers : [node.callFrame, ...callers];
      if (node.selfSize > 0 && stack.length > 0)
        table.add(stack, [Math.round(node.selfSize)], thread);
      for (const child of node.children) above.push([child, stack]);
    }
  }
  return table.encode({
    types: [["inuse_space", "bytes"]],
    period: ["space", "bytes", intervalBytes],
    recorded,
  });
}

/**
 * A waiting thread uses no CPU: in the event loop, or, in a pool thread, in the library function
 * that waits for a task.
 */
function isIdle(frame: Runtime.CallFrame | undefined): boolean {
  return (
    frame?.functionName === "(idle)" ||
    (frame?.functionName === "atomicsWaitLoop" && frame.url.includes("/piscina/"))
  );
}

/** A sample represents the time until the next one. */
function spentByNode({
  samples = [],
  timeDeltas = [],
  startTime,
  endTime,
}: Profiler.Profile): ReadonlyMap<number, readonly [count: number, microseconds: number]> {
  const spent = new Map<number, [number, number]>();
  const sampledUs = timeDeltas.reduce((sum, delta) => sum + delta, 0);
  for (const [index, id] of samples.entries()) {
    const microseconds = Math.max(0, timeDeltas[index + 1] ?? endTime - startTime - sampledUs);
    const sum = spent.get(id) ?? [0, 0];
    spent.set(id, [sum[0] + 1, sum[1] + microseconds]);
  }
  return spent;
}

function parentsOf(
  nodes: readonly Profiler.ProfileNode[],
): ReadonlyMap<number, Profiler.ProfileNode> {
  return new Map(
    nodes.flatMap((node) => (node.children ?? []).map((child) => [child, node] as const)),
  );
}

/** Callee first. */
function stackOf(
  leaf: Profiler.ProfileNode | undefined,
  parent: (node: Profiler.ProfileNode) => Profiler.ProfileNode | undefined,
): Runtime.CallFrame[] {
  const stack: Runtime.CallFrame[] = [];
  for (
    let node = leaf;
    node !== undefined && node.callFrame.functionName !== ROOT;
    node = parent(node)
  )
    stack.push(node.callFrame);
  return stack;
}

interface Heading {
  readonly types: readonly (readonly [type: string, unit: string])[];
  readonly period: readonly [type: string, unit: string, value: number];
  readonly recorded: Recorded;
}

/** Interned strings, functions, locations and samples. */
class StackTable {
  readonly #strings = new StringTable();
  readonly #locations = new Map<string, Location>();
  readonly #functions: PprofFunction[] = [];
  readonly #samples: Sample[] = [];

  add(stack: readonly Runtime.CallFrame[], value: number[], thread: string): void {
    const label = [
      new Label({ key: this.#strings.dedup("thread"), str: this.#strings.dedup(thread) }),
    ];
    this.#samples.push(
      new Sample({ locationId: stack.map((frame) => this.#location(frame).id), value, label }),
    );
  }

  encode({ types, period: [type, unit, period], recorded }: Heading): Uint8Array {
    const valueType = ([name, measure]: readonly [string, string]): ValueType =>
      new ValueType({ type: this.#strings.dedup(name), unit: this.#strings.dedup(measure) });
    const nanoseconds = (ms: number): bigint => BigInt(Math.round(ms)) * NANOSECONDS_IN_MILLISECOND;
    return new Profile({
      sampleType: types.map(valueType),
      sample: this.#samples,
      location: [...this.#locations.values()],
      function: this.#functions,
      stringTable: this.#strings,
      timeNanos: nanoseconds(recorded.fromMs),
      durationNanos: nanoseconds(recorded.untilMs - recorded.fromMs),
      periodType: valueType([type, unit]),
      period,
    }).encode();
  }

  #location(frame: Runtime.CallFrame): Location {
    const key = `${frame.functionName}\n${frame.url}\n${frame.lineNumber}:${frame.columnNumber}`;
    const known = this.#locations.get(key);
    if (known !== undefined) return known;
    const id = this.#functions.length + 1;
    // V8 counts lines from 0, and has -1 for code without a file.
    const line = Math.max(0, frame.lineNumber + 1);
    const filename = readableFile(frame.url);
    const name = this.#strings.dedup(
      frame.functionName === "" ? `(anonymous) ${filename}:${line}` : frame.functionName,
    );
    this.#functions.push(
      new PprofFunction({
        id,
        name,
        systemName: name,
        filename: this.#strings.dedup(filename),
        startLine: line,
      }),
    );
    const location = new Location({ id, line: [new Line({ functionId: id, line })] });
    this.#locations.set(key, location);
    return location;
  }
}

/** Our own files relative to our folder; others unchanged. */
function readableFile(url: string): string {
  if (!url.startsWith("file:")) return url;
  try {
    const file = fileURLToPath(url);
    return file.startsWith(OUR_FOLDER) ? file.slice(OUR_FOLDER.length) : file;
  } catch {
    return url;
  }
}
