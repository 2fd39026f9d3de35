/**
 * No request about very many groups, documents or AI results holds the main thread's event loop for
 * more than 50 ms. The store is filled directly: an archive of this size takes minutes to sync.
 */
import { create } from "@bufbuild/protobuf";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { mainStore } from "../../../src/dedup/stores.ts";
import { setMetaNumber } from "../../../src/dedup/meta.ts";
import { aiResults, decisions, documents, groups } from "../../../src/dedup/tables.ts";
import type { Paperless } from "../../../src/demo/paperless/paperless.ts";
import { AiResultStatus } from "../../../src/gen/steward/dedup/v1/ai_pb.ts";
import { GroupStatus } from "../../../src/gen/steward/dedup/v1/groups_pb.ts";
import {
  AiResultRowSchema,
  DecisionRowSchema,
  DocumentRowSchema,
  GroupRowSchema,
} from "../../../src/gen/steward/state/v1/dedup_pb.ts";
import { systemClock } from "../../../src/kernel/base/clock.ts";
import { createStateFactory } from "../../../src/kernel/state/state-factory.ts";
import type { Tx } from "../../../src/kernel/state/types.ts";
import {
  type Daemon,
  removeTemporaryFolders,
  rest,
  startDaemon,
  temporaryFolder,
} from "../../contract/daemon.ts";
import { configOf, startArchive } from "../../contract/paperless-estate.ts";
import { quietLog } from "../../kernel/state/fixtures/tables.ts";
import { readLoop } from "../loop-daemon.ts";
import { isLongRun } from "../../support/long-run.ts";
import { slowness } from "../../support/machine-speed.ts";

const DOCUMENTS = 100_000;
const GROUPS = 100;
const MEMBERS = DOCUMENTS / GROUPS;
/** CPU milliseconds of one turn of the event loop. */
const MAX_TURN_MS = 50 * slowness();
/** A garbage collection may fall into any turn, so the best of some rounds counts. */
const ROUNDS = 6;
const ROWS_AT_ONCE = 1_000;

const ACCEPTED = isLongRun ? GROUPS : 20;
const groupIds = Array.from({ length: GROUPS }, (_, at) => `group-${at}`);
const accepted = groupIds.slice(0, ACCEPTED);
let sim: Paperless;
let daemon: Daemon;
let socket: string;

/** The last document is of a folder, so that nothing is deleted whatever is asked for. */
function putDocument(tx: Tx, docNo: number): void {
  const isLast = docNo === DOCUMENTS;
  tx.put(
    documents,
    docNo,
    create(DocumentRowSchema, {
      docNo,
      id: `d${docNo}`,
      archive: isLast ? "files" : "papers",
      archiveRef: `${docNo}`,
      ...(isLast ? {} : { paperlessId: docNo }),
      title: `Paper ${docNo}`,
      tags: ["inbox"],
      contentHash: new Uint8Array(32).fill(docNo % 250),
    }),
  );
  tx.put(
    aiResults,
    docNo,
    create(AiResultRowSchema, {
      docNo,
      id: `r${docNo}`,
      documentTitle: `Paper ${docNo}`,
      provider: "openai",
      model: "small",
      suggestedTitle: `Water bill ${docNo}`,
      suggestedCorrespondent: `Correspondent ${docNo % 5_000}`,
      suggestedDocumentType: "Invoice",
      suggestedTags: ["water", `tag ${docNo % 300}`],
      confidence: { correspondent: 0.9, documentType: 0.8, tags: 0.7, title: 0.9 },
      status: AiResultStatus.PENDING,
      createdAtMs: 1_000 + docNo,
    }),
  );
}

function putGroup(tx: Tx, at: number): void {
  const id = groupIds[at] ?? "";
  const members = Array.from({ length: MEMBERS }, (_, member) => at * MEMBERS + member + 1);
  const row = create(GroupRowSchema, {
    id,
    members,
    suggestedPrimary: members[0] ?? 0,
    confidence: 1,
    memberTexts: members.map(() => 0),
  });
  tx.put(groups, [1, id], row);
  tx.put(decisions, id, create(DecisionRowSchema, { status: GroupStatus.PENDING, createdAtMs: 1 }));
}

