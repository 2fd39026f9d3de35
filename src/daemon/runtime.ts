/**
 * What one run of the daemon takes from the machine: time, identifiers, readings of the process,
 * and the monitor's thread. Passed in, so that a test owns them.
 */
import { systemClock, type Clock } from "../kernel/base/clock.ts";
import { systemIds, type Ids } from "../kernel/base/ids.ts";
import type { Placement } from "../kernel/threads/hosted-service.ts";
import { processReadings, type RuntimeReadings } from "./status/runtime.ts";

/** Of the main thread. Threads that the daemon starts have the system's clock and identifiers. */
export interface DaemonRuntime {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly readings: RuntimeReadings;
  readonly monitorOn: Placement;
}

/** The machine's own, with the monitor in a thread of its own. */
export function systemRuntime(): DaemonRuntime {
  return { clock: systemClock, ids: systemIds, readings: processReadings(), monitorOn: "thread" };
}
