/** The dashboard, counts over documents and groups, and the graph, over the API. */
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { GroupStatus } from "../../gen/steward/dedup/v1/groups_pb.ts";
import { StatisticsService } from "../../gen/steward/dedup/v1/statistics_pb.ts";
import type { GetGraphRequest } from "../../gen/steward/dedup/v1/statistics_pb.ts";
import { bindService } from "../../kernel/service.ts";
import type { BoundService, JsonHandler } from "../../kernel/service.ts";
import type { Env } from "../../kernel/state/types.ts";
import type { DocumentIndex } from "../documents/index.ts";
import type { Matching } from "../documents/matching.ts";
import type { NameCount } from "../documents/statistics.ts";
import { readGraph } from "../groups/graph-view.ts";
import type { GroupIndex } from "../groups/index.ts";
import { createGroupCounts } from "../groups/statistics.ts";
import { metaNumber } from "../meta.ts";
import { createGraphJson, DEFAULT_GROUPS } from "./graph-json.ts";
import { groupFilterOf } from "./group-filter.ts";

export interface StatisticsApiDeps {
  readonly env: Env;
  readonly documents: Pick<
    DocumentIndex,
    "correspondent" | "pending" | "revision" | "size" | "statistics"
  >;
  readonly matching: Matching;
  readonly index: GroupIndex;
  /** What takes no part in the search for duplicates. */
  readonly skipped: () => number;
  /** Whether an analysis with the parameters in effect may give other groups than the stored ones. */
  readonly analysisStale: () => Promise<boolean>;
}

/** All methods of StatisticsService. */
export function statisticsHandlers(deps: StatisticsApiDeps): BoundService {
  const { env, documents, index } = deps;
  const count = createGroupCounts({ index, documents });
  const graphJson = createGraphJson({ env, index, documents });
  const bound = bindService(StatisticsService, {
    async getDashboard() {
      const groups = await count();
      const analysisStale = await deps.analysisStale();
      const { syncedAtMs, synced, analysedAtMs, totalGroups } = env.read((snapshot) => ({
        syncedAtMs: metaNumber(snapshot, "lastSyncAtMs"),
        synced: metaNumber(snapshot, "lastSyncCount"),
        analysedAtMs: metaNumber(snapshot, "lastAnalysisAtMs"),
        totalGroups: metaNumber(snapshot, "totalGroups"),
      }));
      return {
        data: {
          totalDocuments: documents.size,
          pendingGroups: groups.byStatus.get(GroupStatus.PENDING) ?? 0,
          pendingAnalysis: documents.pending,
          ...(syncedAtMs === undefined ? {} : { lastSyncAt: timestampFromMs(syncedAtMs) }),
          ...(analysedAtMs === undefined ? {} : { lastAnalysisAt: timestampFromMs(analysedAtMs) }),
          ...(synced === undefined ? {} : { lastSyncDocumentCount: synced }),
          ...(totalGroups === undefined ? {} : { totalDuplicateGroups: totalGroups }),
          topCorrespondents: groups.correspondents.map(showCorrespondent),
          analysisStale,
          ...arrivedSince(deps, syncedAtMs),
          skippedDocuments: deps.skipped(),
          ...(analysisStale ? { analysisStaleReason: "config_changed" } : {}),
        },
      };
    },
    async getDocumentStatistics() {
      const groups = await count();
      const found = documents.statistics();
      const { total, pending, withContent } = found;
      const usage = env.read((snapshot) => ({
        cumulativeGroupsActioned: metaNumber(snapshot, "groupsActioned") ?? 0,
        cumulativeDocumentsDeleted: metaNumber(snapshot, "documentsDeleted") ?? 0,
      }));
      return {
        data: {
          totalDocuments: total,
          ocrCoverage: {
            withContent,
            withoutContent: total - withContent,
            percentage: percent(withContent, total),
          },
          processingStatus: { pending, completed: total - pending },
          correspondentDistribution: [...found.correspondents],
          documentTypeDistribution: [...found.documentTypes],
          tagDistribution: [...found.tags],
          averageWordCount: found.averageWordCount,
          documentsOverTime: found.addedMonths.map((each) => ({
            month: each.name,
            count: each.count,
          })),
          wordCountDistribution: found.lengths.map((each) => ({
            bucket: each.name,
            count: each.count,
          })),
          unclassified: {
            noCorrespondent: found.withoutCorrespondent,
            noDocumentType: found.withoutType,
            noTags: found.withoutTags,
          },
          duplicateInvolvement: {
            documentsInGroups: groups.documents,
            percentage: percent(groups.documents, total),
          },
          usageStats: usage,
        },
      };
    },
    async getGroupStatistics() {
      const groups = await count();
      const of = (status: GroupStatus): number => groups.byStatus.get(status) ?? 0;
      return {
        data: {
          totalGroups: groups.total,
          pendingGroups: of(GroupStatus.PENDING),
          falsePositiveGroups: of(GroupStatus.FALSE_POSITIVE),
          ignoredGroups: of(GroupStatus.IGNORED),
          deletedGroups: of(GroupStatus.DELETED),
          confidenceDistribution: [...groups.confidences],
          topCorrespondents: groups.correspondents.map(showCorrespondent),
        },
      };
    },
    async getGraph(request, { signal }) {
      const maxGroups = request.maxGroups ?? DEFAULT_GROUPS;
      return {
        data: await readGraph({ env, index }, groupFilterOf(request), { maxGroups, signal }),
      };
    },
  });
  const json: JsonHandler = (request, { signal }) => graphJson(request as GetGraphRequest, signal);
  return {
    ...bound,
    json: (method) => (method.localName === "getGraph" ? json : undefined),
  };
}

function arrivedSince(
  { matching, index }: StatisticsApiDeps,
  sinceMs: number | undefined,
): { readonly arrivedDocuments: number; readonly arrivedGroups: number } {
  if (sinceMs === undefined) return { arrivedDocuments: 0, arrivedGroups: 0 };
  const found = matching({ sinceMs });
  const { total } = index.select(
    { ...groupFilterOf({ status: [] }), arrived: { sinceMs, documents: found } },
    { by: "createdAt", descending: true },
    { offset: 0, limit: 0 },
  );
  return { arrivedDocuments: found.size, arrivedGroups: total };
}

function showCorrespondent({ name, count }: NameCount) {
  return { correspondent: name, groupCount: count };
}

function percent(part: number, whole: number): number {
  return whole === 0 ? 0 : Math.round((100 * part) / whole);
}
