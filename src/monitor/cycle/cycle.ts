/**
 * The monitor for one cycle: every collector of every network runs once, and the measurements stay
 * for export.
 */
import type { Clock } from "../../kernel/base/clock.ts";
import type { Ids } from "../../kernel/base/ids.ts";
import type { Log } from "../../kernel/base/log.ts";
import { createSupervisor } from "../../kernel/supervisor/supervisor.ts";
import type { OpenScope } from "../network/network-scope.ts";
import type { MonitoredNetwork } from "../network/network.ts";
import { openProvider } from "../network/open-provider.ts";
import type { MonitorOptions } from "../options.ts";
import type { CollectorResult, CycleBudget } from "../runner/cycle.ts";
import { assembleMonitor } from "../service.ts";

/** Scopes belong to the current thread. */
export interface MonitorCycleDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly openScope: OpenScope;
}

/** A sub-request that the credential may not make; its collector continues without it. */
export interface DeniedCall {
  readonly network: string;
  readonly collector: string;
  readonly call: string;
  /** Alternatives side by side; empty when unknown. */
  readonly scopes: readonly string[];
}

/** A monitor without a schedule. */
export interface MonitorCycle {
  /**
   * Runs all networks concurrently; results in their order. Rejects with `invalid` when the client
   * of a control plane cannot be created.
   */
  run(budget: CycleBudget): Promise<readonly CollectorResult[]>;
  /** Sub-requests that were denied without failing a run. */
  denied(): readonly DeniedCall[];
  /** Closes connections and files. Series stay and are complete afterwards. */
  close(deadlineMs: number): Promise<void>;
}

/** Opens the checkpoints; makes no request. */
export async function openMonitorCycle(
  deps: MonitorCycleDeps,
  options: MonitorOptions,
): Promise<MonitorCycle> {
  const supervisor = createSupervisor({ clock: deps.clock, log: deps.log });
  const { networks } = await assembleMonitor(
    { ...deps, add: (component) => supervisor.add(component), needs: [] },
    options,
    openProvider(deps, options),
  );
  await supervisor.start();
  return {
    async run(budget) {
      return (await Promise.all(networks.map((network) => network.cycle(budget)))).flat();
    },
    denied: () => networks.flatMap((network) => deniedOf(network.status())),
    async close(deadlineMs) {
      await Promise.all(networks.map(({ component }) => component.stop(deadlineMs)));
      await supervisor.stop(deadlineMs);
    },
  };
}

function deniedOf(status: ReturnType<MonitoredNetwork["status"]>): DeniedCall[] {
  return (status?.capabilities ?? []).flatMap(({ collector, subrequest, state, requiredScopes }) =>
    subrequest === undefined || (state !== "scope_denied" && state !== "credential_rejected")
      ? []
      : [{ network: status?.name ?? "", collector, call: subrequest, scopes: requiredScopes }],
  );
}
