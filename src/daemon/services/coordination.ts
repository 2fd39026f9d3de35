/** What the process shows of the lease that replicas share: a component, a row, metrics. */
import type { Component, Health } from "../../kernel/supervisor/component.ts";
import {
  coordinationEpoch,
  coordinationHeld,
} from "../../kernel/telemetry/report/process-metrics.ts";
import type { Scope } from "../../kernel/telemetry/types.ts";
import type { ElectionState } from "../../monitor/coordination/election.ts";

/** Name of the component, of its row in the status, and of its log lines. */
export const COORDINATION = "coordination";

const REMEDY =
  "check coordination.endpoints, coordination.tls and the service itself; Steward goes on trying";

type State = () => ElectionState | undefined;

/** A replica on standby is healthy; one that cannot reach the service is not, and stays ready. */
export function coordinationComponent(state: State): Component {
  return {
    name: COORDINATION,
    needs: [],
    readiness: "reported",
    start: () => Promise.resolve(),
    stop: () => Promise.resolve(),
    health: () => healthOf(state()),
  };
}

function healthOf(state: ElectionState | undefined): Health {
  if (state === undefined) return { ok: true };
  const role = roleOf(state);
  return state.problem === undefined
    ? { ok: true, reason: role }
    : { ok: false, reason: `${role}: ${state.problem}`, remedy: REMEDY };
}

function roleOf(state: ElectionState): string {
  if (state.role === "holder") return `holds the lease, epoch ${state.epoch}`;
  return state.holder === "" ? "standby" : `standby: ${state.holder} holds the lease`;
}

/** Reports until the process ends. */
export function reportCoordination(scope: Scope, state: State): void {
  scope.observe(() => {
    const now = state();
    scope.gauge(coordinationHeld, now?.role === "holder" ? 1 : 0, {});
    if (now?.role === "holder") scope.gauge(coordinationEpoch, Number(now.epoch), {});
    else scope.end(coordinationEpoch, {});
  });
}
