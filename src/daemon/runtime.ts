/**
 * What the daemon takes from the machine: clock, identifiers, process readings, and where the
 * monitor runs. Passed in, so that tests can replace it.
 */
import { systemClock, type Clock } from "../kernel/base/clock.ts";
import { systemIds, type Ids } from "../kernel/base/ids.ts";
import type { Placement } from "../kernel/threads/hosted-service.ts";
import { processReadings, type RuntimeReadings } from "./status/runtime.ts";

/** For the main thread. Threads that the daemon starts use the system's clock and identifiers. */
export interface DaemonRuntime {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly readings: RuntimeReadings;
  readonly monitorOn: Placement;
}

/** The system's clock and identifiers, with the monitor in its own thread. */
export function systemRuntime(): DaemonRuntime {
  return { clock: systemClock, ids: systemIds, readings: processReadings(), monitorOn: "thread" };
}
