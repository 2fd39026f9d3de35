/** What accepted bodies do, for receivers and for the ingress log after a restart. */
import type { Clock } from "../../kernel/base/clock.ts";
import { StewardError } from "../../kernel/base/errors.ts";
import type { Effect } from "../ingress/prepared-effects.ts";
import type { Entry } from "../ingress/journal.ts";
import { createStreamRecords, type StreamRecords } from "./stream/records.ts";
import type { ReceiverTarget } from "./target.ts";
import { createCountedEvents, type CountedEvents } from "./webhook/counted-events.ts";

/** Shared by all that apply bodies, so that a repeated one is known. */
export interface ReceiverEffects {
  readonly stream: StreamRecords;
  readonly webhook: CountedEvents;
  /** Throws `not_found` for a network that is not configured. */
  of(entry: Pick<Entry, "network" | "source" | "acceptedMs">, body: Buffer): Effect;
}

export function createReceiverEffects(
  clock: Clock,
  targets: readonly ReceiverTarget[],
): ReceiverEffects {
  const stream = createStreamRecords(clock);
  const webhook = createCountedEvents(clock);
  return {
    stream,
    webhook,
    of({ network, source, acceptedMs }, body) {
      const target = targets.find(({ id }) => id === network);
      if (target === undefined)
        throw new StewardError(
          "not_found",
          `the ingress log has bodies of the network ${JSON.stringify(network)}, which is not configured`,
          { remedy: "configure the network again until the log is empty, or remove the log" },
        );
      return source === "stream"
        ? stream.replay(target, body, acceptedMs)
        : webhook.replay(target, body);
    },
  };
}
