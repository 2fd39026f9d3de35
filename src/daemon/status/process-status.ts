/**
 * The house's part of the status: gathered here from those who know it, and told to the monitor's
 * thread when that asks.
 */
import type { MessagePort } from "node:worker_threads";
import type { Clock } from "../../kernel/base/clock.ts";
import type { Log } from "../../kernel/base/log.ts";
import type { HouseTelemetry } from "../telemetry.ts";
import { houseAnswer, type HouseSources } from "./answer.ts";
import { houseConstants, type ConstantFacts } from "./constants.ts";
import { followDelivery } from "./delivery.ts";
import { createHousePorts } from "./process-status-ports.ts";
import { followRuntime, type RuntimeReadings } from "./runtime.ts";

/** What it is made with. */
export interface HouseStatusDeps extends Pick<
  HouseSources,
  "profiling" | "updates" | "certificates" | "states" | "stores"
> {
  readonly clock: Clock;
  readonly log: Log;
  readonly house: Pick<HouseTelemetry, "telemetry" | "scope">;
  readonly readings: RuntimeReadings;
}

/** A source of ports, for as long as the process lives. */
export interface HouseStatus {
  /** For one start of the monitor. */
  port(): MessagePort;
}

/** Begins to follow what has a curve. */
export function createHouseStatus(deps: HouseStatusDeps, facts: ConstantFacts): HouseStatus {
  const {
    clock,
    log,
    house: { telemetry, scope },
    profiling,
    updates,
    certificates,
    states,
    stores,
    readings,
  } = deps;
  const sources: HouseSources = {
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
  return createHousePorts(log, {
    constants: () => houseConstants(facts),
    answer: (question) => houseAnswer(sources, question),
  });
}
