/**
 * Message ports over which the monitor's thread requests the process's part of the status. Each
 * start of the thread gets its own.
 */
import { MessageChannel, type MessagePort } from "node:worker_threads";
import type { Log } from "../../kernel/base/log.ts";
import type { ServiceCountsView } from "../../monitor/presence/types.ts";
import type {
  CountsRequest,
  ProcessStatusReply,
  ProcessConstants,
  ProcessStatusMessage,
  ProcessStatusRequest,
} from "../../monitor/status/process/process-status.ts";

export interface ProcessStatusSource {
  constants(): ProcessConstants;
  answer(question: { readonly labels: boolean }): Omit<ProcessStatusReply, "kind" | "id">;
  counts(): ServiceCountsView;
}

/**
 * Creates ports; a new one closes the previous one. A request that fails is logged and gets no
 * reply.
 */
export function createProcessStatusPorts(
  log: Log,
  source: ProcessStatusSource,
): { readonly port: () => MessagePort } {
  let current: MessagePort | undefined;
  return {
    port() {
      const { port1, port2 } = new MessageChannel();
      current?.close();
      current = port1;
      const send = (message: ProcessStatusMessage): void => port1.postMessage(message);
      port1.on("message", (asked: ProcessStatusRequest | CountsRequest) => {
        const { id } = asked;
        try {
          if (asked.kind === "counts") send({ kind: "counted", id, counts: source.counts() });
          else send({ kind: "answer", id, ...source.answer({ labels: asked.labels }) });
        } catch (error) {
          log.error("cannot report the daemon's status", { error });
        }
      });
      port1.unref();
      send(source.constants());
      return port2;
    },
  };
}
