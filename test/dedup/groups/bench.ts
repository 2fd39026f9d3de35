/**
 * A store with documents, a list of groups and an analysis over them, for the tests of groups and
 * of the job.
 */
import { create } from "@bufbuild/protobuf";
import type { AnalysisInput, AnalysisResult } from "../../../src/dedup/analysis/job.ts";
import { createAnalysisJob } from "../../../src/dedup/analysis/job.ts";
import type { AnalysisParameters } from "../../../src/dedup/analysis/parameters.ts";
import { defaultParameters } from "../../../src/dedup/analysis/parameters.ts";
import type { SketchStore } from "../../../src/dedup/analysis/sketch-store.ts";
import {
  createEnvJoinStore,
  createEnvVerdictStore,
  createMemorySketchStore,
  sketchTables,
} from "../../../src/dedup/analysis/sketch-store.ts";
import type { Archive, ArchiveItem } from "../../../src/dedup/archives/archive.ts";
import type { DocumentStore } from "../../../src/dedup/documents/store.ts";
import { openDocumentStore } from "../../../src/dedup/documents/store.ts";
import type { GroupIndex } from "../../../src/dedup/groups/index.ts";
import type { Membership } from "../../../src/dedup/groups/membership.ts";
import { createMembership } from "../../../src/dedup/groups/membership.ts";
import type { StoredGroup } from "../../../src/dedup/groups/store.ts";
import { openGroupIndex, readGroup } from "../../../src/dedup/groups/store.ts";
import { createSyncJob } from "../../../src/dedup/sync/job.ts";
import { decisions, documents, groups, meta, texts } from "../../../src/dedup/tables.ts";
import { GroupStatus } from "../../../src/gen/steward/dedup/v1/groups_pb.ts";
import { DocumentRowSchema } from "../../../src/gen/steward/state/v1/dedup_pb.ts";
import type { DocumentRow } from "../../../src/gen/steward/state/v1/dedup_pb.ts";
import type { Clock } from "../../../src/kernel/base/clock.ts";
import { systemClock } from "../../../src/kernel/base/clock.ts";
import { StewardError } from "../../../src/kernel/base/errors.ts";
import type { JobContext, JobType } from "../../../src/kernel/jobs/types.ts";
import type { Env, Tx } from "../../../src/kernel/state/types.ts";
import { compressText } from "../../../workers/text/compress.ts";
import { normalise } from "../../../workers/text/normalise.ts";
import { countWords, textHash } from "../../workers/text/identity.ts";
import { openEnv, temporaryFolder } from "../../kernel/state/fixtures/tables.ts";
import type { InlinePool } from "../inline-pool.ts";
import { createInlinePool } from "../inline-pool.ts";
import { countingIds } from "../store-bench.ts";

/** What a document may have beside its text. */
type Fields = Partial<
  Pick<DocumentRow, "title" | "correspondent" | "tags" | "createdDate" | "paperlessId" | "pending">
>;

/** What tests work with. */
export interface Bench {
  readonly env: Env;
  readonly documents: DocumentStore;
  readonly index: GroupIndex;
  readonly membership: Membership;
  readonly sketches: SketchStore;
  /** How often the record of the last join was read: once by an analysis that compares. */
  readonly comparisons: { count: number };
  /** Runs each task here and counts it. */
  readonly pool: InlinePool;
  readonly clock: Clock & { advance(ms: number): void };
  readonly job: JobType<AnalysisInput, AnalysisResult>;
  /** Stores a document, or its new text and fields; a new text waits for the next analysis. */
  put(docNo: number, text: string, fields?: Fields): Promise<void>;
  remove(docNo: number): Promise<void>;
  /** Runs a sync of the archive `box`, which has what `read` gives, batch by batch. */
  sync(read: () => AsyncIterable<readonly ArchiveItem[]>): Promise<void>;
  /** Runs the job to its end; `beforeCommit` sees each transaction before it happens. */
  analyse(options?: {
    force?: boolean;
    signal?: AbortSignal;
    beforeCommit?: (count: number) => void | Promise<void>;
  }): Promise<AnalysisResult>;
  /** All groups that readers see, by the order of their members. */
  groups(): StoredGroup[];
  group(id: string): StoredGroup | undefined;
  close(): Promise<void>;
}

/** Every status. */
export const allStatuses: ReadonlySet<GroupStatus> = new Set([
  GroupStatus.PENDING,
  GroupStatus.FALSE_POSITIVE,
  GroupStatus.IGNORED,
  GroupStatus.DELETED,
]);

/** A clock whose wall time the test moves; the other one is the machine's. */
function createTestClock(): Clock & { advance(ms: number): void } {
  let now = Date.UTC(2026, 0, 1);
  return { ...systemClock, now: () => now, advance: (ms) => void (now += ms) };
}

