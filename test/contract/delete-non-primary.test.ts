/** Deleting what is redundant in a Paperless-ngx, on the running daemon. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import type { Paperless } from "../../src/demo/paperless/paperless.ts";
import type { Estate } from "../../src/demo/paperless/types.ts";
import { systemClock } from "../../src/kernel/base/clock.ts";
import {
  type Daemon,
  jobEnd,
  removeTemporaryFolders,
  rest,
  runJob,
  startDaemon,
  temporaryFolder,
} from "./daemon.ts";
import {
  configOf,
  fillGroups,
  groupsOf,
  startArchive,
  syncAndAnalyse,
  textOf,
  trashed,
} from "./paperless-estate.ts";

afterAll(removeTemporaryFolders);

async function start(
  fill: (estate: Estate) => void,
  archives = "",
): Promise<{ sim: Paperless; daemon: Daemon }> {
  const sim = await startArchive(fill);
  onTestFinished(() => sim.stop());
  const daemon = await startDaemon({ config: configOf(sim, temporaryFolder(), archives) });
  onTestFinished(async () => void (await daemon.stop()));
  await syncAndAnalyse(daemon);
  return { sim, daemon };
}

const DELETE = "/api/v1/batch/delete-non-primary";

/** What became of each document, by its id in Paperless-ngx. */
function outcomes(job: any): Record<number, string> {
  return Object.fromEntries(
    job.result.documents.map(({ paperlessId, outcome }: any) => [paperlessId, outcome]),
  );
}

async function statusOf(daemon: Daemon, id: string): Promise<any> {
  return (await rest(daemon, "GET", `/api/v1/duplicates/${id}`)).json.data;
}

async function allGroups(daemon: Daemon): Promise<string[]> {
  const pages = await Promise.all(
    Array.from({ length: 9 }, (_, page) =>
      rest(daemon, "GET", `/api/v1/duplicates?limit=100&offset=${100 * page}`),
    ),
  );
  return pages.flatMap(({ json }) => json.data.map(({ id }: any) => id as string));
}

