/** Groups in the shapes of the API. */
import { createHash } from "node:crypto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { GroupMembershipSchema } from "../../gen/steward/dedup/v1/documents_pb.ts";
import type {
  GroupMemberSchema,
  GroupPairSchema,
  GroupSchema,
} from "../../gen/steward/dedup/v1/duplicates_pb.ts";
import type { GroupStatus } from "../../gen/steward/dedup/v1/groups_pb.ts";
import type { DocumentRow } from "../../gen/steward/state/v1/dedup_pb.ts";
import type { Snapshot } from "../../kernel/state/types.ts";
import { documents } from "../tables.ts";
import { isAccepted } from "./acceptance.ts";
import { historyOf, statusOf } from "./decision.ts";
import { currentView } from "./generations.ts";
import { visibleMembers } from "./review.ts";
import { memberPairs, primaryOf } from "./row.ts";
import type { StoredGroup } from "./store.ts";
import { groupsOf } from "./store.ts";

/** The most pairs an answer holds. */
const SHOWN_PAIRS = 1_000;

/** The fields that every view of a group has. */
interface ShownScores {
  readonly id: string;
  readonly status: GroupStatus;
  /** In the delete plan. */
  readonly accepted: boolean;
  readonly confidenceScore: number;
  readonly jaccardSimilarity?: number;
  readonly fuzzyTextRatio?: number;
  readonly discriminativeScore?: number;
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
}

/** A group as lists show it. */
export interface ShownSummary extends ShownScores {
  readonly memberCount: number;
  readonly archivedMemberCount?: number;
  readonly primaryDocumentTitle?: string;
  readonly primaryPaperlessId?: number;
}

/** A group as lists show it; a deleted one has no members, only their number. */
export function showSummary(snapshot: Snapshot, group: StoredGroup): ShownSummary {
  const { row, decision } = group;
  const memberCount = visibleMembers(group).length;
  const primary = memberCount === 0 ? undefined : primaryOf(row, decision);
  const document = primary === undefined ? undefined : snapshot.get(documents, primary);
  const title = document?.title ?? decision.archivedPrimaryTitle;
  return {
    ...showScores(group),
    memberCount,
    ...(decision.archivedMemberCount === undefined
      ? {}
      : { archivedMemberCount: decision.archivedMemberCount }),
    ...(title === undefined ? {} : { primaryDocumentTitle: title }),
    ...(document?.paperlessId === undefined ? {} : { primaryPaperlessId: document.paperlessId }),
  };
}

function showScores({ row, decision }: StoredGroup): ShownScores {
  return {
    id: row.id,
    status: statusOf(row, decision),
    accepted: isAccepted(row, decision),
    confidenceScore: row.confidence,
    ...(row.jaccard === undefined ? {} : { jaccardSimilarity: row.jaccard }),
    ...(row.fuzzy === undefined ? {} : { fuzzyTextRatio: row.fuzzy }),
    ...(row.discriminative === undefined ? {} : { discriminativeScore: row.discriminative }),
    createdAt: timestampFromMs(decision.createdAtMs),
    updatedAt: timestampFromMs(Math.max(row.updatedAtMs, decision.updatedAtMs)),
  };
}

/** A member and the text to show of it; undefined leaves the text out. */
export interface ShownMember {
  readonly document: DocumentRow;
  readonly fullText: string | undefined;
}

/**
 * The documents of a group that readers see, the primary first, the others in the order of the
 * group.
 */
export function shownDocuments(snapshot: Snapshot, group: StoredGroup): DocumentRow[] {
  const primary = primaryOf(group.row, group.decision);
  const rows = visibleMembers(group).flatMap((docNo) => snapshot.get(documents, docNo) ?? []);
  return [
    ...rows.filter(({ docNo }) => docNo === primary),
    ...rows.filter(({ docNo }) => docNo !== primary),
  ];
}

/** A whole group. */
export function showGroup(
  group: StoredGroup,
  members: readonly ShownMember[],
): MessageInitShape<typeof GroupSchema> {
  const { row, decision } = group;
  const ids = new Map(members.map(({ document }) => [document.docNo, document.id]));
  const primary = primaryOf(row, decision);
  return {
    ...showScores(group),
    algorithmVersion: row.algorithmVersion,
    ...(decision.archivedMemberCount === undefined
      ? {}
      : { archivedMemberCount: decision.archivedMemberCount }),
    ...(decision.archivedPrimaryTitle === undefined
      ? {}
      : { archivedPrimaryTitle: decision.archivedPrimaryTitle }),
    ...(decision.deletedAtMs === undefined
      ? {}
      : { deletedAt: timestampFromMs(decision.deletedAtMs) }),
    members: members.map((member) => showMember(row.id, member, member.document.docNo === primary)),
    pairs: members.length === 0 ? [] : showPairs(group, ids),
    reasons: row.reasons,
    history: historyOf(row, decision).map(({ status, decidedAtMs }) => ({
      status: status as GroupStatus,
      decidedAt: timestampFromMs(decidedAtMs),
    })),
  };
}

function showMember(
  groupId: string,
  { document, fullText }: ShownMember,
  isPrimary: boolean,
): MessageInitShape<typeof GroupMemberSchema> {
  const {
    id,
    title,
    tags,
    archive,
    archiveRef,
    paperlessId,
    correspondent,
    documentType,
    createdDate,
    contentHash,
    wordCount,
    truncated,
  } = document;
  return {
    truncated,
    memberId: memberId(groupId, id),
    documentId: id,
    isPrimary,
    title,
    tags,
    archive,
    archiveRef,
    ...(paperlessId === undefined ? {} : { paperlessId }),
    ...(correspondent === undefined ? {} : { correspondent }),
    ...(documentType === undefined ? {} : { documentType }),
    ...(createdDate === undefined ? {} : { createdDate }),
    ...(contentHash.length === 0
      ? {}
      : { content: { wordCount, ...(fullText === undefined ? {} : { fullText }) } }),
  };
}

/** 21 characters that stay the same as long as the group and the document do. */
function memberId(groupId: string, documentId: string): string {
  return createHash("sha256").update(`${groupId}\0${documentId}`).digest("base64url").slice(0, 21);
}

function showPairs(
  { row }: StoredGroup,
  ids: ReadonlyMap<number, string>,
): MessageInitShape<typeof GroupPairSchema>[] {
  return memberPairs(row, SHOWN_PAIRS).flatMap(
    ({ a, b, confidence, jaccard, fuzzy, discriminative }) => {
      const [docA, docB] = [ids.get(a), ids.get(b)];
      if (docA === undefined || docB === undefined) return [];
      return [
        {
          docA,
          docB,
          confidenceScore: confidence,
          jaccardSimilarity: jaccard,
          fuzzyTextRatio: Number.isNaN(fuzzy) ? 0 : fuzzy,
          discriminativeScore: Number.isNaN(discriminative) ? 1 : discriminative,
        },
      ];
    },
  );
}

/** The groups a document is in, except deleted ones. */
export function showMemberships(
  snapshot: Snapshot,
  docNo: number,
): MessageInitShape<typeof GroupMembershipSchema>[] {
  return groupsOf(snapshot, currentView(snapshot), [docNo]).flatMap((group) => {
    if (visibleMembers(group).length === 0) return [];
    const { row, decision } = group;
    return [
      {
        groupId: row.id,
        confidenceScore: row.confidence,
        isPrimary: primaryOf(row, decision) === docNo,
        status: statusOf(row, decision),
      },
    ];
  });
}
