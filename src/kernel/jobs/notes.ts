/** Notes of a running job: all are counted, the first 1,000 are kept. */
import { create } from "@bufbuild/protobuf";
import { JobNoteSchema } from "../../gen/steward/state/v1/jobs_pb.ts";
import type { JobNote } from "../../gen/steward/state/v1/jobs_pb.ts";

const KEPT_NOTES = 1_000;
const MAX_ITEM_LENGTH = 200;

export interface Notes {
  add(kind: string, item: string): void;
  counts(): Readonly<Record<string, number>>;
  /** The kept notes, as stored. */
  list(): JobNote[];
}

/** Continues from the stored notes. */
export function createNotes(stored: readonly JobNote[]): Notes {
  const kept: JobNote[] = [...stored];
  const counts = new Map<string, number>();
  const count = (kind: string): void => void counts.set(kind, (counts.get(kind) ?? 0) + 1);
  for (const note of kept) count(note.kind);
  return {
    add(kind, item) {
      count(kind);
      if (kept.length < KEPT_NOTES)
        kept.push(
          create(JobNoteSchema, { kind, item: item.slice(0, MAX_ITEM_LENGTH).toWellFormed() }),
        );
    },
    counts: () => Object.fromEntries(counts),
    list: () => [...kept],
  };
}
