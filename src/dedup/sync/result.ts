/** Input, counters and result of a sync. */
import { create } from "@bufbuild/protobuf";
import { cutText } from "../../../workers/text/decode.ts";
import { SkippedItemRowSchema, type SkippedItemRow } from "../../gen/steward/state/v1/dedup_pb.ts";
import type { SkippedItem } from "../archives/archive.ts";
import type { ValueCodec } from "../../kernel/state/types.ts";

export interface SyncInput {
  /** Read what is known again, and believe in what is gone. */
  readonly force: boolean;
  /** Forget all documents, groups and decisions first. */
  readonly purge: boolean;
}

/** The result of a sync job, as the API returns it. */
export interface SyncResult {
  /** Documents that the archives listed. */
  readonly totalFetched: number;
  readonly inserted: number;
  readonly updated: number;
  /** Known and unchanged. */
  readonly skipped: number;
  /** Files and lines that should have been documents but could not be read. */
  readonly failed: number;
  /** Known documents that are gone from their archive and were removed. */
  readonly reconciled: number;
  /** The first hundred failures, in words. */
  readonly errors: readonly string[];
  readonly durationMs: number;
  readonly syncType: "full" | "incremental";
  /** Everything that was not taken, expected or not, counted by reason. */
  readonly skipReasons: Readonly<Record<string, number>>;
}

/** The stored form of a sync's input. */
export const syncInput: ValueCodec<SyncInput> = {
  write: ({ force, purge }) => Uint8Array.of(Number(force), Number(purge)),
  read: (bytes) => ({ force: bytes[0] === 1, purge: bytes[1] === 1 }),
};

/** Counts that a crash must not lose, since what they count is stored already. */
export interface Progress {
  readonly serial: number;
  readonly startedAtMs: number;
  readonly syncType: "full" | "incremental";
  readonly purged: boolean;
  readonly inserted: number;
  readonly updated: number;
  readonly reconciled: number;
  /** Of the updated ones those with a new text; absent in a cursor of an earlier release. */
  readonly reworded?: number;
}

/** The stored form of the counts: the job's cursor. */
export const progressCodec: ValueCodec<Progress> = {
  write: (progress) => new TextEncoder().encode(JSON.stringify(progress)),
  read: (bytes) => JSON.parse(new TextDecoder().decode(bytes)) as Progress,
};

const ERRORS = 100;
/** Failures that are listed. */
export const LISTED = 1_000;
const REF_UNITS = 1_000;
const DETAIL_UNITS = 300;

/** The running counts of one sync. */
export interface Tally {
  fetched: number;
  inserted: number;
  updated: number;
  reworded: number;
  unchanged: number;
  reconciled: number;
  readonly failed: number;
  /** The first thousand failures. */
  readonly skipped: readonly SkippedItemRow[];
  /** Counts something that was not taken. */
  skip(archive: string, item: SkippedItem): void;
  /** A sentence among the errors that counts no document. */
  remark(sentence: string): void;
  result(durationMs: number, syncType: "full" | "incremental"): SyncResult;
}

/** Counts that go on from what was stored before a crash. */
export function createTally(
  before: Pick<Progress, "inserted" | "updated" | "reconciled" | "reworded">,
): Tally {
  const errors: string[] = [];
  const reasons = new Map<string, number>();
  const skipped: SkippedItemRow[] = [];
  let failed = 0;
  let unreported = 0;
  const say = (sentence: string): void => {
    if (errors.length < ERRORS) errors.push(sentence);
    else unreported += 1;
  };
  return {
    fetched: 0,
    unchanged: 0,
    inserted: before.inserted,
    updated: before.updated,
    reworded: before.reworded ?? 0,
    reconciled: before.reconciled,
    skipped,
    get failed() {
      return failed;
    },
    skip(archive, { ref, reason, detail, failure }) {
      reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
      if (!failure) return;
      failed += 1;
      if (skipped.length < LISTED)
        skipped.push(
          create(SkippedItemRowSchema, {
            archive,
            archiveRef: cutText(ref, REF_UNITS),
            reason,
            detail: cutText(detail, DETAIL_UNITS),
          }),
        );
      say(`${archive}: ${ref}: ${detail}`);
    },
    remark: say,
    result(durationMs, syncType) {
      const { fetched, inserted, updated, unchanged, reconciled } = this;
      const all = unreported > 0 ? [...errors, `and ${unreported} more`] : [...errors];
      const skipReasons = Object.fromEntries(
        [...reasons].sort((left, right) => right[1] - left[1]),
      );
      return {
        totalFetched: fetched,
        inserted,
        updated,
        skipped: unchanged,
        failed,
        reconciled,
        errors: all,
        durationMs,
        syncType,
        skipReasons,
      };
    },
  };
}
