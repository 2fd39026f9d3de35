/** The stored results, and their list in memory. */
import type { AiResultRow } from "../../gen/steward/state/v1/dedup_pb.ts";
import { StewardError } from "../../kernel/base/errors.ts";
import type { Env, Snapshot, Tx } from "../../kernel/state/types.ts";
import { aiResults } from "../tables.ts";
import { createResultIndex, type ResultIndex } from "./result-index.ts";

export interface ResultStore {
  readonly index: ResultIndex;
  row(docNo: number): AiResultRow | undefined;
  /** Throws `not_found`. */
  byId(id: string): AiResultRow;
  /** A new result, which replaces that of its document. Gives it its serial. */
  add(tx: Tx, row: AiResultRow): void;
  /** A result that stays although a run processed its document again. Gives it another serial. */
  keep(tx: Tx, row: AiResultRow): void;
  /**
   * New results get higher serials than this one. A restart forgets the serials of results that are
   * gone, so a job that compares with one calls this when it continues.
   */
  reserveSerials(upTo: number): void;
  /** Changes the result of a document. */
  put(tx: Tx, row: AiResultRow): void;
  /** With its document. */
  remove(tx: Tx, docNo: number): void;
  /**
   * Takes the result of a document for a change of its archive, until disposed: nobody else applies,
   * reverts or rejects it then. Throws `conflict` while another one has it.
   */
  claim(row: AiResultRow): Disposable;
  isClaimed(docNo: number): boolean;
}

/** Reads all rows in slices. */
export async function openResultStore(env: Env, signal: AbortSignal): Promise<ResultStore> {
  const index = createResultIndex();
  await env.scan(
    aiResults,
    (batch) => {
      for (const [, row] of batch) index.put(row);
    },
    { sliceMs: 5, signal },
  );
  let lastSerial = index.newestSerial;
  const claimed = new Set<number>();
  const put = (tx: Tx, row: AiResultRow): void => {
    tx.put(aiResults, row.docNo, row);
    tx.after(() => index.put(row));
  };
  return {
    index,
    row: (docNo) => env.read((snapshot) => snapshot.get(aiResults, docNo)),
    byId: (id) => env.read((snapshot) => resultById(snapshot, id)),
    add(tx, row) {
      row.serial = lastSerial += 1;
      put(tx, row);
    },
    keep(tx, row) {
      row.keptSerial = lastSerial += 1;
      put(tx, row);
    },
    reserveSerials(upTo) {
      lastSerial = Math.max(lastSerial, upTo);
    },
    put,
    remove(tx, docNo) {
      if (!tx.delete(aiResults, docNo)) return;
      tx.after(() => index.remove(docNo));
    },
    claim({ id, docNo }) {
      if (claimed.has(docNo)) throw busy(id);
      claimed.add(docNo);
      return { [Symbol.dispose]: () => claimed.delete(docNo) };
    },
    isClaimed: (docNo) => claimed.has(docNo),
  };
}

/** Somebody else writes the result to its archive at this moment. */
export function busy(id: string): StewardError {
  return new StewardError("conflict", `AI result ${id} is being applied or reverted`, {
    remedy: "wait until that has ended, and look at it again",
  });
}

/** Throws `not_found`. */
export function resultById(snapshot: Snapshot, id: string): AiResultRow {
  const [docNo] = id.length <= 64 ? snapshot.find(aiResults, "id", [id]) : [];
  const row = docNo === undefined ? undefined : snapshot.get(aiResults, docNo);
  if (row === undefined)
    throw new StewardError(
      "not_found",
      `there is no AI result ${JSON.stringify(id.slice(0, 40))}`,
      {
        field: "id",
        remedy: "GET /api/v1/ai/results lists them",
      },
    );
  return row;
}
