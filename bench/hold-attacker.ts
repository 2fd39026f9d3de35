/**
 * The strangers of bench/hold.ts, in a thread of their own: their work is no part of what the
 * owner's calls are measured by.
 */
import { parentPort } from "node:worker_threads";
import { ATTACKS, type Attack, type AttackName, type Target } from "../test/support/attacks.ts";

/** Begins an attack, or ends the one that stands; answered with how many of its clients stand. */
export type AttackOrder = ({ readonly begin: AttackName } & Target) | "end";

let standing: Attack | undefined;

async function obey(order: AttackOrder): Promise<void> {
  if (order !== "end") standing = await ATTACKS[order.begin].begin(order);
  parentPort?.postMessage(standing?.standing() ?? 0);
  if (order === "end") standing?.stop();
}

parentPort?.on("message", (order: AttackOrder) => void obey(order));
