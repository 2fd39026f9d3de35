/**
 * Per-device calls with bounded concurrency. Results are processed in device order; failures are
 * counted and skipped.
 */
import { stateOfError } from "../../capability/operation.ts";
import type { ApiState, Operation } from "../../capability/operation.ts";
import type { Device } from "../../providers/model.ts";
import type { Tick } from "../collector.ts";
import { nextTurn } from "../../../kernel/async/turns.ts";

/** Concurrent calls. */
const IN_FLIGHT = 4;
/** Results processed between two yields to the event loop. */
const STRETCH = 200;
/**
 * After this many denials and no success the remaining devices are skipped: the credential lacks
 * the permission.
 */
const REFUSALS = 25;

const refusing: ReadonlySet<ApiState> = new Set(["credential_rejected", "scope_denied"]);

export interface PerDeviceCall<T> {
  readonly operation: Operation;
  call(device: Device): Promise<T>;
  learn(device: Device, answer: T): void;
}

type Outcome<T> = { readonly device: Device } & (
  | { readonly answer: T }
  | { readonly error: unknown }
);

/**
 * Calls every device and reports coverage to the tick. Rejects only with the signal's reason, and
 * leaves no call running.
 */
export async function callEach<T>(
  tick: Tick,
  devices: readonly Device[],
  perDevice: PerDeviceCall<T>,
): Promise<void> {
  const failures: ApiState[] = [];
  const waiting: Promise<Outcome<T>>[] = [];
  let tried = 0;
  let refusals = 0;
  const next = async (): Promise<void> => {
    const outcome = await waiting.shift();
    if (outcome === undefined) return;
    tick.signal.throwIfAborted();
    if ("answer" in outcome) {
      refusals = Number.NEGATIVE_INFINITY;
      return perDevice.learn(outcome.device, outcome.answer);
    }
    const state = stateOfError(outcome.error, perDevice.operation);
    failures.push(state);
    if (refusing.has(state) && !outcome.device.external) refusals += 1;
  };
  try {
    for (const device of devices) {
      if (refusals >= REFUSALS) break;
      tried += 1;
      waiting.push(outcomeOf(device, perDevice));
      if (waiting.length >= IN_FLIGHT) await next();
      if (tried % STRETCH === 0) await nextTurn(tick.signal);
    }
    while (waiting.length > 0) await next();
  } finally {
    await Promise.all(waiting);
  }
  tick.covered(perDevice.operation, { tried, failures });
}

async function outcomeOf<T>(device: Device, perDevice: PerDeviceCall<T>): Promise<Outcome<T>> {
  try {
    return { device, answer: await perDevice.call(device) };
  } catch (error) {
    return { device, error };
  }
}
