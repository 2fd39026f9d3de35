/**
 * The strangers of bench/hold.ts, in a thread of their own: their work is no part of what the
 * owner's calls are measured by.
 */
import { parentPort } from "node:worker_threads";
import {
  slowBodies,
  slowHeads,
  unreadAnswers,
  watches,
  type Attack,
  type Target,
} from "../test/support/attacks.ts";

/** Attacks by name. */
export const attacks: Readonly<Record<string, (target: Target) => Promise<Attack>>> = {
  "2,000 slow heads, HTTP/1.1": (target) => slowHeads({ ...target, version: "h1" }, 2_000),
  "2,000 slow heads, HTTP/2": (target) => slowHeads({ ...target, version: "h2" }, 2_000),
  "2,000 slow bodies, HTTP/1.1": (target) => slowBodies({ ...target, version: "h1" }, 2_000),
  "2,000 slow bodies, HTTP/2": (target) => slowBodies({ ...target, version: "h2" }, 2_000),
  "800 unread answers, HTTP/2": (target) => unreadAnswers({ ...target, version: "h2" }, 800),
  "285 watches over 3 connections": (target) =>
    watches({ ...target, version: "h2" }, { count: 285, sessions: 3 }),
};

/** Begins an attack, or ends the one that stands; answered with how many of its clients stand. */
export type AttackOrder = { readonly begin: string; readonly url: string } | "end";

let standing: Attack | undefined;

async function obey(order: AttackOrder): Promise<void> {
  if (order !== "end") standing = await attacks[order.begin]?.({ url: order.url, version: "h1" });
  parentPort?.postMessage(standing?.standing() ?? 0);
  if (order === "end") standing?.stop();
}

parentPort?.on("message", (order: AttackOrder) => void obey(order));
