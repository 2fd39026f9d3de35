/**
 * The monitor for one cycle: every collector of every network runs once, and what was measured
 * stays for who exports it.
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

/** What it works with. Scopes are those of the thread it runs in. */
export interface MonitorCycleDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly openScope: OpenScope;
}

/**
 * A further call of a collector that the credential may not make. The collector goes on without it.
 */
export interface DeniedCall {
  readonly network: string;
  readonly collector: string;
  readonly call: string;
  /** Alternatives stand beside each other; empty when they are not known. */
  readonly scopes: readonly string[];
}

/** A monitor that has no schedule. */
export interface MonitorCycle {
  /**
   * Once. Networks side by side, results in their order. Throws `invalid` when a control plane's
   * client cannot be made.
   */
  run(budget: CycleBudget): Promise<readonly CollectorResult[]>;
  /** What of the run was denied without being a failure. */
  denied(): readonly DeniedCall[];
  /** Gives connections and files back; series stay. After it what was collected is complete. */
  close(deadlineMs: number): Promise<void>;
}

/** Opens what networks remember in; asks nobody. */
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
