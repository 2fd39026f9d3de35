/**
 * What administrators set for the whole network and now and then change: device approval, name
 * servers, webhooks.
 */
import type { Cycle } from "./cycle.ts";

/** Devices need approval in even turns. */
export const APPROVAL_CYCLE: Cycle = { periodMs: 8 * 3_600_000, phaseMs: 13 * 60_000 };
/** Another second name server with each turn. */
export const DNS_CYCLE: Cycle = { periodMs: 5 * 3_600_000, phaseMs: 29 * 60_000 };
/** In odd cycles the first webhook subscribes to one more event. */
export const WEBHOOK_CYCLE: Cycle = { periodMs: 12 * 3_600_000, phaseMs: 53 * 60_000 };

/** Global name servers of a turn. */
export function nameserversInTurn(turn: number): readonly string[] {
  return ["9.9.9.9", turn % 2 === 0 ? "149.112.112.112" : "1.1.1.1"];
}

/** The subscriptions of the first webhook in a turn. */
export function webhooksInTurn(turn: number): readonly string[] {
  const usual = ["nodeCreated", "nodeDeleted", "nodeKeyExpired", "policyUpdate"];
  return turn % 2 === 0 ? usual : [...usual, "userSuspended"];
}
