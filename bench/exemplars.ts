/**
 * What exemplars cost: one observation of a histogram without them, with them but untraced, and
 * traced; then, of many series, a snapshot and the exemplars in it: without any, with one each, and
 * with one in each bucket, as far as the bound lets them. Run: `bin/node bench/exemplars.ts
 * [series]`.
 */
import { performance } from "node:perf_hooks";
import { systemClock } from "../src/kernel/base/clock.ts";
import { defineMetric } from "../src/kernel/telemetry/catalogue.ts";
import type { TraceIds, Row } from "../src/kernel/telemetry/types.ts";
import { SeriesScope } from "../src/kernel/telemetry/writer/scope.ts";
import { Ceiling } from "../src/kernel/telemetry/series/ceiling.ts";

const MIB = 2 ** 20;
const BOUNDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600] as const;
const RECORDS = 2_000_000;
const ROUNDS = 5;
const TRACE: TraceIds = { traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331" };

const common = {
  kind: "histogram",
  unit: "s",
  attributes: ["endpoint"],
  bounds: BOUNDS,
  group: "Bench",
  help: "For the bench.",
} as const;
const plain: Row<"endpoint", "histogram"> = defineMetric({ ...common, name: "bench.plain" });
const marked: Row<"endpoint", "histogram"> = defineMetric({
  ...common,
  name: "bench.marked",
  exemplars: true,
});

function open(traced: boolean): SeriesScope {
  const rows = [plain, marked];
  return new SeriesScope(
    { name: "bench", resource: {}, constants: {}, limits: { perMetric: 0, labelValues: 0 } },
    {
      clock: systemClock,
      ceiling: new Ceiling(),
      rowNumber: (row) => rows.findIndex((each) => each.name === row.name),
      due: () => undefined,
      log: () => undefined,
      span: () => undefined,
      closed: () => undefined,
      ...(traced ? { trace: () => TRACE } : {}),
    },
  );
}

function recordCost(row: Row<"endpoint", "histogram">, traced: boolean): number {
  const scope = open(traced);
  const attributes = { endpoint: "devices" };
  const began = performance.now();
  for (let count = 0; count < RECORDS; count++) scope.record(row, (count % 20) / 10, attributes);
  return ((performance.now() - began) * 1e6) / RECORDS;
}

function snapshotCost(series: number, observations: readonly number[], traced: boolean): string {
  const scope = open(traced);
  for (let index = 0; index < series; index++)
    for (const value of observations)
      scope.record(marked, value, { endpoint: `endpoint-${index}` });
  const began = performance.now();
  const { exemplars } = scope.snapshot(() => undefined);
  const tookMs = performance.now() - began;
  return `snapshot ${tookMs.toFixed(1)} ms, exemplars in it ${((exemplars?.byteLength ?? 0) / MIB).toFixed(1)} MiB`;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

const series = Number(process.argv[2] ?? 100_000);
const kinds = [
  { name: "without exemplars", row: plain, traced: true, costs: [] as number[] },
  { name: "with them, untraced", row: marked, traced: false, costs: [] as number[] },
  { name: "with them, traced", row: marked, traced: true, costs: [] as number[] },
];
// By turns, and without the first round, which compiles.
for (let round = 0; round <= ROUNDS; round++) {
  for (const { row, traced, costs } of kinds) costs[round] = recordCost(row, traced);
}
for (const { name, costs } of kinds) {
  const [least = 0, ...others] = costs.slice(1).toSorted((left, right) => left - right);
  print(
    `one observation ${name.padEnd(20)} ${least.toFixed(0).padStart(4)} to ${(others.at(-1) ?? 0).toFixed(0)} ns`,
  );
}
const each = [...BOUNDS, Number.MAX_VALUE];
snapshotCost(series, each, true);
for (const [name, observations, traced] of [
  ["untraced", each, false],
  ["one each", [1], true],
  ["one in each bucket", each, true],
] as const) {
  print(`${series} series, ${name.padEnd(18)} ${snapshotCost(series, observations, traced)}`);
}
