/** The records of stream bodies: read once when they come, and again after a restart. */
import type { Clock } from "../../../kernel/base/clock.ts";
import { StewardError } from "../../../kernel/base/errors.ts";
import type { Effect } from "../../ingress/prepared-effects.ts";
import { createIngestObserver } from "../../ingest/observer.ts";
import { Refusal } from "../refusal.ts";
import { openIngest, type ReceiverTarget } from "../target.ts";
import { createBatchReader, type Batch, type BatchReader, type Faults } from "./batch.ts";
import { streamMetrics } from "./metrics.ts";

export interface StreamRecords {
  /** Throws a `Refusal`, or the signal's reason. */
  read(target: ReceiverTarget, body: Buffer, faults: Faults, signal: AbortSignal): Promise<Batch>;
  /** Counts what was read. */
  effect(target: ReceiverTarget, batch: Batch, bytes: number): Effect;
  /** Reads and counts a body that was valid when it came, also when the clock is behind that time. */
  replay(target: ReceiverTarget, body: Buffer, acceptedMs: number): Effect;
}

const noFaults: Faults = { undecodable: () => undefined, invalid: () => undefined };

export function createStreamRecords(clock: Clock): StreamRecords {
  const readers = new Map<ReceiverTarget, BatchReader>();
  const readerOf = (target: ReceiverTarget): BatchReader => {
    const reader = readers.get(target) ?? createBatchReader(clock);
    readers.set(target, reader);
    return reader;
  };
  const count = async (
    target: ReceiverTarget,
    batch: Batch,
    bytes: number,
    signal: AbortSignal,
  ): Promise<number> => {
    const ingest = openIngest(target);
    await batch.apply(ingest, signal);
    streamMetrics(ingest.scope).accepted(batch);
    createIngestObserver(
      { scope: ingest.scope, clock },
      { enabled: target.selfObservability },
    ).received("stream", bytes);
    return batch.connections + batch.audits;
  };
  return {
    read: (target, body, faults, signal) => readerOf(target).read(body, faults, signal),
    effect: (target, batch, bytes) => (signal) => count(target, batch, bytes, signal),
    replay: (target, body, acceptedMs) => async (signal) => {
      const batch = await readerOf(target)
        .read(body, noFaults, signal, acceptedMs)
        .catch((thrown: unknown) => {
          throw thrown instanceof Refusal
            ? new StewardError("invalid", `a body that was accepted is not: ${thrown.message}`, {
                remedy: "run the Steward that accepted it until its ingress log is empty",
              })
            : thrown;
        });
      return await count(target, batch, body.length, signal);
    },
  };
}
