/** The report of `steward dedup` as plain objects: what `--json` prints and the text is made from. */

/** A document of a group. */
export interface ReportMember {
  /** The `id` of the JSONL line, or the path as given. */
  readonly id: string;
  readonly title: string;
  /** The one that Steward would keep. */
  readonly primary: boolean;
  readonly words: number;
  /** Only the beginning of its text was read and compared. */
  readonly truncated?: true;
  /** The id of a member before it that is the same file under another name. */
  readonly hardLinkOf?: string;
}

/** Documents that resemble each other. Scores are from 0 to 1. */
export interface ReportGroup {
  readonly id: string;
  readonly confidence: number;
  readonly jaccard: number;
  readonly fuzzy: number;
  readonly discriminative: number;
  readonly status: string;
  /** A person agreed that all members but the primary may be deleted. */
  readonly accepted?: true;
  readonly members: readonly ReportMember[];
  /** Why they match, in words. */
  readonly reasons: readonly string[];
}

/** A file or line that was skipped. */
interface SkippedDocument {
  readonly id: string;
  readonly reason: string;
  readonly detail: string;
}

/** Figures of a run. */
export interface ReportSummary {
  readonly documents: number;
  /** Count by reason, e.g. `fewer than 20 words`. */
  readonly skipped: Readonly<Record<string, number>>;
  /** One line each, naming what was skipped or odd. */
  readonly notes: readonly string[];
  /** Everything that was skipped, when that was asked for. */
  readonly skippedItems?: readonly SkippedDocument[];
  readonly pairs: number;
  readonly groups: number;
  readonly durationMs: number;
  readonly documentsPerSecond: number;
  readonly peakMemoryBytes: number;
}

/** A file that was written. */
export interface WrittenFile {
  readonly path: string;
  /** What it holds, in words. */
  readonly holds: string;
}

/** A whole run. The groups may be made while they are written. */
export interface DedupReport {
  readonly summary: ReportSummary;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly groups: Iterable<ReportGroup>;
}
