/** The process's part of the status, sent to the monitor's thread on request. */
import type { MessagePort } from "node:worker_threads";
import type { Clock } from "../../kernel/base/clock.ts";
import type { Log } from "../../kernel/base/log.ts";
import type { ServiceCountsView } from "../../monitor/presence/types.ts";
import type { ProcessTelemetry } from "../telemetry/telemetry.ts";
import { processStatusReply, type ProcessStatusSources } from "./answer.ts";
import { processConstants, type ConstantFacts } from "./constants.ts";
import { followDelivery } from "./delivery.ts";
import { createProcessStatusPorts } from "./process-status-ports.ts";
import { followRuntime, type RuntimeReadings } from "./runtime.ts";

export interface ProcessStatusDeps extends Pick<
  ProcessStatusSources,
  "profiling" | "updates" | "certificates" | "states" | "stores"
> {
  readonly clock: Clock;
  readonly log: Log;
  readonly processTelemetry: Pick<ProcessTelemetry, "telemetry" | "scope">;
  readonly readings: RuntimeReadings;
  /** Counts of the services, by hour and day. */
  readonly counts: () => ServiceCountsView;
}

/** Lives as long as the process. */
export interface ProcessStatusPorts {
  /** Opens a port for one start of the monitor. */
  port(): MessagePort;
}

/** Starts sampling memory and throughput. */
export function createProcessStatus(
  deps: ProcessStatusDeps,
  facts: ConstantFacts,
): ProcessStatusPorts {
  const {
    clock,
    log,
    processTelemetry: { telemetry, scope },
    profiling,
    updates,
    certificates,
    states,
    stores,
    readings,
    counts,
  } = deps;
  const sources: ProcessStatusSources = {
    config: facts.configuration.config,
    idle: facts.monitor.networks.length === 0,
    states,
    stores,
    profiling,
    updates,
    certificates,
    telemetry,
    cardinality: () => scope.cardinality(),
    delivery: followDelivery(clock, telemetry),
    runtime: followRuntime(clock, readings),
  };
  return createProcessStatusPorts(log, {
    constants: () => processConstants(facts),
    answer: (question) => processStatusReply(sources, question),
    counts,
  });
}
