/** Reads one response piece by piece, for bodies that are passed on instead of held. */
import { perform, type PerformDeps } from "./perform.ts";
import type { Prepared } from "../http/exchange.ts";
import type { StreamedReply } from "../types.ts";

/** A prepared call whose body is read by its caller. */
export interface StreamRequest {
  readonly operation: string;
  readonly prepared: Prepared;
  /** Called once, when the body has been read, dropped, or its time is up. */
  readonly released: () => void;
}

/**
 * Resolves with the headers. The attempt's time limit then counts only the waiting for the upstream,
 * not that for the consumer, and starts again with each piece where the client's limits say so;
 * before the first read it runs, so that an unread body ends by itself.
 */
export async function openStream(
  parts: PerformDeps,
  { operation, prepared, released }: StreamRequest,
  signal: AbortSignal,
): Promise<StreamedReply> {
  const { opened, attempt } = await perform(
    parts,
    {
      operation,
      prepared,
      settled: undefined,
      consume: (response, running) => Promise.resolve({ opened: response, attempt: running }),
    },
    signal,
  );
  const { deadline } = attempt;
  const drop = (): void => {
    deadline.signal.removeEventListener("abort", drop);
    // A consumer that leaves early got a good response as far as it read.
    if (deadline.signal.aborted) attempt.fail(deadline.signal.reason);
    else attempt.succeed();
    opened.drop();
    released();
  };
  deadline.signal.addEventListener("abort", drop, { once: true });
  async function* read(): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      for await (const piece of opened.body) {
        deadline.pause();
        yield piece;
        if (parts.spec.limits.streams === "pieces") deadline.restart();
        else deadline.resume();
      }
    } catch (error) {
      throw attempt.fail(error);
    } finally {
      drop();
    }
  }
  return { status: opened.status, headers: opened.headers, body: read(), drop };
}