/** Opens a bench in a folder of its own, or in one that another bench has left. */
export async function openBench(
  options: {
    directory?: string;
    parameters?: Partial<AnalysisParameters>;
    sketches?: SketchStore;
  } = {},
): Promise<Bench> {
  const directory = options.directory ?? temporaryFolder();
  const env = await openEnv(directory, { tables: [documents, groups, decisions, meta] });
  const textEnv = await openEnv(`${directory}/text`, { tables: [texts] });
  const signal = new AbortController().signal;
  const store = await openDocumentStore({ env, textEnv }, { archiveOrder: ["box"], signal });
  const index = await openGroupIndex(env, { signal });
  const clock = createTestClock();
  const ids = countingIds();
  const sketches = options.sketches ?? createMemorySketchStore();
  const sketchEnv = await openEnv(`${directory}/sketch`, { tables: sketchTables });
  const verdicts = createEnvVerdictStore(sketchEnv);
  const joins = createEnvJoinStore(sketchEnv);
  const comparisons = { count: 0 };
  const pool = createInlinePool();
  const membership = createMembership(index);
  const job = createAnalysisJob({
    env,
    documents: store,
    index,
    sketches,
    verdicts,
    joins: {
      ...joins,
      load(fingerprint) {
        comparisons.count += 1;
        return joins.load(fingerprint);
      },
    },
    pool,
    clock,
    parameters: () => ({ ...defaultParameters, ...options.parameters }),
  });
  return {
    env,
    documents: store,
    index,
    membership,
    sketches,
    comparisons,
    pool,
    clock,
    job,
    async put(docNo, text, fields = {}) {
      clock.advance(1_000);
      const normalised = normalise(text);
      const contentHash =
        normalised === "" ? new Uint8Array() : new Uint8Array(textHash(normalised));
      if (normalised !== "")
        await store.putTexts([{ docNo, contentHash, zstd: compressText(text, 1) }]);
      const row = create(DocumentRowSchema, {
        docNo,
        id: `document-${docNo}`,
        archive: "box",
        archiveRef: `${docNo}.txt`,
        title: `Title ${docNo}`,
        contentHash,
        wordCount: countWords(normalised),
        pending: true,
        syncedAtMs: clock.now(),
        ...fields,
      });
      await env.write((tx) => store.put(tx, row));
    },
    async remove(docNo) {
      clock.advance(1_000);
      await env.write((tx) => {
        membership.forgetMembers(tx, [docNo], clock.now());
        store.remove(tx, docNo);
      });
    },
    async sync(read) {
      clock.advance(1_000);
      const box: Archive = {
        name: "box",
        kind: "jsonl",
        check: () => Promise.resolve(),
        async *read() {
          for await (const items of read()) yield { items, fraction: 1 };
        },
      };
      const sync = createSyncJob({
        env,
        store,
        archives: () => [box],
        groups: membership,
        pool,
        clock,
        ids,
      });
      const input = { force: false, purge: false };
      await sync.run(createContext(env, input, signal, () => undefined));
    },
    async analyse({ force = false, signal: cancel = signal, beforeCommit = () => undefined } = {}) {
      clock.advance(1_000);
      return await job.run(createContext(env, { force }, cancel, beforeCommit));
    },
    groups: () =>
      env
        .read((snapshot) =>
          index
            .select(
              { statuses: allStatuses },
              { by: "confidence", descending: true },
              { offset: 0, limit: 100_000 },
            )
            .ids.flatMap((id) => readGroup(snapshot, id) ?? []),
        )
        .sort((a, b) => (a.row.members.join() < b.row.members.join() ? -1 : 1)),
    group: (id) => env.read((snapshot) => readGroup(snapshot, id)),
    async close() {
      await env.close();
      await textEnv.close();
      await sketchEnv.close();
    },
  };
}

function createContext<I>(
  env: Env,
  input: I,
  signal: AbortSignal,
  beforeCommit: (count: number) => void | Promise<void>,
): JobContext<I> {
  let commits = 0;
  return {
    id: "job",
    input,
    signal,
    phase: () => ({ step: () => undefined }),
    async commit(change: (tx: Tx) => void) {
      await beforeCommit(commits++);
      if (signal.aborted) throw new StewardError("cancelled", "the job was cancelled");
      await env.write(change);
    },
    resume: () => undefined,
    keepWhenCancelled: () => undefined,
    note: () => undefined,
    notes: () => ({}),
  };
}

/** Sixty words that depend on the seed; two seeds share next to nothing. */
export function prose(seed: number): string {
  let state = (seed + 1) * 2_654_435_761;
  return Array.from({ length: 60 }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return `w${(state >>> 8).toString(36)}`;
  }).join(" ");
}

/** The text with one word replaced: near enough to be a duplicate. */
export function edited(text: string, place: number, word: string): string {
  return text.split(" ").with(place, word).join(" ");
}
