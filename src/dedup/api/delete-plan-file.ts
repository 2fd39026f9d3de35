/**
 * GET /api/v1/export/delete-plan.json: the delete plan as a file that `steward dedup --apply-plan`
 * carries out. It has the documents of folders; those of other archives are listed as left out.
 */
import { join } from "node:path";
import { Access } from "../../gen/steward/options/v1/options_pb.ts";
import { mapInTurns, Turns } from "../../kernel/async/turns.ts";
import type { Clock } from "../../kernel/base/clock.ts";
import type { PlainRoute } from "../../kernel/service.ts";
import { mapInOrder } from "../archives/ordered.ts";
import { versionLackingMembers, versionWithMembers } from "../archives/read-files.ts";
import type { ArchiveConfig } from "../config.ts";
import type { DocumentSource } from "../corpus.ts";
import { readFileFacts } from "../plan/file-state.ts";
import { entryOf } from "../plan/make.ts";
import { createDeletePlan, formatPlan, type DeletePlan } from "../plan/plan-file.ts";
import { readPlanFile, type PlanFileOfDocument } from "../plan/plan-files.ts";
import {
  collectAccepted,
  describeStored,
  judge,
  type StoredFacts,
  type StoredPlanDeps,
} from "../plan/stored-plan.ts";
import { realPath } from "../review/identity.ts";
import { fingerprintOf } from "../sync/fingerprint.ts";

export interface DeletePlanFileDeps extends StoredPlanDeps {
  readonly clock: Clock;
  readonly archives: () => readonly Pick<ArchiveConfig, "name" | "kind" | "path">[];
}

/** Files read at the same time. */
const FILES_AT_ONCE = 4;

/** The route without its handler. */
export const DELETE_PLAN_ROUTE: Omit<PlainRoute, "handle"> = {
  verb: "GET",
  template: "/api/v1/export/delete-plan.json",
  access: Access.OPERATOR,
  dialect: "dedup",
  describe: {
    operationId: "exportDeletePlan",
    tag: "DeletePlanService",
    text:
      "Downloads the delete plan for `steward dedup --apply-plan`. That command moves its files to the trash. " +
      "Each file is read to record its SHA-256. Documents that are no whole files of a folder are left out, with the reason.",
    answer: "The plan, without an envelope.",
    contentType: "application/json",
  },
};

export function deletePlanRoute(deps: DeletePlanFileDeps): PlainRoute {
  return {
    ...DELETE_PLAN_ROUTE,
    async handle(_request, { signal }) {
      return {
        status: 200,
        headers: {
          "content-type": "application/json",
          "content-disposition": 'attachment; filename="delete-plan.json"',
          "cache-control": "no-store",
        },
        body: bytesOf(await makePlanFile(deps, signal), signal),
      };
    },
  };
}

/** Characters of one chunk of the answer. */
const CHUNK_LENGTH = 64 * 1024;

async function* bytesOf(plan: DeletePlan, signal: AbortSignal): AsyncGenerator<string> {
  const turns = new Turns();
  let chunk = "";
  for (const piece of formatPlan(plan)) {
    if (turns.over) await turns.give(signal);
    chunk += piece;
    if (chunk.length < CHUNK_LENGTH) continue;
    yield chunk;
    chunk = "";
  }
  yield chunk;
}

async function makePlanFile(deps: DeletePlanFileDeps, signal: AbortSignal): Promise<DeletePlan> {
  const collected = await collectAccepted(deps, signal);
  const read = await readFiles(deps, [...collected.facts.values()], signal);
  const files = await holdShared(read, signal);
  const fileOf = (docNo: number): PlanFileOfDocument =>
    files.get(docNo) ?? { path: "", held: "was not read" };
  const { go, retained } = await judge(deps, collected, ({ docNo }) => fileOf(docNo), signal);
  const turns = new Turns();
  return createDeletePlan({
    createdAt: new Date(deps.clock.now()).toISOString(),
    groups: "accepted",
    parameters: { ...deps.parameters() },
    entries: await mapInTurns([...go.values()], turns, (planned) => entryOf(planned, fileOf)),
    retained: await mapInTurns([...retained.values()], turns, ({ document, group, reason }) => ({
      id: nameOf(collected.facts.get(document)),
      group,
      reason,
    })),
  });
}