describe("POST /api/v1/batch/delete-non-primary", () => {
  it("moves all but the primaries to the trash, and says so of each document", async () => {
    const { sim, daemon } = await start(fillGroups(3, 3));
    const groups = await groupsOf(daemon);
    expect(groups.map(({ members }) => members)).toEqual([
      [1, 2, 3],
      [4, 5, 6],
      [7, 8, 9],
    ]);
    const [first, second] = groups as [(typeof groups)[0], (typeof groups)[0]];
    const job = await runJob(daemon, DELETE, { groupIds: [first.id, second.id], confirm: true });
    expect(job).toMatchObject({
      type: "batch_operation",
      operation: "delete_non_primary",
      status: "completed",
      result: {
        deletedDocuments: 4,
        deletedGroups: 2,
        pendingGroups: [],
        skippedDocuments: 0,
        failedDocuments: 0,
        errors: [],
      },
    });
    expect(outcomes(job)).toEqual({ 2: "deleted", 3: "deleted", 5: "deleted", 6: "deleted" });
    expect(trashed(sim)).toEqual([2, 3, 5, 6]);
    expect(await statusOf(daemon, first.id)).toMatchObject({
      status: "deleted",
      archivedMemberCount: 3,
      archivedPrimaryTitle: "Paper 0-0",
      members: [],
    });
    const left = (await rest(daemon, "GET", "/api/v1/documents?limit=100")).json;
    expect(left.data.map(({ paperlessId }: any) => paperlessId).sort()).toEqual([1, 4, 7, 8, 9]);
    expect((await rest(daemon, "GET", "/api/v1/paperless/trash")).json.data).toEqual({ count: 4 });

    expect((await rest(daemon, "POST", "/api/v1/batch/purge-deleted", {})).json.data).toEqual({
      purged: 2,
    });
    expect((await rest(daemon, "GET", "/api/v1/documents/stats")).json.data.usageStats).toEqual({
      cumulativeGroupsActioned: 2,
      cumulativeDocumentsDeleted: 4,
    });
    expect((await rest(daemon, "GET", `/api/v1/duplicates/${first.id}`)).status).toBe(404);
    expect((await rest(daemon, "POST", "/api/v1/batch/purge-deleted", {})).json.data.purged).toBe(
      0,
    );
  });

  it("deletes no document for itself, seen through two addresses of one archive", async () => {
    const sim = await startArchive(fillGroups(2, 1));
    onTestFinished(() => sim.stop());
    const alias = sim.url.replace("127.0.0.1", "localhost");
    const token = sim.estate.users[0]?.token.use((value) => value) ?? "";
    const row = `    - {name: alias, kind: paperless, url: "${alias}", token: ${token}}\n`;
    const daemon = await startDaemon({ config: configOf(sim, temporaryFolder(), row) });
    onTestFinished(async () => void (await daemon.stop()));
    await syncAndAnalyse(daemon);
    const groups = await groupsOf(daemon);
    expect(groups.map(({ members }) => members)).toEqual([
      [1, 1],
      [2, 2],
    ]);
    const groupIds = groups.map(({ id }) => id);
    const job = await runJob(daemon, DELETE, { groupIds, confirm: true });
    expect(trashed(sim)).toEqual([]);
    expect(outcomes(job)).toEqual({ 1: "skipped", 2: "skipped" });
    for (const { reason } of job.result.documents)
      expect(reason).toMatch(/read through two archives; list each Paperless-ngx once/);
  });

  it("deletes a copy in another archive, although it has the same id there", async () => {
    // With one id and one date it would be the same document, read through two addresses.
    const earlier = { ...systemClock, now: () => systemClock.now() - 86_400_000 };
    const [sim, other] = [
      await startArchive(fillGroups(1, 1)),
      await startArchive(fillGroups(1, 1), earlier),
    ];
    onTestFinished(() => sim.stop());
    onTestFinished(() => other.stop());
    const token = other.estate.users[0]?.token.use((value) => value) ?? "";
    const row = `    - {name: other, kind: paperless, url: "${other.url}", token: ${token}}\n`;
    const daemon = await startDaemon({ config: configOf(sim, temporaryFolder(), row) });
    onTestFinished(async () => void (await daemon.stop()));
    await syncAndAnalyse(daemon);
    const groupIds = (await groupsOf(daemon)).map(({ id }) => id);
    const job = await runJob(daemon, DELETE, { groupIds, confirm: true });
    expect(outcomes(job)).toEqual({ 1: "deleted" });
    expect([...trashed(sim), ...trashed(other)]).toEqual([1]);
  });

  it("skips what changed in the archive since the sync, and keeps its group pending", async () => {
    const { sim, daemon } = await start(fillGroups(4, 2));
    const groups = await groupsOf(daemon);
    sim.estate.edit(2, { tags: [2] }); // the document itself
    sim.estate.edit(3, { content: textOf(77) }); // the text of a primary
    sim.estate.edit(5, { title: "Renamed" }); // only the title of a primary
    sim.estate.trash(8); // gone already
    const groupIds = groups.map(({ id }) => id);
    const job = await runJob(daemon, DELETE, { groupIds, confirm: true });
    expect(outcomes(job)).toEqual({
      2: "skipped",
      4: "skipped",
      6: "deleted",
      8: "already_missing",
    });
    expect(job.result).toMatchObject({
      deletedDocuments: 1,
      alreadyMissingDocuments: 1,
      skippedDocuments: 2,
      deletedGroups: 2,
      pendingGroups: groupIds.slice(0, 2),
    });
    for (const one of job.result.documents)
      if (one.outcome === "skipped") expect(one.reason).toMatch(/has changed/);
    expect(trashed(sim)).toEqual([6, 8]);
    expect((await groupsOf(daemon)).map(({ members }) => members)).toEqual([
      [1, 2],
      [3, 4],
    ]);
    await syncAndAnalyse(daemon);
    const again = await groupsOf(daemon);
    expect(again.map(({ members }) => members)).toEqual([[2, 1]]);
    const repeated = await runJob(daemon, DELETE, { groupIds: [again[0]?.id], confirm: true });
    expect(outcomes(repeated)).toEqual({ 1: "deleted" });
  });

  it("skips a document whose primary got another text by a sync during the deletion", async () => {
    const { sim, daemon } = await start(fillGroups(2, 2));
    await rest(daemon, "PUT", "/api/v1/config/dedup", { autoAnalyze: false });
    const groupIds = (await groupsOf(daemon)).map(({ id }) => id);
    // Holds the first deletion until the sync has run.
    sim.faults.next("delete_document", { kind: "delay", ms: 15_000 });
    const { json } = await rest(daemon, "POST", DELETE, { groupIds, confirm: true });
    await expect.poll(() => sim.requests()["delete_document"], { timeout: 60_000 }).toBe(1);
    sim.estate.edit(3, { content: textOf(77) });
    expect((await runJob(daemon, "/api/v1/sync")).status).toBe("completed");
    const job = await jobEnd(daemon, json.data.jobId);
    expect(outcomes(job)).toEqual({ 2: "deleted", 4: "skipped" });
    expect(trashed(sim)).toEqual([2]);
    expect(job.result.pendingGroups).toEqual([groupIds[1]]);
  });

  it("keeps a pair that was decided to be no duplicate, though its group has grown", async () => {
    const { sim, daemon } = await start(fillGroups(1, 2));
    const [decided] = await groupsOf(daemon);
    const path = `/api/v1/duplicates/${decided?.id}/status`;
    await rest(daemon, "PUT", path, { status: "false_positive" });
    sim.estate.add({ title: "Paper 0-2", content: textOf(0), created: "2024-01-03" });
    await syncAndAnalyse(daemon);
    const { id, members: [primary] = [] } = (await groupsOf(daemon))[0] ?? {};
    expect(await statusOf(daemon, id as string)).toMatchObject({ status: "pending" });
    expect(primary).toBe(1);
    const pairs = (await rest(daemon, "GET", "/api/v1/pairs?decision=not_duplicate")).json;
    expect(pairs.data).toMatchObject([{ groupId: id, decision: "not_duplicate" }]);
    const job = await runJob(daemon, DELETE, { groupIds: [id], confirm: true });
    expect(outcomes(job)).toEqual({ 2: "skipped", 3: "deleted" });
    expect(trashed(sim)).toEqual([3]);
  });

  it.each([
    [
      "the pair is restored",
      (daemon: Daemon, [a, b]: readonly string[]) =>
        rest(daemon, "DELETE", `/api/v1/pairs/${a}/${b}`),
    ],
    [
      "the group is set to pending",
      (daemon: Daemon, _: readonly string[], id: string) =>
        rest(daemon, "PUT", `/api/v1/duplicates/${id}/status`, { status: "pending" }),
    ],
    [
      "the group is set to pending with others",
      (daemon: Daemon, _: readonly string[], id: string) =>
        rest(daemon, "POST", "/api/v1/batch/status", { groupIds: [id], status: "pending" }),
    ],
  ])("deletes a pair that was no duplicate in a group that has grown, once %s", async (_, undo) => {
    const { sim, daemon } = await start(fillGroups(1, 2));
    const [decided] = await groupsOf(daemon);
    const id = decided?.id ?? "";
    const documents = (await statusOf(daemon, id)).members.map((one: any) => one.documentId);
    await rest(daemon, "PUT", `/api/v1/duplicates/${id}/status`, { status: "false_positive" });
    sim.estate.add({ title: "Paper 0-2", content: textOf(0), created: "2024-01-03" });
    await syncAndAnalyse(daemon);
    expect((await undo(daemon, documents, id)).status).toBe(200);
    const pairs = (await rest(daemon, "GET", "/api/v1/pairs?decision=not_duplicate")).json;
    expect([pairs.data, pairs.meta.total]).toEqual([[], 0]);
    const { status, history } = await statusOf(daemon, id);
    expect(status).toBe("pending");
    expect(history.at(-1).status).toBe("false_positive");
    const job = await runJob(daemon, DELETE, { groupIds: [id], confirm: true });
    expect(outcomes(job)).toEqual({ 2: "deleted", 3: "deleted" });
  });

  it("ends, and is cancelled, with more documents than the result has room for", async () => {
    const { sim, daemon } = await start(fillGroups(450, 9));
    const groupIds = await allGroups(daemon);
    const begin = async (): Promise<string> =>
      (await rest(daemon, "POST", DELETE, { groupIds, confirm: true })).json.data.jobId;
    // Longer than a cancel may take to arrive, shorter than it waits for a document (5 s).
    sim.faults.next("delete_document", { kind: "delay", ms: 4_000 });
    const cancelled = await begin();
    await expect.poll(() => sim.requests()["delete_document"], { timeout: 60_000 }).toBe(1);
    const answer = await rest(daemon, "POST", `/api/v1/jobs/${cancelled}/cancel`);
    expect([answer.status, answer.json.data?.status]).toEqual([200, "cancelled"]);
    const shown = await jobEnd(daemon, cancelled);
    expect(shown.result.documents.length).toBeGreaterThan(2_000);
    expect(shown.result.documents.length).toBeLessThan(450 * 8);
    await expect.poll(() => trashed(sim).length, { timeout: 60_000 }).toBe(1);

    // One document goes, then the archive refuses fifty, so that the others are not tried.
    sim.faults.next("delete_document", { kind: "delay", ms: 0 });
    sim.faults.next("delete_document", { kind: "status", status: 403 }, Infinity);
    const job = await jobEnd(daemon, await begin());
    expect([job.status, job.errorMessage]).toEqual(["completed", null]);
    expect(job.result).toMatchObject({
      alreadyMissingDocuments: 1,
      deletedDocuments: 1,
      failedDocuments: 50,
      skippedDocuments: 450 * 8 - 52,
    });
    expect(job.result.documents.length).toBeGreaterThan(2_000);
    expect(job.result.documents.length).toBeLessThan(450 * 8);
    expect(JSON.stringify(job.result).length).toBeLessThan(600 * 1024);
  });

  it("deletes no document whose text was cut, and none without a verified pair", async () => {
    const long = Array.from({ length: 40 }, (_, at) => textOf(at)).join(" ");
    const { sim, daemon } = await start((estate) => {
      fillGroups(1, 2)(estate);
      // More than is kept and compared of a text.
      const cut = `${long} `.repeat(600);
      estate.add({ title: "Cut A", content: cut });
      estate.add({ title: "Cut B", content: cut });
    });
    const groups = await groupsOf(daemon);
    expect(groups.map(({ members }) => members)).toEqual([
      [1, 2],
      [3, 4],
    ]);
    const groupIds = groups.map(({ id }) => id);
    const job = await runJob(daemon, DELETE, { groupIds, confirm: true });
    expect(outcomes(job)).toEqual({ 2: "deleted", 4: "skipped" });
    expect(trashed(sim)).toEqual([2]);
  });

  it("deletes only what is verified with a document that stays, in overlapping groups", async () => {
    // Neighbours in a chain are near-duplicates, its ends are not: groups overlap.
    const { sim, daemon } = await start((estate) => {
      for (const step of [4, 5, 6, 7, 8, 9]) {
        const words = textOf(100 + step).split(" ");
        for (let at = 0; at < 6; at++) {
          const content = words.map((word, place) => (place < at * step ? `x${place}` : word));
          estate.add({ title: `Chain ${step}.${at}`, content: content.join(" ") });
        }
      }
    });
    const groups = await groupsOf(daemon);
    const seen = groups.flatMap(({ members }) => members);
    const shared = seen.find((id, at) => seen.indexOf(id) !== at);
    expect(shared).toBeDefined();
    // Whoever ignored a group wanted all of it.
    const ignored = groups.find(({ members }) => members.includes(shared ?? 0));
    await rest(daemon, "PUT", `/api/v1/duplicates/${ignored?.id}/status`, { status: "ignored" });
    const selected = groups.filter(({ id }) => id !== ignored?.id);
    const verified = new Set<string>();
    for (const { id } of selected) {
      const { members } = await statusOf(daemon, id);
      const [{ documentId: primary }] = members;
      for (const { documentId } of members.slice(1)) {
        const pair = (
          await rest(daemon, "GET", `/api/v1/pairs/${documentId}/${primary}?light=true`)
        ).json.data;
        if (pair.reachesThreshold) verified.add(`${documentId} ${primary}`);
      }
    }
    const groupIds = selected.map(({ id }) => id);
    const { result } = await runJob(daemon, DELETE, { groupIds, confirm: true });
    expect(result.deletedDocuments).toBeGreaterThan(5);
    expect(result.skippedDocuments).toBeGreaterThan(0);
    for (const { outcome, documentId, keptDocumentId } of result.documents)
      if (outcome === "deleted") expect(verified).toContain(`${documentId} ${keptDocumentId}`);
    const gone = trashed(sim);
    expect(gone.length).toBe(result.deletedDocuments);
    const primaries = groups.map(({ members }) => members[0] as number);
    expect(gone.filter((id) => primaries.includes(id))).toEqual([]);
    expect(gone.filter((id) => ignored?.members.includes(id))).toEqual([]);
  });

  it("refuses what is not confirmed, unknown or decided, and starts nothing", async () => {
    const { sim, daemon } = await start(fillGroups(2, 2));
    const [one, two] = (await groupsOf(daemon)).map(({ id }) => id);
    const refusals: [unknown, RegExp][] = [
      [{ groupIds: [one] }, /confirm/],
      [{ groupIds: [one], confirm: false }, /confirm/],
      [{ groupIds: [one], confirm: "true" }, /confirm/],
      [{ groupIds: [], confirm: true }, /groupIds/],
      [{ groupIds: Array(1001).fill(one), confirm: true }, /groupIds/],
      [{ groupIds: [one, "unknown-group"], confirm: true }, /unknown-group/],
    ];
    for (const [body, message] of refusals) {
      const answer = await rest(daemon, "POST", DELETE, body);
      expect([answer.status, answer.json.error.code]).toEqual([400, "VALIDATION_FAILED"]);
      expect(answer.text).toMatch(message);
      expect(answer.json.error.details.length).toBeGreaterThan(0);
    }
    await rest(daemon, "PUT", `/api/v1/duplicates/${two}/status`, { status: "ignored" });
    const decided = await rest(daemon, "POST", DELETE, { groupIds: [one, two], confirm: true });
    expect([decided.status, decided.json.error.code]).toEqual([400, "VALIDATION_FAILED"]);
    expect(decided.json.error.message).toMatch(/1 of 2/);
    expect((await rest(daemon, "GET", "/api/v1/jobs?type=batch_operation")).json.data).toEqual([]);
    expect(trashed(sim)).toEqual([]);
  });

  it("refuses folders and JSON Lines files with the way to delete there", async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "docs"));
    for (const name of ["a.txt", "b.txt"]) writeFileSync(join(folder, "docs", name), textOf(50));
    const lines = join(folder, "lines.jsonl");
    writeFileSync(
      lines,
      ["x", "y"].map((id) => JSON.stringify({ id, text: textOf(60) })).join("\n"),
    );
    const { daemon } = await start(
      fillGroups(0, 0),
      `    - {name: folder, kind: folder, path: ${join(folder, "docs")}}
    - {name: lines, kind: jsonl, path: ${lines}}
`,
    );
    const { data } = (await rest(daemon, "GET", "/api/v1/duplicates")).json;
    expect(data.length).toBe(2);
    const messages = [];
    for (const { id } of data) {
      const answer = await rest(daemon, "POST", DELETE, { groupIds: [id], confirm: true });
      expect([answer.status, answer.json.error.code]).toEqual([409, "CONFLICT"]);
      const merge = await rest(daemon, "POST", `/api/v1/duplicates/${id}/merge`, {});
      expect([merge.status, merge.json.error.code]).toEqual([409, "CONFLICT"]);
      messages.push(answer.json.error.message);
    }
    expect(messages.join("\n")).toMatch(/steward dedup --apply-plan/);
    expect(messages.join("\n")).toMatch(/JSON Lines/);
    for (const name of ["folder", "lines"]) {
      const answer = await rest(
        daemon,
        "GET",
        `/api/v1/paperless/documents/1/preview?archive=${name}`,
      );
      expect([answer.status, answer.json.error.code]).toEqual([409, "CONFLICT"]);
    }
  });

  it("deletes once when the archive answers 500 although it deleted", async () => {
    const { sim, daemon } = await start(fillGroups(1, 2));
    const [group] = await groupsOf(daemon);
    sim.faults.next("delete_document", { kind: "done_but_error", status: 500 });
    const job = await runJob(daemon, DELETE, { groupIds: [group?.id], confirm: true });
    expect(outcomes(job)).toEqual({ 2: "deleted" });
    expect(sim.requests()["delete_document"]).toBe(1);
  });

  it("fails with the reason when the archive refuses every deletion, or fails", async () => {
    const { sim, daemon } = await start(fillGroups(5, 2));
    const groups = await groupsOf(daemon);
    sim.faults.next("delete_document", { kind: "status", status: 403 }, Infinity);
    const groupIds = groups.map(({ id }) => id);
    const job = await runJob(daemon, DELETE, { groupIds, confirm: true });
    expect(job.status).toBe("failed");
    expect(job.errorMessage).toMatch(/permission to change and delete documents/);
    expect(sim.requests()["delete_document"]).toBe(5);
    sim.faults.clear();
    // After three failures of the archive in a row the rest is not tried.
    sim.faults.next("delete_document", { kind: "status", status: 401 }, Infinity);
    expect((await runJob(daemon, DELETE, { groupIds, confirm: true })).status).toBe("failed");
    expect(sim.requests()["delete_document"]).toBe(8);
    expect((await groupsOf(daemon)).length).toBe(5);
    sim.faults.clear();
    expect((await runJob(daemon, DELETE, { groupIds, confirm: true })).result.deletedGroups).toBe(
      5,
    );
  });

  it("reports documents that the archive refuses and goes on with the others", async () => {
    const { sim, daemon } = await start(fillGroups(5, 2));
    const groupIds = (await groupsOf(daemon)).map(({ id }) => id);
    sim.faults.next("delete_document", { kind: "status", status: 403 }, 3);
    const job = await runJob(daemon, DELETE, { groupIds, confirm: true });
    const failed = { 2: "failed", 4: "failed", 6: "failed" };
    expect(outcomes(job)).toEqual({ ...failed, 8: "deleted", 10: "deleted" });
    expect(job.result).toMatchObject({
      failedDocuments: 3,
      deletedGroups: 2,
      pendingGroups: groupIds.slice(0, 3),
      errors: [{ groupId: groupIds[0], paperlessId: 2 }, {}, {}],
    });
  });

  it("takes the metadata along with merge: true", async () => {
    const { sim, daemon } = await start(fillGroups(1, 3));
    sim.estate.edit(2, { tags: [2], correspondent: 1, created: "2019-05-06" });
    sim.estate.edit(3, {
      tags: [3],
      documentType: 1,
      notes: [{ id: 1, note: "paid", createdUs: 1, user: 2 }],
    });
    await syncAndAnalyse(daemon);
    const [group] = await groupsOf(daemon);
    const primary = group?.members[0] as number;
    const others = [1, 2, 3].filter((id) => id !== primary);
    const body = { groupIds: [group?.id], confirm: true, merge: true };
    const job = await runJob(daemon, DELETE, body);
    expect(job.result).toMatchObject({ deletedDocuments: 2, mergedDocuments: 2, deletedGroups: 1 });
    expect(trashed(sim)).toEqual(others);
    const kept = sim.estate.documents.get(primary);
    expect(kept).toMatchObject({ correspondent: 1, documentType: 1, created: "2019-05-06" });
    expect(kept?.tags.toSorted()).toEqual([2, 3]);
    expect(kept?.notes.map(({ note }) => note)).toEqual(["paid"]);
  });
});