async function fill(directory: string): Promise<void> {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const state = createStateFactory({ directory, clock: systemClock, log: quietLog });
  const env = await state.open(mainStore);
  for (let from = 1; from <= DOCUMENTS; from += ROWS_AT_ONCE)
    await env.write((tx) => {
      for (let docNo = from; docNo < from + ROWS_AT_ONCE; docNo++) putDocument(tx, docNo);
    });
  for (let at = 0; at < GROUPS; at++) await env.write((tx) => putGroup(tx, at));
  await env.write((tx) => {
    setMetaNumber(tx, "generation", 1);
    setMetaNumber(tx, "nextDocNo", DOCUMENTS + 1);
    setMetaNumber(tx, "totalGroups", GROUPS);
  });
  await env.close();
}

beforeAll(async () => {
  sim = await startArchive(() => undefined);
  const [state, files] = [join(temporaryFolder(), "state"), temporaryFolder()];
  await fill(state);
  socket = join(temporaryFolder(), "loop.sock");
  const archives = `    - {name: files, kind: folder, path: ${files}}\n`;
  daemon = await startDaemon({
    config: `${configOf(sim, state, archives)}  ai: {enabled: true}\n`,
    env: {
      NODE_OPTIONS: `--import=${join(import.meta.dirname, "../../support/loop-meter.ts")}`,
      LOOP_METER_SOCKET: socket,
    },
  });
});

afterAll(async () => {
  await Promise.all([daemon.stop(), sim.stop()]);
  removeTemporaryFolders();
});

const requests: readonly (readonly [
  name: string,
  method: string,
  path: string,
  body: unknown,
  status: number,
])[] = [
  [
    "all groups in a deletion",
    "POST",
    "batch/delete-non-primary",
    { groupIds, confirm: true },
    409,
  ],
  ["groups accepted", "POST", "delete-plan/accept", { groupIds: accepted }, 200],
  ["the delete plan of accepted groups", "GET", "delete-plan?limit=100", undefined, 200],
  ["the delete plan as a file", "GET", "export/delete-plan.json", undefined, 200],
  ["one group of a thousand documents", "GET", "duplicates/group-7", undefined, 200],
  ["all groups with their graph", "GET", "duplicates/graph", undefined, 200],
  ["AI results: a search", "GET", "ai/results?search=paper%209", undefined, 200],
  ["AI results: the last page", "GET", "ai/results?offset=99990&limit=10", undefined, 200],
  [
    "AI results: by correspondent",
    "GET",
    "ai/results/groups?groupBy=suggestedCorrespondent",
    undefined,
    200,
  ],
  ["AI results: by band", "GET", "ai/results/groups?groupBy=confidenceBand", undefined, 200],
  [
    "AI results: what an apply would do",
    "POST",
    "ai/results/preflight",
    { scope: { type: "all_pending" } },
    200,
  ],
];

describe("the event loop is not held by", () => {
  it("the page of the delete plan, which shows some documents of each group", async () => {
    await rest(daemon, "POST", "/api/v1/delete-plan/accept", { groupIds: accepted });
    let leastMs = Number.POSITIVE_INFINITY;
    for (let round = 0; round < ROUNDS && leastMs > MAX_TURN_MS; round++) {
      await readLoop(socket);
      const { text } = await rest(daemon, "GET", "/duplicates/plan");
      expect(text).toMatch(/and \d+ documents more/);
      leastMs = Math.min(leastMs, (await readLoop(socket)).turnMs);
    }
    expect(leastMs).toBeLessThanOrEqual(MAX_TURN_MS);
  });

  it.each(requests)("%s", async (_name, method, path, body, status) => {
    let leastMs = Number.POSITIVE_INFINITY;
    for (let round = 0; round < ROUNDS && leastMs > MAX_TURN_MS; round++) {
      await readLoop(socket);
      const answer = await rest(daemon, method, `/api/v1/${path}`, body);
      expect([answer.status, answer.status === status ? "" : JSON.stringify(answer.json)]).toEqual([
        status,
        "",
      ]);
      leastMs = Math.min(leastMs, (await readLoop(socket)).turnMs);
    }
    expect(leastMs).toBeLessThanOrEqual(MAX_TURN_MS);
  });
});
