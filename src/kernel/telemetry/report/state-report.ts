/** Reports the environments of a factory: figures at each collection, and commit durations. */
import type { Clock } from "../../base/clock.ts";
import type { Env, EnvStatus, StateFactory } from "../../state/types.ts";
import {
  stateCommitDuration,
  stateCommits,
  stateLimit,
  stateQueue,
  stateRows,
  stateSize,
} from "./service-metrics.ts";
import type { Scope } from "../types.ts";

const MILLISECONDS = 1_000;
const OWNER = "state";

/** Wraps the factory so that every environment it opens is reported until closed. */
export function reportState(scope: Scope, state: StateFactory, clock: Clock): StateFactory {
  const open = new Set<Env>();
  scope.observe(() => {
    const round = scope.sweep(OWNER);
    for (const env of open) reportFigures(round, env.status());
    round.commit();
  });
  return {
    async open(spec, signal) {
      const env = await state.open(spec, signal);
      open.add(env);
      return timed(env, { scope, clock, closed: () => open.delete(env) });
    },
  };
}

function reportFigures(
  round: Pick<Scope, "gauge">,
  { name: environment, queuedWrites, bytes, maxBytes, rows }: EnvStatus,
): void {
  round.gauge(stateQueue, queuedWrites, { environment });
  round.gauge(stateSize, bytes, { environment });
  round.gauge(stateLimit, maxBytes, { environment });
  for (const [table, count] of Object.entries(rows))
    round.gauge(stateRows, count, { environment, table });
}

function timed(
  env: Env,
  { scope, clock, closed }: { scope: Scope; clock: Clock; closed: () => void },
): Env {
  const environment = env.name;
  return {
    name: env.name,
    keyring: env.keyring,
    async write(change, options) {
      const beganMs = clock.monotonic();
      const value = await env.write(change, options);
      scope.record(stateCommitDuration, (clock.monotonic() - beganMs) / MILLISECONDS, {
        environment,
      });
      scope.add(stateCommits, 1, { environment });
      return value;
    },
    read: (view) => env.read(view),
    scan: (table, each, options) => env.scan(table, each, options),
    status: () => env.status(),
    backup: (directory, signal) => env.backup(directory, signal),
    close() {
      closed();
      return env.close();
    },
  };
}
