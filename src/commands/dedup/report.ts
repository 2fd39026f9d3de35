/** What a run found, as the objects that reports are made from. */
import { bandWarnings } from "../../dedup/analysis/band-plan.ts";
import type { AnalysisOutcome } from "../../dedup/analysis/engine.ts";
import { documentPairs } from "../../dedup/analysis/outcome.ts";
import type { AnalysisParameters } from "../../dedup/analysis/parameters.ts";
import { GroupStatus } from "../../gen/steward/dedup/v1/groups_pb.ts";
import type { ReviewedGroup } from "../../dedup/review/decisions.ts";
import type { DedupReport, ReportGroup } from "../report/types.ts";
import { optionOf } from "./parameters.ts";
import type { Findings } from "./find.ts";

/** The report of a run. `listSkipped` adds what was skipped by name. */
export function reportOf(
  { corpus, outcome, reviewed, durationMs }: Findings,
  parameters: AnalysisParameters,
  listSkipped: boolean,
): DedupReport {
  const documents = corpus.size;
  return {
    summary: {
      documents,
      skipped: corpus.skipped(parameters),
      notes: [...corpus.notes, ...bandWarnings(parameters, optionOf), ...limitNotes(outcome)],
      ...(listSkipped && { skippedItems: corpus.leftOut }),
      pairs: documentPairs(outcome),
      groups: reviewed.length,
      durationMs,
      documentsPerSecond: durationMs === 0 ? 0 : Math.round((documents * 10_000) / durationMs) / 10,
      peakMemoryBytes: process.resourceUsage().maxRSS * 1024,
    },
    parameters: { ...parameters },
    groups: reviewed.map(reportGroup),
  };
}

function reportGroup({ group, status, accepted }: ReviewedGroup): ReportGroup {
  const { id, confidence, jaccard, fuzzy, discriminative, members, reasons } = group;
  return {
    id,
    confidence,
    jaccard,
    fuzzy,
    discriminative,
    status: statusName(status),
    ...(accepted && { accepted }),
    reasons,
    members: members.map(({ ref, title, primary, wordCount, truncated, hardLink }, at) => {
      const first = members.findIndex((other) => other.hardLink === hardLink);
      return {
        id: ref,
        title,
        primary,
        words: wordCount,
        ...(truncated === true && { truncated }),
        ...(hardLink !== undefined && first < at && { hardLinkOf: members[first]?.ref ?? "" }),
      };
    }),
  };
}

/** As the API writes it. */
export function statusName(status: GroupStatus): string {
  const names = Object.entries(GroupStatus);
  return names.find(([, value]) => value === status)?.[0].toLowerCase() ?? "pending";
}

function limitNotes({ stats: { limitedClasses } }: AnalysisOutcome): string[] {
  return limitedClasses === 0
    ? []
    : [
        `${limitedClasses} texts have too many candidates; only the best, at most 1,024 of each, were compared, so their groups may lack members`,
      ];
}
