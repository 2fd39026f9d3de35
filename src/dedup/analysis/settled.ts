/**
 * The state that the last analysis of this process left behind. An analysis that starts in the same
 * state would find what is there, so it ends at once. Kept in memory only: the first analysis after
 * a start compares.
 */
import type { DocumentIndex } from "../documents/index.ts";
import type { GroupIndex } from "../groups/index.ts";

interface SettledDeps {
  readonly documents: Pick<DocumentIndex, "revision" | "pending">;
  readonly groups: Pick<GroupIndex, "revision">;
}

/** Remembers the result `R` of the last analysis. */
export interface Settled<R> {
  /**
   * Its result, when neither documents, groups, decisions nor the parameters of the fingerprint
   * have changed since it began, but by itself.
   */
  result(fingerprint: string): R | undefined;
  /**
   * Call when an analysis begins, and what it answers at its end: with the result, and how many
   * documents the analysis has changed. It has shown one generation.
   */
  begin(fingerprint: string): (result: R, changedDocuments: number) => void;
}

/** Nothing is remembered yet. */
export function createSettled<R>({ documents, groups }: SettledDeps): Settled<R> {
  let last:
    | {
        readonly documents: number;
        readonly groups: number;
        readonly fingerprint: string;
        readonly result: R;
      }
    | undefined;
  return {
    result: (fingerprint) =>
      last?.documents === documents.revision &&
      last.groups === groups.revision &&
      last.fingerprint === fingerprint
        ? last.result
        : undefined,
    begin(fingerprint) {
      last = undefined;
      const [documentsBefore, groupsBefore] = [documents.revision, groups.revision];
      return (result, changedDocuments) => {
        // A document that still waits was not seen as it is.
        if (documents.pending > 0) return;
        last = {
          documents: documentsBefore + changedDocuments,
          groups: groupsBefore + 1,
          fingerprint,
          result,
        };
      };
    },
  };
}
