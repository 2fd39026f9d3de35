/** The groups of highest confidence as a graph: documents are nodes, verified pairs are edges. */
import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  GraphEdgeSchema,
  GraphNodeSchema,
  GraphSchema,
} from "../../gen/steward/dedup/v1/statistics_pb.ts";
import type { DocumentRow } from "../../gen/steward/state/v1/dedup_pb.ts";
import { Turns } from "../../kernel/async/turns.ts";
import type { Env, Snapshot } from "../../kernel/state/types.ts";
import { documents } from "../tables.ts";
import { statusOf } from "./decision.ts";
import type { GroupFilter, GroupIndex } from "./index.ts";
import { visibleMembers } from "./review.ts";
import { memberPairs } from "./row.ts";
import { readGroup, type StoredGroup } from "./store.ts";

const MAX_NODES = 20_000;
const MAX_EDGES = 20_000;
/** One group cannot take them all, nor hold the thread. */
const MAX_GROUP_EDGES = 1_000;

export interface GraphDeps {
  readonly env: Pick<Env, "read">;
  readonly index: Pick<GroupIndex, "select">;
}

type Edge = MessageInitShape<typeof GraphEdgeSchema>;

interface Node {
  readonly document: DocumentRow;
  groupCount: number;
}

/** Reads a group at a time and gives way to other work between them. */
export async function readGraph(
  { env, index }: GraphDeps,
  filter: GroupFilter,
  { maxGroups, signal }: { readonly maxGroups: number; readonly signal: AbortSignal },
): Promise<MessageInitShape<typeof GraphSchema>> {
  const { ids, total } = index.select(
    filter,
    { by: "confidence", descending: true },
    { offset: 0, limit: maxGroups },
  );
  const nodes = new Map<number, Node>();
  const edges: Edge[] = [];
  const drawn = { nodes, edges, truncated: false };
  let included = 0;
  const turns = new Turns();
  for (const id of ids) {
    if (turns.over) await turns.give(signal);
    included += env.read((snapshot) => {
      const group = readGroup(snapshot, id);
      if (group !== undefined) drawGroup(snapshot, group, drawn);
      return group === undefined ? 0 : 1;
    });
  }
  return {
    nodes: Array.from(nodes.values(), showNode),
    edges,
    totalGroupsMatched: total,
    groupsIncluded: included,
    truncated: drawn.truncated,
  };
}

interface Drawn {
  readonly nodes: Map<number, Node>;
  readonly edges: Edge[];
  truncated: boolean;
}

function drawGroup(snapshot: Snapshot, group: StoredGroup, drawn: Drawn): void {
  const { row, decision } = group;
  const { nodes, edges } = drawn;
  const members = visibleMembers(group);
  for (const docNo of members) {
    const known = nodes.get(docNo);
    if (known !== undefined) known.groupCount += 1;
    else if (nodes.size < MAX_NODES) {
      const document = snapshot.get(documents, docNo);
      if (document !== undefined) nodes.set(docNo, { document, groupCount: 1 });
    } else drawn.truncated = true;
  }
  if (members.length === 0) return;
  const limit = Math.min(MAX_GROUP_EDGES, MAX_EDGES - edges.length);
  const pairs = memberPairs(row, limit + 1);
  if (pairs.length > limit) drawn.truncated = true;
  for (const { a, b, confidence } of pairs.slice(0, limit)) {
    const [source, target] = [nodes.get(a)?.document.id, nodes.get(b)?.document.id];
    if (source === undefined || target === undefined) continue;
    edges.push({
      source,
      target,
      groupId: row.id,
      confidenceScore: confidence,
      groupConfidence: row.confidence,
      status: statusOf(row, decision),
    });
  }
}

function showNode({ document, groupCount }: Node): MessageInitShape<typeof GraphNodeSchema> {
  const { id, title, archive, paperlessId, correspondent, documentType } = document;
  return {
    id,
    title,
    archive,
    groupCount,
    ...(paperlessId === undefined ? {} : { paperlessId }),
    ...(correspondent === undefined ? {} : { correspondent }),
    ...(documentType === undefined ? {} : { documentType }),
  };
}