function nameOf(facts: StoredFacts | undefined): string {
  return facts === undefined ? "" : `${facts.archive}: ${facts.archiveRef}`;
}

async function readFiles(
  { archives }: DeletePlanFileDeps,
  documents: readonly StoredFacts[],
  signal: AbortSignal,
): Promise<ReadonlyMap<number, PlanFileOfDocument>> {
  const byName = new Map(archives().map((archive) => [archive.name, archive]));
  const files = new Map<number, PlanFileOfDocument>();
  const read = mapInOrder(
    documents,
    FILES_AT_ONCE,
    async (facts) =>
      [facts.docNo, await readFile(facts, byName.get(facts.archive), signal)] as const,
  );
  // Documents that are no files are known at once, without a wait that other work could use.
  const turns = new Turns();
  for await (const [docNo, file] of read) {
    if (turns.over) await turns.give(signal);
    files.set(docNo, file);
  }
  return files;
}

/**
 * A file that is reached in two ways, e.g. through a symbolic link or a bind mount, is two documents:
 * deleting one would delete the other, which may be the one that stays.
 */
async function holdShared(
  files: ReadonlyMap<number, PlanFileOfDocument>,
  signal: AbortSignal,
): Promise<ReadonlyMap<number, PlanFileOfDocument>> {
  const turns = new Turns();
  const documentsOf = new Map<string, number>();
  for (const file of files.values()) {
    if (turns.over) await turns.give(signal);
    const key = fileKey(file);
    documentsOf.set(key, (documentsOf.get(key) ?? 0) + 1);
  }
  const held = new Map<number, PlanFileOfDocument>();
  for (const [docNo, file] of files) {
    if (turns.over) await turns.give(signal);
    const isShared = file.path !== "" && (documentsOf.get(fileKey(file)) ?? 0) > 1;
    const reason = isShared ? "is a file that is read under two paths" : undefined;
    held.set(docNo, reason === undefined ? file : { ...file, held: file.held ?? reason });
  }
  return held;
}

/** Of two names of a file (hard links) one can be deleted, so each is a file of its own. */
function fileKey({ path, state }: PlanFileOfDocument): string {
  return state?.names === 1 ? state.file : path;
}

async function readFile(
  facts: StoredFacts,
  archive: Pick<ArchiveConfig, "kind" | "path"> | undefined,
  signal: AbortSignal,
): Promise<PlanFileOfDocument> {
  const notAFile = notInFolder(archive);
  if (notAFile !== undefined) return { path: "", held: notAFile, unfit: notAFile };
  const described = describeStored(facts);
  const path = archive?.path ?? "";
  const found = await findVersion(realPath(join(path, facts.archiveRef)), facts);
  return {
    ...(await readPlanFile(
      {
        source: {
          kind: "folder",
          path,
          ref: facts.archiveRef,
          line: undefined,
          ...found,
        },
        truncated: facts.truncated,
      },
      signal,
    )),
    ...described,
  };
}

function notInFolder(archive: Pick<ArchiveConfig, "kind"> | undefined): string | undefined {
  switch (archive?.kind) {
    case "folder":
      return undefined;
    case "jsonl":
      return "is a line of a file";
    default:
      return "is in an archive that this file cannot delete from";
  }
}

/**
 * The version that the document had when it was synced, as far as its file still has it; the store
 * keeps a hash of it only. Empty when the file has changed since.
 */
async function findVersion(
  path: string,
  { fingerprint }: StoredFacts,
): Promise<Pick<DocumentSource, "version" | "sharesFile">> {
  const facts = await readFileFacts(path);
  if ("problem" in facts) return { version: "", sharesFile: false };
  const { version } = facts;
  const isSynced = (one: string): boolean => Buffer.compare(fingerprintOf(one), fingerprint) === 0;
  const sharesFile = [versionWithMembers, versionLackingMembers].some((of) =>
    isSynced(of(version)),
  );
  return { version: sharesFile || isSynced(version) ? version : "", sharesFile };
}
