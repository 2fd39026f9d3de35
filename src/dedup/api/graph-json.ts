/**
 * The graph as REST JSON, written once for all that ask for the same: reading 500 groups and writing
 * half a megabyte takes longer than all else in a request.
 */
import { create } from "@bufbuild/protobuf";
import {
  GetGraphResponseSchema,
  StatisticsService,
} from "../../gen/steward/dedup/v1/statistics_pb.ts";
import type { GetGraphRequest } from "../../gen/steward/dedup/v1/statistics_pb.ts";
import type { WrittenJson } from "../../kernel/service.ts";
import { writeRestJson } from "../../kernel/wire/rest-json.ts";
import type { DocumentIndex } from "../documents/index.ts";
import { readGraph, type GraphDeps } from "../groups/graph-view.ts";
import type { GroupIndex } from "../groups/index.ts";
import { groupFilterOf } from "./group-filter.ts";

export interface GraphJsonDeps extends GraphDeps {
  readonly documents: Pick<DocumentIndex, "revision">;
  readonly index: Pick<GroupIndex, "select" | "revision">;
}

/** Graphs kept, of at most some megabytes each. */
const KEPT = 4;
export const DEFAULT_GROUPS = 100;

interface Kept {
  /** Of groups and documents when it was begun. */
  readonly revision: string;
  readonly json: WrittenJson;
}

/** Answers with what was written before, unless groups or documents have changed since. */
export function createGraphJson(
  deps: GraphJsonDeps,
): (request: GetGraphRequest, signal: AbortSignal) => Promise<WrittenJson> {
  const kept = new Map<string, Kept>();
  return async (request, signal) => {
    const { minConfidence, maxConfidence, status, maxGroups = DEFAULT_GROUPS } = request;
    const key = JSON.stringify([minConfidence, maxConfidence, status, maxGroups]);
    const revision = `${deps.index.revision} ${deps.documents.revision}`;
    const known = kept.get(key);
    const found =
      known?.revision === revision
        ? known
        : {
            revision,
            json: write(await readGraph(deps, groupFilterOf(request), { maxGroups, signal })),
          };
    kept.delete(key);
    kept.set(key, found);
    for (const oldest of kept.keys()) {
      if (kept.size <= KEPT) break;
      kept.delete(oldest);
    }
    return found.json;
  };
}

function write(data: Awaited<ReturnType<typeof readGraph>>): WrittenJson {
  const text = writeRestJson(
    StatisticsService.method.getGraph,
    create(GetGraphResponseSchema, { data }),
  );
  const shared = new Uint8Array(new SharedArrayBuffer(Buffer.byteLength(text)));
  Buffer.from(shared.buffer).write(text);
  return { encoding: undefined, pieces: [shared] };
}
