/** Answers the monitor's requests to export what it wrote (`src/monitor/ingress/delivery.ts`). */
import { MessageChannel, type MessagePort } from "node:worker_threads";
import type { LedgerView } from "../../kernel/telemetry/status.ts";
import type { Telemetry } from "../../kernel/telemetry/telemetry.ts";
import type { DeliveryReply, DeliveryRequest } from "../../monitor/ingress/delivery.ts";

/** Creates ports; a new one closes the previous one. */
export function createDeliveryPorts(telemetry: Pick<Telemetry, "flush" | "status">): {
  readonly port: () => MessagePort;
} {
  let current: MessagePort | undefined;
  return {
    port() {
      const { port1, port2 } = new MessageChannel();
      current?.close();
      current = port1;
      port1.on("message", ({ id, mark, deadlineMs }: DeliveryRequest) => {
        void exported(telemetry, mark, deadlineMs).then((delivered) =>
          port1.postMessage({ id, delivered } satisfies DeliveryReply),
        );
      });
      port1.unref();
      return port2;
    },
  };
}

/**
 * True when everything written until now left the process and nothing was lost. Without an exporter
 * there is nothing to wait for: a pull endpoint serves from memory.
 */
async function exported(
  telemetry: Pick<Telemetry, "flush" | "status">,
  mark: number,
  deadlineMs: number,
): Promise<boolean> {
  if (telemetry.status().thread === "off") return true;
  const before = losses(telemetry.status().ledger);
  const finished = await telemetry.flush(deadlineMs, mark);
  const { thread, ledger } = telemetry.status();
  return finished && thread === "running" && losses(ledger) === before;
}

/**
 * Requests of metrics and snapshots that failed, and log records that were lost: those of a request
 * that is tried again are not (`src/kernel/telemetry/thread/export/persistent.ts`).
 */
function losses(ledger: LedgerView | undefined): number {
  if (ledger === undefined) return 0;
  const { metrics, logs } = ledger.signals;
  return metrics.failures + logs.itemsLost + ledger.snapshotsSkipped;
}
