/**
 * Asks the main thread to export what the monitor wrote: an accepted body leaves the ingress log
 * only when the receivers of telemetry have what it counted.
 */
import type { MessagePort } from "node:worker_threads";
import type { Clock } from "../../kernel/base/clock.ts";
import { waitFor, late } from "../../kernel/async/wait.ts";

/** Name of the port among those the service receives. */
export const DELIVERY_PORT = "delivery";

/** From the monitor. */
export interface DeliveryRequest {
  readonly id: number;
  /** Of the monitor's writer: what it wrote before. */
  readonly mark: number;
  readonly deadlineMs: number;
}

/** From the main thread, once for each request. */
export interface DeliveryReply {
  readonly id: number;
  /** Metrics and log records reached whoever they are exported to. */
  readonly delivered: boolean;
}

export interface DeliveryClient {
  /** Uses this port until it closes; requests under way then count as not delivered. */
  attach(port: MessagePort): void;
  /** Never rejects. False without a port, and when no answer came in time. */
  deliver(deadlineMs: number): Promise<boolean>;
}

/** How much longer than its deadline a request is waited for. */
const MARGIN_MS = 1_000;

/** Marks of the monitor's own; those of other writers are not negative, and -1 is its last one. */
const FIRST_MARK = -2;

/** `mark` sets a mark in what the monitor writes. */
export function createDeliveryClient(clock: Clock, mark: (mark: number) => void): DeliveryClient {
  const waiting = new Map<number, (delivered: boolean) => void>();
  let current: MessagePort | undefined;
  let nextId = 0;
  const give = (): void => {
    for (const settle of waiting.values()) settle(false);
    waiting.clear();
  };
  return {
    attach(port) {
      give();
      current = port;
      port.on("message", ({ id, delivered }: DeliveryReply) => waiting.get(id)?.(delivered));
      port.on("close", () => {
        if (current !== port) return;
        current = undefined;
        give();
      });
      port.unref();
    },
    async deliver(deadlineMs) {
      const port = current;
      if (port === undefined) return false;
      const id = nextId;
      nextId += 1;
      const { promise, resolve } = Promise.withResolvers<boolean>();
      waiting.set(id, resolve);
      mark(FIRST_MARK - id);
      port.postMessage({ id, mark: FIRST_MARK - id, deadlineMs } satisfies DeliveryRequest);
      const outcome = await waitFor(promise, { clock, timeoutMs: deadlineMs + MARGIN_MS });
      waiting.delete(id);
      return outcome !== late && outcome;
    },
  };
}
