/** Counts a listener's refusals by reason and share. */
import { SHARES, type Share } from "./shares.ts";

/**
 * - `connections`: cut or turned away at the limit of connections.
 * - `busy`: no place was free in time, or the place was given to another while the request waited
 *   for its client.
 * - `streams`: too many long-lived answers.
 * - `bodies`: other bodies left no room for this one.
 * - `slow_body`: the body took too long.
 */
type RefusalReason = "connections" | "busy" | "streams" | "bodies" | "slow_body";

/** A connection refused before its first request has no share. */
export interface RefusalCount {
  readonly reason: RefusalReason;
  readonly share?: Share;
  readonly count: number;
}

export interface Refusals {
  add(reason: RefusalReason, share?: Share): void;
  /** Every possible combination, including zeros. */
  counts(): readonly RefusalCount[];
}

export function createRefusals(): Refusals {
  const counts = new Map<string, { reason: RefusalReason; share?: Share; count: number }>();
  const open = (reason: RefusalReason, share?: Share): void =>
    void counts.set(`${reason} ${share}`, {
      reason,
      ...(share === undefined ? {} : { share }),
      count: 0,
    });
  open("connections");
  for (const share of SHARES)
    for (const reason of ["busy", "streams", "bodies", "slow_body"] as const) open(reason, share);
  return {
    add(reason, share) {
      const counted = counts.get(`${reason} ${share}`);
      if (counted !== undefined) counted.count += 1;
    },
    counts: () => [...counts.values()].map((each) => ({ ...each })),
  };
}