describe("POST /api/v1/batch/status", () => {
  it("sets many statuses, counts real changes and names what it skipped", async () => {
    const { daemon } = await start(fillGroups(3, 2));
    const [one, two, three] = (await groupsOf(daemon)).map(({ id }) => id);
    const set = async (groupIds: unknown[], status: string): Promise<any> =>
      (await rest(daemon, "POST", "/api/v1/batch/status", { groupIds, status })).json.data;
    expect(await set([one, two, two, "nobody"], "ignored")).toEqual({
      updated: 2,
      skipped: [{ groupId: "nobody", reason: "there is no such group" }],
    });
    expect(await set([one, three], "ignored")).toEqual({ updated: 1, skipped: [] });
    expect(await set([one, two, three], "deleted")).toEqual({ updated: 3, skipped: [] });
    expect((await statusOf(daemon, one as string)).archivedMemberCount).toBe(2);
    expect(await set([one], "pending")).toEqual({ updated: 1, skipped: [] });
    for (const body of [
      { groupIds: [], status: "ignored" },
      { groupIds: [one], status: "gone" },
      { groupIds: Array(1001).fill("x"), status: "ignored" },
    ]) {
      const answer = await rest(daemon, "POST", "/api/v1/batch/status", body);
      expect([answer.status, answer.json.error.code]).toEqual([400, "VALIDATION_FAILED"]);
    }
  });
});
