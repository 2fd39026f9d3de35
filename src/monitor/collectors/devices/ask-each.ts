/**
 * Calls made for each device: a few at a time, learnt from in the order of the devices, failures
 * counted and passed over.
 */
import { stateOfError } from "../../capability/operation.ts";
import type { ApiState, Operation } from "../../capability/operation.ts";
import type { Device } from "../../providers/model.ts";
import type { Tick } from "../collector.ts";
import { giveWay } from "../give-way.ts";

/** Calls on their way at once. */
const IN_FLIGHT = 4;
/** Answers learnt from between two breaks. */
const STRETCH = 200;
/**
 * So many own devices refused, and none answered: the credential may not ask, and a large fleet is
 * not asked to its end.
 */
const REFUSALS = 25;

const refusing: ReadonlySet<ApiState> = new Set(["credential_rejected", "scope_denied"]);

/** What is asked of each device. */
export interface Question<T> {
  readonly operation: Operation;
  ask(device: Device): Promise<T>;
  learn(device: Device, answer: T): void;
}

type Outcome<T> = { readonly device: Device } & (
  | { readonly answer: T }
  | { readonly error: unknown }
);

/**
 * Asks all devices and tells the tick how it went. Rejects only with the signal's reason; no call
 * outlives it then.
 */
export async function askEach<T>(
  tick: Tick,
  devices: readonly Device[],
  question: Question<T>,
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
      return question.learn(outcome.device, outcome.answer);
    }
    const state = stateOfError(outcome.error, question.operation);
    failures.push(state);
    if (refusing.has(state) && !outcome.device.external) refusals += 1;
  };
  try {
    for (const device of devices) {
      if (refusals >= REFUSALS) break;
      tried += 1;
      waiting.push(outcomeOf(device, question));
      if (waiting.length >= IN_FLIGHT) await next();
      if (tried % STRETCH === 0) await giveWay(tick.signal);
    }
    while (waiting.length > 0) await next();
  } finally {
    await Promise.all(waiting);
  }
  tick.covered(question.operation, { tried, failures });
}

async function outcomeOf<T>(device: Device, question: Question<T>): Promise<Outcome<T>> {
  try {
    return { device, answer: await question.ask(device) };
  } catch (error) {
    return { device, error };
  }
}
