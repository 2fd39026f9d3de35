/** Remembers the outcome of the last call of each operation of a network, and exports it. */
import type { Clock } from "../../kernel/base/clock.ts";
import type { Scope } from "../../kernel/telemetry/types.ts";
import {
  apiAvailability,
  apiLastProbe,
  subrequestAttempts,
  subrequestCoverage,
  subrequestFailures,
} from "../catalogue/api.ts";
import { apiStates, type ApiState, type Operation } from "./operation.ts";

export interface OperationState {
  readonly operation: string;
  readonly state: ApiState;
  /** Milliseconds since 1970. */
  readonly lastProbeMs: number;
}

/** Calls made once per entity in one run. */
interface Coverage {
  readonly tried: number;
  readonly failures: readonly ApiState[];
}

/** Operations of a network by collector. */
export interface CapabilityTracker {
  observed(collector: string, operation: Operation, state: ApiState): void;
  covered(collector: string, operation: Operation, coverage: Coverage): void;
  /** Sorted by name. */
  operations(collector: string): readonly OperationState[];
}

/** States of a per-entity call that count as failures. */
const failureStates: readonly ApiState[] = apiStates.filter(
  (state) => state !== "unknown" && state !== "supported",
);

/** The most serious state; `unknown` for an empty list. */
export function worstState(states: Iterable<ApiState>): ApiState {
  let worst: ApiState = "unknown";
  for (const state of states)
    if (apiStates.indexOf(state) > apiStates.indexOf(worst)) worst = state;
  return worst;
}

export function createCapabilityTracker({
  clock,
  scope,
}: {
  readonly clock: Pick<Clock, "now">;
  readonly scope: Scope;
}): CapabilityTracker {
  const collectors = new Map<string, Map<string, OperationState>>();
  const observed = (collector: string, { name }: Operation, state: ApiState): void => {
    const operations = collectors.get(collector) ?? new Map<string, OperationState>();
    collectors.set(collector, operations);
    const lastProbeMs = clock.now();
    operations.set(name, { operation: name, state, lastProbeMs });
    const attributes = { "vpn.collector": collector, "vpn.api.operation": name };
    for (const each of apiStates)
      scope.gauge(apiAvailability, each === state ? 1 : 0, {
        ...attributes,
        "vpn.api.state": each,
      });
    scope.gauge(apiLastProbe, lastProbeMs / 1_000, attributes);
  };
  return {
    observed,
    covered(collector, operation, { tried, failures }) {
      const attributes = { "vpn.collector": collector, "vpn.subrequest": operation.name };
      scope.add(subrequestAttempts, tried, attributes);
      scope.gauge(
        subrequestCoverage,
        tried === 0 ? 1 : (tried - failures.length) / tried,
        attributes,
      );
      for (const state of failureStates)
        scope.add(subrequestFailures, failures.filter((failure) => failure === state).length, {
          ...attributes,
          "vpn.api.state": state,
        });
      if (tried > 0) observed(collector, operation, failures[0] ?? "supported");
    },
    operations: (collector) =>
      [...(collectors.get(collector)?.values() ?? [])].toSorted((left, right) =>
        left.operation < right.operation ? -1 : 1,
      ),
  };
}
