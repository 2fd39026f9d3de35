/**
 * The ports over which the monitor's thread asks for the house's part of the status; each start of
 * the thread gets one of its own.
 */
import { MessageChannel, type MessagePort } from "node:worker_threads";
import type { Log } from "../../kernel/base/log.ts";
import type {
  HouseAnswer,
  HouseConstants,
  HouseMessage,
  HouseQuestion,
} from "../../monitor/status/house-facts.ts";

/** What is told. */
export interface HouseTeller {
  constants(): HouseConstants;
  answer(question: { readonly labels: boolean }): Omit<HouseAnswer, "kind" | "id">;
}

/**
 * Makes ports; each takes the place of the one before, which closes. A question that cannot be
 * answered is logged and has no answer.
 */
export function createHousePorts(
  log: Log,
  teller: HouseTeller,
): { readonly port: () => MessagePort } {
  let current: MessagePort | undefined;
  return {
    port() {
      const { port1, port2 } = new MessageChannel();
      current?.close();
      current = port1;
      const tell = (message: HouseMessage): void => port1.postMessage(message);
      port1.on("message", ({ id, labels }: HouseQuestion) => {
        try {
          tell({ kind: "answer", id, ...teller.answer({ labels }) });
        } catch (error) {
          log.error("cannot report the daemon's status", { error });
        }
      });
      port1.unref();
      tell(teller.constants());
      return port2;
    },
  };
}
