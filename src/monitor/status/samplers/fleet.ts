/** Aggregate state of the collectors: now, and every ten seconds of the last ten minutes. */
import { create } from "@bufbuild/protobuf";
import { FleetSchema, type Fleet } from "../../../gen/steward/monitor/v1/export_pb.ts";
import type { Clock } from "../../../kernel/base/clock.ts";
import type { CollectorStatus } from "../../runner/collector-runner.ts";
import { every } from "./every.ts";

const SAMPLES = 60;
const SAMPLE_MS = 10_000;

type Ran = Pick<CollectorStatus, "last">;

export interface FleetSampler {
  /** Takes the first sample at once. */
  start(): void;
  stop(): void;
  /** Includes the samples so far. */
  view(): Fleet;
}

/** Takes no sample before its start. */
export function createFleetSampler(clock: Clock, collectors: () => readonly Ran[]): FleetSampler {
  const samples: { readonly failing: number; readonly meanMs: number }[] = [];
  const schedule = every(
    clock,
    () => SAMPLE_MS,
    () => {
      const { failing, meanMs } = measure(collectors());
      samples.push({ failing, meanMs });
      if (samples.length > SAMPLES) samples.shift();
    },
  );
  return {
    start: () => schedule.start(),
    stop: () => schedule.stop(),
    view() {
      const { active, failing, meanMs } = measure(collectors());
      return create(FleetSchema, {
        active,
        failing,
        meanDurationMs: meanMs,
        failingSeries: samples.map((sample) => sample.failing),
        meanDurationMsSeries: samples.map((sample) => sample.meanMs),
      });
    },
  };
}

function measure(collectors: readonly Ran[]): {
  readonly active: number;
  readonly failing: number;
  readonly meanMs: number;
} {
  const runs = collectors.flatMap(({ last }) => last ?? []);
  const tookMs = runs.reduce((total, run) => total + run.tookMs, 0);
  return {
    active: runs.length,
    failing: runs.filter(({ error }) => error !== undefined).length,
    meanMs: runs.length === 0 ? 0 : tookMs / runs.length,
  };
}
