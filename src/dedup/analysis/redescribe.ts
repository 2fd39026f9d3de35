/**
 * What an analysis does when only dates and other metadata have changed since the last one: the
 * groups stand, with their scores, and those of the changed documents are described anew. Nothing
 * is signed, joined or verified.
 */
import type { DocumentRow, GroupRow } from "../../gen/steward/state/v1/dedup_pb.ts";
import type { Clock } from "../../kernel/base/clock.ts";
import type { JobContext } from "../../kernel/jobs/types.ts";
import type { Pool } from "../../kernel/pool/types.ts";
import type { Env } from "../../kernel/state/types.ts";
import type { DocumentStore } from "../documents/store.ts";
import { describeGroups } from "../groups/describe.ts";
import type { Description } from "../groups/describe.ts";
import type { PlannedGroup } from "../groups/generation-writer.ts";
import { createGenerationWriter, sweepGenerations } from "../groups/generation-writer.ts";
import type { Findings } from "../groups/graph.ts";
import type { GroupIndex } from "../groups/index.ts";
import { pairsOfRow } from "../groups/row.ts";
import type { Steps } from "../groups/steps.ts";
import { runInSlices } from "../groups/steps.ts";
import { readGroup } from "../groups/store.ts";
import { documents } from "../tables.ts";
import type { AnalysisParameters } from "./parameters.ts";
import { analysisFingerprint, weightsFingerprint } from "./staleness.ts";

interface RedescribeDeps {
  readonly env: Env;
  readonly documents: Pick<DocumentStore, "index" | "text">;
  readonly index: GroupIndex;
  readonly pool: Pool;
  readonly clock: Clock;
  readonly parameters: AnalysisParameters;
  /** Ids of decided groups that the last analysis did not find: what is said of them stays. */
  readonly kept: ReadonlySet<string>;
  /** Revision of the documents that the groups were described with. */
  readonly revision: number;
}

/** Groups that are described at once. */
const GROUPS_AT_ONCE = 64;

/**
 * Writes a generation in which the groups of changed documents have new primaries and reasons.
 * Answers how many of them differ. Rejects with the signal's reason.
 */
export async function redescribe(
  job: Pick<JobContext<unknown>, "phase" | "commit" | "signal">,
  deps: RedescribeDeps,
): Promise<number> {
  const { clock, index, parameters } = deps;
  const readAtMs = clock.now();
  await sweepGenerations((change) => job.commit(change));
  const writer = await createGenerationWriter((change) => job.commit(change), index, readAtMs);
  const ids = await runInSlices(changedGroups(deps), { clock, signal: job.signal });
  writer.leave(index.size - ids.length);
  const phase = job.phase("write", ids.length);
  for (let at = 0; at < ids.length; at += GROUPS_AT_ONCE) {
    await writer.write(
      await plan(ids.slice(at, at + GROUPS_AT_ONCE), { ...deps, readAtMs, signal: job.signal }),
    );
    const done = Math.min(at + GROUPS_AT_ONCE, ids.length);
    phase.step(done, `${done} of ${ids.length} groups described anew`);
  }
  await writer.flip({
    atMs: clock.now(),
    fingerprint: analysisFingerprint(parameters),
    weights: weightsFingerprint(parameters),
  });
  await sweepGenerations((change) => job.commit(change));
  return writer.count("updated");
}

function* changedGroups({
  index,
  documents: { index: list },
  kept,
  revision,
}: RedescribeDeps): Steps<string[]> {
  const ids: string[] = [];
  let steps = 0;
  for (const { id, members } of index.listed()) {
    if (!kept.has(id) && members.some((docNo) => list.changedSince(docNo, revision))) ids.push(id);
    steps += 1 + members.length;
    if (steps < 4_096) continue;
    steps = 0;
    yield;
  }
  return ids;
}

async function plan(
  ids: readonly string[],
  deps: RedescribeDeps & { readonly readAtMs: number; readonly signal: AbortSignal },
): Promise<PlannedGroup[]> {
  const { env, readAtMs } = deps;
  const { rows, documentRows } = env.read((snapshot) => {
    const own = ids.flatMap((id) => readGroup(snapshot, id)?.row ?? []);
    const found = new Map<number, DocumentRow>();
    for (const docNo of new Set(own.flatMap(({ members }) => members))) {
      const row = snapshot.get(documents, docNo);
      if (row) found.set(docNo, row);
    }
    return { rows: own, documentRows: found };
  });
  const descriptions = await describeGroups(
    rows.map((row) => findingsOf(row, documentRows)),
    {
      pool: deps.pool,
      parameters: deps.parameters,
      signal: deps.signal,
      facts: (docNo) => documentRows.get(docNo),
      text: (docNo) => {
        const row = documentRows.get(docNo);
        return row && deps.documents.text(row);
      },
    },
  );
  return rows.map((row, at): PlannedGroup => {
    const { primary, reasons } = descriptions[at] ?? saidBy(row);
    const same = primary === row.suggestedPrimary && equal(reasons, row.reasons);
    return {
      row: { ...row, suggestedPrimary: primary, reasons: [...reasons], updatedAtMs: readAtMs },
      kept: false,
      isStored: false,
      change: same ? "none" : "updated",
    };
  });
}

function saidBy({ suggestedPrimary, reasons }: GroupRow): Description {
  return { primary: suggestedPrimary, reasons };
}

function equal(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((one, at) => one === b[at]);
}

/** A stored group as the analysis found it. */
function findingsOf(row: GroupRow, rows: ReadonlyMap<number, DocumentRow>): Findings {
  const hashes = row.members.map((docNo) =>
    Buffer.from(rows.get(docNo)?.contentHash ?? new Uint8Array()).toString("latin1"),
  );
  // Ranks only order: the place among the group's own texts serves as well as that among all.
  const rankOf = new Map([...new Set(hashes)].sort().map((hash, rank) => [hash, rank]));
  const { confidence } = row;
  const { jaccard = Number.NaN, fuzzy = Number.NaN, discriminative = Number.NaN } = row;
  return {
    members: row.members,
    texts: row.memberTexts,
    ranks: hashes.map((hash) => rankOf.get(hash) ?? 0),
    pairs: pairsOfRow(row),
    scores: { confidence, jaccard, fuzzy, discriminative },
  };
}
