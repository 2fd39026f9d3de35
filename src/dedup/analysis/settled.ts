/**
 * The state that the last analysis of this process left behind, which decides what of the next one
 * is needed: nothing in the same state; only the descriptions of groups when nothing but metadata
 * has changed. Kept in memory only: the first analysis after a start compares.
 */
import type { DocumentIndex } from "../documents/index.ts";
import type { GroupIndex } from "../groups/index.ts";

interface SettledDeps {
  readonly documents: Pick<DocumentIndex, "revision" | "textRevision" | "pending">;
  readonly groups: Pick<GroupIndex, "revision">;
}

/** What an analysis leaves for the next one. */
interface Finished<R> {
  readonly result: R;
  /** Ids of decided groups that were not found again. */
  readonly kept: ReadonlySet<string>;
}

/** What still holds of the last analysis: its groups, and perhaps what is said about them. */
export interface Standing<R> extends Finished<R> {
  /** Metadata have changed since, so that the descriptions of groups may have to. */
  readonly metadataChanged: boolean;
  /** Revision of the documents that it described the groups with, or an earlier one. */
  readonly revision: number;
}

/** Remembers the result `R` of the last analysis. */
export interface Settled<R> {
  /**
   * The last analysis, when neither texts, groups, decisions nor the parameters of the fingerprint
   * have changed since it began, but by itself.
   */
  standing(fingerprint: string): Standing<R> | undefined;
  /**
   * Call when an analysis begins, and what it answers at its end: with what it leaves, and how many
   * documents the analysis has changed. It has shown one generation.
   */
  begin(fingerprint: string): (finished: Finished<R>, changedDocuments: number) => void;
}

interface Last<R> {
  /** Revision of the documents when it had changed them. */
  readonly documents: number;
  readonly described: number;
  readonly texts: number;
  readonly groups: number;
  readonly fingerprint: string;
  readonly finished: Finished<R>;
}

/** Nothing is remembered yet. */
export function createSettled<R>({ documents, groups }: SettledDeps): Settled<R> {
  let last: Last<R> | undefined;
  return {
    standing(fingerprint) {
      if (
        last?.texts !== documents.textRevision ||
        last.groups !== groups.revision ||
        last.fingerprint !== fingerprint ||
        documents.pending > 0
      )
        return undefined;
      const { finished, described, documents: left } = last;
      return { ...finished, revision: described, metadataChanged: left !== documents.revision };
    },
    begin(fingerprint) {
      last = undefined;
      const before = {
        documents: documents.revision,
        texts: documents.textRevision,
        groups: groups.revision,
      };
      return (finished, changedDocuments) => {
        // A document that still waits was not seen as it is.
        if (documents.pending > 0) return;
        const left = before.documents + changedDocuments;
        last = {
          documents: left,
          // What others changed meanwhile is among its own changes: all of them count as new.
          described: left === documents.revision ? left : before.documents,
          texts: before.texts,
          groups: before.groups + 1,
          fingerprint,
          finished,
        };
      };
    },
  };
}
