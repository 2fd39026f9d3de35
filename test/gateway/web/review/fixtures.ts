/** Facts of the review pages, as the API answers them. */
import type {
  Document,
  Group,
  GroupMember,
  GroupSummary,
  Job,
} from "../../../../src/gen/dedup-json.ts";
import type { Activity, DuplicatesFacts } from "../../../../gateway/web/review/load.ts";
import type { PageState } from "../../../../gateway/web/page-state.ts";

const NOW_MS = Date.parse("2026-01-02T00:00:00.000Z");

export function stateOf(query = ""): PageState {
  return { params: new URLSearchParams(query), nowMs: NOW_MS, zone: "UTC", panel: undefined };
}

export function summary(id: string, fields: Partial<GroupSummary> = {}): GroupSummary {
  return {
    id,
    status: "pending",
    confidenceScore: 0.9,
    jaccardSimilarity: 0.88,
    fuzzyTextRatio: 0.95,
    discriminativeScore: 1,
    memberCount: 2,
    archivedMemberCount: null,
    primaryDocumentTitle: `Title ${id}`,
    primaryPaperlessId: null,
    createdAt: "2026-01-01T00:00:00.000Z",
    updatedAt: "2026-01-01T00:00:00.000Z",
    accepted: false,
    ...fields,
  };
}

export function member(id: string, fields: Partial<GroupMember> = {}): GroupMember {
  return {
    memberId: `m-${id}`,
    documentId: id,
    isPrimary: false,
    paperlessId: null,
    title: `Document ${id}`,
    correspondent: null,
    documentType: null,
    tags: [],
    createdDate: "2025-05-06T00:00:00Z",
    content: { fullText: null, wordCount: 12 },
    archive: "papers",
    archiveRef: `${id}.txt`,
    truncated: false,
    ...fields,
  };
}

export function group(id: string, fields: Partial<Group> = {}): Group {
  const { jaccardSimilarity, fuzzyTextRatio, discriminativeScore } = summary(id);
  return {
    id,
    status: "pending",
    confidenceScore: 0.9,
    jaccardSimilarity,
    fuzzyTextRatio,
    discriminativeScore,
    algorithmVersion: "3",
    archivedMemberCount: null,
    archivedPrimaryTitle: null,
    deletedAt: null,
    createdAt: "2026-01-01T00:00:00.000Z",
    updatedAt: "2026-01-01T00:00:00.000Z",
    members: [member("a", { isPrimary: true }), member("b")],
    pairs: [],
    reasons: ["88 % of three-word phrases shared"],
    history: [],
    accepted: false,
    ...fields,
  };
}

export function job(type: Job["type"], status: Job["status"], fields: Partial<Job> = {}): Job {
  return {
    id: `${type}-1`,
    type,
    status,
    progress: 1,
    progressMessage: "",
    startedAt: "2026-01-01T23:00:00.000Z",
    completedAt: "2026-01-01T23:00:00.000Z",
    createdAt: "2026-01-01T23:00:00.000Z",
    errorMessage: null,
    resultJson: null,
    phaseProgress: null,
    operation: null,
    result: null,
    ...fields,
  } as Job;
}

export function activity(fields: Partial<Activity> = {}): Activity {
  return {
    sync: {
      lastSyncAt: "2026-01-01T23:00:00.000Z",
      lastSyncDocumentCount: 3,
      totalDocuments: 3,
      isSyncing: false,
      currentJobId: null,
    },
    analysis: {
      lastAnalysisAt: "2026-01-01T23:30:00.000Z",
      totalDuplicateGroups: 1,
      isAnalyzing: false,
      currentJobId: null,
      analysisStale: false,
      warnings: [],
    },
    waiting: 0,
    failed: [],
    accepted: 0,
    ...fields,
  };
}

export function facts(
  rows: readonly GroupSummary[],
  fields: Partial<Activity> = {},
  total = rows.length,
): DuplicatesFacts {
  return {
    list: {
      value: { data: rows, meta: { total, totalMemberCount: 2 * total, limit: 50, offset: 0 } },
    },
    activity: { value: activity(fields) },
    open: undefined,
  };
}

export function document(fields: Partial<Document> = {}): Document {
  return {
    id: "a",
    paperlessId: null,
    firstSeenAt: null,
    pageCount: null,
    title: "Document a",
    correspondent: null,
    documentType: null,
    tags: [],
    createdDate: null,
    addedDate: null,
    processingStatus: "completed",
    archive: "papers",
    archiveRef: "a.txt",
    modifiedDate: null,
    fingerprint: "",
    syncedAt: "2026-01-01T00:00:00.000Z",
    content: { fullText: "some text", normalizedText: "some text", wordCount: 2, contentHash: "" },
    groupMemberships: [],
    truncated: false,
    ...fields,
  };
}
