/** The ledger of what requests cost: one row a day and model, kept when results are replaced. */
import { create } from "@bufbuild/protobuf";
import { AiCostRowSchema, type AiCostRow } from "../../gen/steward/state/v1/dedup_pb.ts";
import type { Snapshot, Tx } from "../../kernel/state/types.ts";
import { aiCosts } from "../tables.ts";

/** What is added to the ledger. `costUsd` is undefined when the price is not known. */
export interface Charge {
  readonly atMs: number;
  readonly provider: string;
  readonly model: string;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly costUsd: number | undefined;
  readonly requests: number;
  /** Whether the requests led to a result. */
  readonly hasResult: boolean;
}

/** Adds the requests of one document. */
export function addCharge(tx: Tx, charge: Charge): void {
  const key = [dayOf(charge.atMs), charge.provider, charge.model] as const;
  const row = tx.get(aiCosts, key) ?? create(AiCostRowSchema);
  tx.put(
    aiCosts,
    key,
    create(AiCostRowSchema, {
      promptTokens: row.promptTokens + charge.promptTokens,
      completionTokens: row.completionTokens + charge.completionTokens,
      costUsd: row.costUsd + (charge.costUsd ?? 0),
      requests: row.requests + charge.requests,
      requestsWithoutPrice:
        row.requestsWithoutPrice + (charge.costUsd === undefined ? charge.requests : 0),
      documents: row.documents + (charge.hasResult ? 1 : 0),
    }),
  );
}

export interface CostEntry {
  readonly day: string;
  readonly provider: string;
  readonly model: string;
  readonly row: AiCostRow;
}

/** All rows, oldest first; one a day and model. */
export function* costEntries(snapshot: Snapshot, prefix?: string): Generator<CostEntry> {
  const bounds = prefix === undefined ? {} : { start: [prefix], end: [`${prefix}~`] };
  for (const [[day, provider, model], row] of snapshot.range(aiCosts, bounds))
    yield { day, provider, model, row };
}

/** What the requests of the calendar month cost. */
export function spentInMonth(snapshot: Snapshot, atMs: number): number {
  let sum = 0;
  for (const { row } of costEntries(snapshot, monthOf(atMs))) sum += row.costUsd;
  return sum;
}

/** `YYYY-MM-DD` in UTC. */
export function dayOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10);
}

/** `YYYY-MM` in UTC. */
export function monthOf(atMs: number): string {
  return dayOf(atMs).slice(0, 7);
}
