/** A replica in the process of a test, with the tenures it had. */
import { systemClock as clock } from "../../../src/kernel/base/clock.ts";
import {
  startElection,
  type Election,
  type Tenure,
} from "../../../src/monitor/coordination/election.ts";
import type { Grant, LeaseStore } from "../../../src/monitor/coordination/types.ts";
import { memoryLog } from "../../kernel/telemetry/fixtures.ts";

export interface TestReplica extends AsyncDisposable {
  readonly election: Election;
  readonly tenures: Tenure[];
  /** What was left of the lease when each tenure ended. */
  readonly graces: number[];
  readonly lines: readonly string[];
}

export function startReplica<G extends Grant>(store: LeaseStore<G>, ttlMs: number): TestReplica {
  const tenures: Tenure[] = [];
  const graces: number[] = [];
  const log = memoryLog();
  const election = startElection(
    {
      clock,
      log,
      ttlMs,
      work(tenure) {
        tenures.push(tenure);
        return new Promise((resolve) => {
          const end = (): void => {
            graces.push(tenure.graceMs());
            resolve();
          };
          tenure.signal.addEventListener("abort", end, { once: true });
        });
      },
    },
    store,
  );
  return {
    election,
    tenures,
    graces,
    lines: log.lines,
    [Symbol.asyncDispose]: () => election.stop(),
  };
}
