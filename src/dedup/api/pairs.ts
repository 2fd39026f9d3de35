/** Scoring any two documents over the API, and what was decided about pairs. */
import { confidenceOf } from "../../../workers/verify/pair-verifier.ts";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { PairDecision, PairService } from "../../gen/steward/dedup/v1/pairs_pb.ts";
import type { DocumentRow } from "../../gen/steward/state/v1/dedup_pb.ts";
import { StewardError } from "../../kernel/base/errors.ts";
import type { BoundService } from "../../kernel/service.ts";
import { bindService } from "../../kernel/service.ts";
import type { AnalysisParameters } from "../analysis/parameters.ts";
import type { Clock } from "../../kernel/base/clock.ts";
import type { Env } from "../../kernel/state/types.ts";
import type { DocumentStore } from "../documents/store.ts";
import type { GroupIndex } from "../groups/index.ts";
import { listRejected, rejectingGroups, restorePair } from "../groups/pair-decisions.ts";
import { documents } from "../tables.ts";
import type { ExplainedPair, PairScorer, TextToScore } from "../groups/pair-scorer.ts";

export interface PairsApiDeps {
  readonly documents: Pick<DocumentStore, "byId" | "text" | "fullText">;
  readonly scorePair: PairScorer;
  /** The parameters as they are set now. */
  readonly parameters: () => AnalysisParameters;
  readonly env: Env;
  readonly index: GroupIndex;
  readonly clock: Clock;
  /** Ids of the groups that readers see with the document. */
  readonly groupsOf: (docNo: number) => readonly string[];
}

/** Groups that an answer names. */
const SHOWN_GROUPS = 100;

/** All methods of PairService. */
export function pairHandlers(deps: PairsApiDeps): BoundService {
  return bindService(PairService, {
    async listPairs({ offset, limit = 50 }, { signal }) {
      const { pairs, total } = await listRejected(deps, { offset, limit }, signal);
      const data = deps.env.read((snapshot) =>
        pairs.flatMap(({ a, b, group, decidedAtMs }) => {
          const [rowA, rowB] = [snapshot.get(documents, a), snapshot.get(documents, b)];
          if (rowA === undefined || rowB === undefined) return [];
          return {
            docA: rowA.id,
            docB: rowB.id,
            titleA: rowA.title,
            titleB: rowB.title,
            decision: PairDecision.NOT_DUPLICATE,
            groupId: group,
            decidedAt: timestampFromMs(decidedAtMs),
          };
        }),
      );
      return { data, meta: { total, limit, offset } };
    },
    async restorePair({ a, b }) {
      if (a === b) throw sameDocument();
      const [one, other] = [documentOf(deps, "a", a).docNo, documentOf(deps, "b", b).docNo];
      const pendingGroupIds = await deps.env.write((tx) =>
        restorePair(tx, deps.index, { a: one, b: other, nowMs: deps.clock.now() }),
      );
      if (pendingGroupIds === undefined)
        throw new StewardError(
          "not_found",
          `nothing was decided about the documents ${a} and ${b}; GET /api/v1/pairs lists decided pairs`,
        );
      return { data: { restored: true, pendingGroupIds } };
    },
    async getPair({ a, b, light }, { signal }) {
      if (a === b) throw sameDocument();
      const rows = [documentOf(deps, "a", a), documentOf(deps, "b", b)] as const;
      const parameters = deps.parameters();
      const [textA, textB] = [textOf(deps, "a", rows[0]), textOf(deps, "b", rows[1])];
      const pair = await deps.scorePair(textA, textB, { parameters, signal });
      const { jaccard, fuzzy, discriminative } = pair.scores;
      const confidence = pair.sameText ? 1 : confidenceOf(pair.scores, parameters);
      const truncated = rows.some((row) => row.truncated);
      const others = new Set(deps.groupsOf(rows[1].docNo));
      const isRejected = deps.env.read(
        (snapshot) => rejectingGroups(snapshot, rows[0].docNo, rows[1].docNo).length > 0,
      );
      return {
        data: {
          docA: rows[0].id,
          docB: rows[1].id,
          confidenceScore: confidence,
          jaccardSimilarity: jaccard,
          fuzzyTextRatio: fuzzy,
          discriminativeScore: discriminative,
          reachesThreshold: confidence >= parameters.similarityThreshold,
          sameText: pair.sameText,
          reasons: reasonsOf(pair, truncated),
          tokens: pair.tokens.map((one) => ({
            ...one,
            shared: [...one.shared],
            onlyA: [...one.onlyA],
            onlyB: [...one.onlyB],
          })),
          truncated,
          ...(isRejected ? { decision: PairDecision.NOT_DUPLICATE } : {}),
          groupIds: deps
            .groupsOf(rows[0].docNo)
            .filter((id) => others.has(id))
            .slice(0, SHOWN_GROUPS),
          ...(light ? {} : await texts(deps, rows)),
        },
      };
    },
  });
}

function sameDocument(): StewardError {
  const message = "a and b must be different documents; name another document as b";
  return new StewardError("invalid", message, {
    field: "b",
    details: [{ path: ["b"], message, code: "invalid_value", rule: "different_documents" }],
  });
}

/** The row of a document. What cannot be an id is no document. */
function documentOf({ documents }: PairsApiDeps, field: "a" | "b", id: string): DocumentRow {
  const row = id.length <= 64 ? documents.byId(id) : undefined;
  if (row === undefined)
    throw new StewardError(
      "not_found",
      `there is no document ${JSON.stringify(id.slice(0, 64))} (${field}); GET /api/v1/documents lists them`,
      { field },
    );
  return row;
}

function textOf({ documents }: PairsApiDeps, field: "a" | "b", row: DocumentRow): TextToScore {
  if (row.contentHash.length === 0)
    throw new StewardError("not_found", `document ${row.id} (${field}) has no text`, { field });
  return {
    hash: row.contentHash,
    bytes() {
      const bytes = documents.text(row);
      if (bytes === undefined)
        throw new StewardError(
          "conflict",
          `the text of document ${row.id} (${field}) is being replaced by a sync; try again`,
          { field },
        );
      return bytes;
    },
  };
}

// Texts that are equal as far as they were read are no exact copies.
function reasonsOf({ reasons, sameText }: ExplainedPair, truncated: boolean): string[] {
  if (!truncated) return [...reasons];
  return [
    ...(sameText ? ["as far as they were read, the texts are the same, word for word"] : reasons),
    "only the beginning of at least one text was compared",
  ];
}

async function texts(
  { documents }: PairsApiDeps,
  [a, b]: readonly [DocumentRow, DocumentRow],
): Promise<{ textA: object; textB: object }> {
  const [textA, textB] = await Promise.all(
    [a, b].map(async (row) => {
      const fullText = await documents.fullText(row);
      return fullText === undefined ? {} : { fullText, wordCount: row.wordCount };
    }),
  );
  return { textA: textA ?? {}, textB: textB ?? {} };
}
