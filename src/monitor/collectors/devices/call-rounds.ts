/**
 * Per-device calls with bounded concurrency and a share of the interval: a run goes on where the
 * previous one ended. Failures are counted and skipped.
 */
import type { Clock } from "../../../kernel/base/clock.ts";
import type { Log } from "../../../kernel/base/log.ts";
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
  /** Called with each answer of this run. */
  learn(device: Device, answer: T): void;
}

interface CallRoundsDeps {
  readonly clock: Pick<Clock, "monotonic">;
  readonly log: Log;
  /** Time of a run in which calls begin. */
  readonly shareMs: number;
}

type Outcome<T> = { readonly device: Device } & (
  | { readonly answer: T }
  | { readonly error: unknown }
);

/** The calls of one operation, and the last answer of each device. */
export class CallRounds<T> {
  readonly #deps: CallRoundsDeps;
  readonly #answers = new Map<string, T>();
  /** Number of the run in which each device was last called. */
  readonly #calledIn = new Map<string, number>();
  #run = 0;
  #hasWarned = false;

  constructor(deps: CallRoundsDeps) {
    this.#deps = deps;
  }

  /** Of the last call; undefined before it, and when it failed. */
  answerOf({ id }: Device): T | undefined {
    return this.#answers.get(id);
  }

  /**
   * Calls the devices, those not called for longest first, until the time is up, and reports
   * coverage to the tick. Rejects only with the signal's reason, and leaves no call running.
   */
  async call(tick: Tick, devices: readonly Device[], perDevice: PerDeviceCall<T>): Promise<void> {
    const { clock, shareMs } = this.#deps;
    const endsMs = clock.monotonic() + shareMs;
    const failures: ApiState[] = [];
    const waiting: Promise<Outcome<T>>[] = [];
    let tried = 0;
    let refusals = 0;
    const next = async (): Promise<void> => {
      const outcome = await waiting.shift();
      if (outcome === undefined) return;
      tick.signal.throwIfAborted();
      const { device } = outcome;
      if ("answer" in outcome) {
        refusals = Number.NEGATIVE_INFINITY;
        this.#answers.set(device.id, outcome.answer);
        return perDevice.learn(device, outcome.answer);
      }
      this.#answers.delete(device.id);
      const state = stateOfError(outcome.error, perDevice.operation);
      failures.push(state);
      if (refusing.has(state) && !device.external) refusals += 1;
    };
    const queue = this.#begin(devices);
    try {
      for (const device of queue) {
        if (refusals >= REFUSALS || (tried > 0 && clock.monotonic() >= endsMs)) break;
        tried += 1;
        this.#calledIn.set(device.id, this.#run);
        waiting.push(outcomeOf(device, perDevice));
        if (waiting.length >= IN_FLIGHT) await next();
        if (tried % STRETCH === 0) await nextTurn(tick.signal);
      }
      while (waiting.length > 0) await next();
    } finally {
      await Promise.all(waiting);
    }
    if (refusals >= REFUSALS) this.#forget();
    else this.#warnOf(queue.length - tried, perDevice.operation);
    tick.covered(perDevice.operation, { tried, failures });
  }

  #forget(): void {
    this.#answers.clear();
    this.#calledIn.clear();
  }

  #begin(devices: readonly Device[]): readonly Device[] {
    this.#run += 1;
    const ids = new Set(devices.map(({ id }) => id));
    for (const map of [this.#answers, this.#calledIn])
      for (const id of map.keys()) if (!ids.has(id)) map.delete(id);
    const runOf = ({ id }: Device): number => this.#calledIn.get(id) ?? 0;
    return devices.toSorted((left, right) => runOf(left) - runOf(right));
  }

  #warnOf(left: number, { name }: Operation): void {
    if (left === 0 || this.#hasWarned) return;
    this.#hasWarned = true;
    this.#deps.log.warn(
      "the interval is too short to call every device in one run; the others are called in the next runs",
      {
        operation: name,
        left,
        remedy:
          "raise collectors.devices.interval, or switch off collectors.devices.collect_device_invites or collect_posture",
      },
    );
  }
}

async function outcomeOf<T>(device: Device, perDevice: PerDeviceCall<T>): Promise<Outcome<T>> {
  try {
    return { device, answer: await perDevice.call(device) };
  } catch (error) {
    return { device, error };
  }
}
