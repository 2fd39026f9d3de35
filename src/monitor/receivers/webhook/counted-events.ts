/** The events of webhook bodies: counted once, whatever their number of deliveries. */
import type { Clock } from "../../../kernel/base/clock.ts";
import { StewardError } from "../../../kernel/base/errors.ts";
import { Turns } from "../../../kernel/async/turns.ts";
import type { Effect } from "../../ingress/prepared-effects.ts";
import { createInstantReader } from "../../ingest/instants.ts";
import { openIngest, type ReceiverTarget } from "../target.ts";
import { createDeliveries } from "./deliveries.ts";
import { createEmitter, type Emitter } from "./emit.ts";
import { readEvents, type WebhookEvent } from "./event.ts";
import { webhookMetrics } from "./metrics.ts";

export interface CountedEvents {
  /** Undefined when the body is no list, or an element is no event. */
  read(body: Uint8Array): Promise<readonly WebhookEvent[] | undefined>;
  /** Counts what was read. */
  effect(target: ReceiverTarget, events: readonly WebhookEvent[], bytes: number): Effect;
  /** Reads and counts a body that was valid when it came. */
  replay(target: ReceiverTarget, body: Buffer): Effect;
}

export function createCountedEvents(clock: Clock): CountedEvents {
  const instants = createInstantReader();
  const deliveries = createDeliveries(clock);
  const emitters = new Map<ReceiverTarget, Emitter>();
  const emitterOf = (target: ReceiverTarget): Emitter => {
    const emitter = emitters.get(target) ?? createEmitter(openIngest(target), clock, target);
    emitters.set(target, emitter);
    return emitter;
  };
  const count = async (
    target: ReceiverTarget,
    events: readonly WebhookEvent[],
    bytes: number,
    signal: AbortSignal,
  ): Promise<number> => {
    const emitter = emitterOf(target);
    const metrics = webhookMetrics(openIngest(target).scope);
    const turns = new Turns();
    for (const event of events) {
      if (turns.over) await turns.give(signal);
      if (deliveries.isNew(event.digest)) emitter.emit(event);
      else metrics.duplicate();
    }
    emitter.observer.received("webhook", bytes);
    return events.length;
  };
  return {
    read: (body) => readEvents(body, instants),
    effect: (target, events, bytes) => (signal) => count(target, events, bytes, signal),
    replay: (target, body) => async (signal) => {
      const events = await readEvents(body, instants);
      if (events === undefined)
        throw new StewardError("invalid", "a delivery that was accepted is no list of events", {
          remedy: "run the Steward that accepted it until its ingress log is empty",
        });
      return await count(target, events, body.length, signal);
    },
  };
}
