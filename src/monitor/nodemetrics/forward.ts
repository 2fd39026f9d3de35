/**
 * Forwards samples of a node agent: gauges as they are, counters as increases, well-known metrics
 * also under Steward's names.
 */
import type { Clock } from "../../kernel/base/clock.ts";
import { failed } from "../../kernel/client/failure.ts";
import type { Scope, Sweep } from "../../kernel/telemetry/types.ts";
import { nodemetricsMetricNamesDropped } from "../catalogue/node-metrics.ts";
import type { RunningTotals } from "../collectors/running-totals.ts";
import { anchored } from "../collectors/nodemetrics/section.ts";
import type { NodeMetricsOptions } from "../options.ts";
import { curatedLevels, curatedTotals } from "./curated.ts";
import { ExpositionReader, linesOf, type Sample } from "./exposition.ts";
import type { ForwardedRows } from "./forwarded-rows.ts";
import type { RoundTarget } from "./targets.ts";
import { Turns } from "../../kernel/async/turns.ts";

/** Longest slice before yielding to the event loop. */
const SLICE_MS = 5;
const LINES_PER_LOOK = 200;
const NODE = "vpn.node";

export interface ForwarderDeps {
  readonly clock: Clock;
  readonly scope: Scope;
  readonly totals: RunningTotals;
  readonly rows: ForwardedRows;
}

export interface Forwarder {
  /** Rejects when there are more samples than allowed; samples already written stay. */
  forward(
    target: RoundTarget,
    text: string,
    sweep: Pick<Sweep, "gauge">,
    signal: AbortSignal,
  ): Promise<void>;
}

/** Name patterns in the options are anchored. `target_info` describes the agent and is left out. */
export function createForwarder(deps: ForwarderDeps, options: NodeMetricsOptions): Forwarder {
  const { clock } = deps;
  const wanted = wantedNames(options);
  const dropped = new Set(options.dropLabels);
  return {
    async forward(target, text, sweep, signal) {
      const reader = new ExpositionReader();
      let samples = 0;
      let lines = 0;
      const turns = new Turns({ sliceMs: SLICE_MS, clock });
      for (const line of linesOf(text)) {
        lines += 1;
        if (lines % LINES_PER_LOOK === 0 && turns.over) await turns.give(signal);
        const sample = reader.read(line);
        if (sample === undefined) continue;
        samples += 1;
        if (samples > options.maxSamples)
          throw failed(
            { class: "too_large", status: 200 },
            `more than ${options.maxSamples} samples; raise collectors.node_metrics.max_samples`,
          );
        writeSample({ ...deps, sweep, target, wanted, dropped }, sample);
      }
    },
  };
}

interface Writing extends ForwarderDeps {
  readonly sweep: Pick<Sweep, "gauge">;
  readonly target: RoundTarget;
  readonly wanted: (name: string) => boolean;
  readonly dropped: ReadonlySet<string>;
}

function writeSample(writing: Writing, sample: Sample): void {
  const { name, labels, value, cumulative } = sample;
  if (Number.isNaN(value)) return;
  const {
    scope,
    sweep,
    totals,
    target: { instance, url },
  } = writing;
  if (!cumulative) {
    curatedLevels.get(name)?.(sweep, instance, labels, value);
    if (writing.wanted(name)) forwardLevel(writing, sample);
    return;
  }
  const curated = curatedTotals.get(name);
  const wanted = writing.wanted(name);
  if (curated === undefined && !wanted) return;
  const grown = totals.growth(`${url}\0${name}\0${[...labels].flat().join("\0")}`, value);
  if (grown <= 0) return;
  curated?.(scope, instance, labels, grown);
  if (wanted) forwardGrowth(writing, sample, grown);
}

function forwardLevel(writing: Writing, { name, labels, value }: Sample): void {
  const attributes = attributesOf(writing, labels);
  const row = writing.rows.row(name, "gauge", Object.keys(attributes));
  if (row === undefined) return overBudget(writing);
  writing.sweep.gauge(row, value, attributes);
}

function forwardGrowth(writing: Writing, { name, labels }: Sample, grown: number): void {
  const attributes = attributesOf(writing, labels);
  const row = writing.rows.row(name, "counter", Object.keys(attributes));
  if (row === undefined) return overBudget(writing);
  writing.scope.add(row, grown, attributes);
}

function overBudget({ scope }: Writing): void {
  scope.add(nodemetricsMetricNamesDropped, 1, { reason: "metric_name_budget" });
}

/** Sorted, so that equal label sets share a row. The agent's own `vpn.node` label is ignored. */
function attributesOf(
  { target, dropped }: Writing,
  labels: Sample["labels"],
): Record<string, string> {
  const attributes: Record<string, string> = {};
  const all = new Map([...Object.entries(target.labels), ...labels, [NODE, target.instance]]);
  for (const name of [...all.keys()].toSorted()) {
    if (name === NODE || (!dropped.has(name) && !name.startsWith("__")))
      attributes[name] = all.get(name) ?? "";
  }
  return attributes;
}

function wantedNames({ metricAllow, metricDeny }: NodeMetricsOptions): (name: string) => boolean {
  const allow = metricAllow.map(anchored);
  const deny = metricDeny.map(anchored);
  const known = new Map<string, boolean>();
  return (name) => {
    const answer = known.get(name);
    if (answer !== undefined) return answer;
    const wanted =
      name !== "target_info" &&
      (allow.length === 0 || allow.some((each) => each.test(name))) &&
      !deny.some((each) => each.test(name));
    if (known.size < MAX_REMEMBERED) known.set(name, wanted);
    return wanted;
  };
}

const MAX_REMEMBERED = 10_000;
