/** Applying AI results while the daemon is killed, the archive fails, or the job is cancelled. */
import { randomInt } from "node:crypto";
import { afterAll, describe, expect, it, vi } from "vitest";
import type { Fault } from "../../../src/demo/control-plane/faults.ts";
import type { Paperless } from "../../../src/demo/paperless/paperless.ts";
import {
  fillPapers,
  HELD,
  resultsOf,
  startAiEstate,
  suggestForAll,
} from "../../contract/ai-estate.ts";
import {
  jobEnd,
  removeTemporaryFolders,
  rest,
  runJob,
  type Daemon,
} from "../../contract/daemon.ts";
import { suggestion } from "../../support/ai-provider.ts";
import { isLongRun } from "../../support/long-run.ts";

afterAll(removeTemporaryFolders);

const KILLS = isLongRun ? 40 : 5;
/** More than the kills leave time to apply. */
const PAPERS = isLongRun ? 200 : 30;

const documentsOf = ({ estate }: Paperless) => [...estate.documents.values()];
const written = (sim: Paperless): number =>
  documentsOf(sim).filter(({ documentType }) => documentType !== null).length;

async function applyAll(daemon: Daemon): Promise<string> {
  const { json } = await rest(daemon, "POST", "/api/v1/ai/results/apply-all", {});
  return json.data.jobId as string;
}

async function until(condition: () => boolean): Promise<void> {
  await vi.waitFor(() => expect(condition()).toBe(true), { timeout: 60_000, interval: 10 });
}

it(`${KILLS} kills inside a batch apply leave every document applied once, with a snapshot that reverts it`, async () => {
  const estate = await startAiEstate(fillPapers(PAPERS));
  const { sim } = estate;
  let daemon = await estate.start();
  await suggestForAll(daemon);
  let jobId = await applyAll(daemon);
  let metWork = 0;
  for (let kill = 0; kill < KILLS; kill++) {
    sim.faults.next("patch_document", { kind: "delay", ms: 20 }, 6);
    const before = written(sim);
    await until(() => written(sim) >= Math.min(PAPERS, before + 2));
    await new Promise((resolve) => setTimeout(resolve, randomInt(50)));
    await daemon.stop("SIGKILL");
    if (written(sim) < PAPERS) metWork += 1;
    daemon = await estate.start();
    // Three starts that end in a crash give a job up; another one goes on where it stopped.
    const { status } = (await rest(daemon, "GET", `/api/v1/jobs/${jobId}`)).json.data;
    if (status === "failed") jobId = await applyAll(daemon);
  }
  // A busy machine may end the last of it before the kill.
  expect(metWork).toBeGreaterThan(KILLS / 2);
  sim.faults.clear();
  const job = await jobEnd(daemon, jobId);
  expect(job).toMatchObject({ status: "completed", result: { failed: 0, skipped: 0 } });
  const results = await resultsOf(daemon);
  expect(results.map(({ appliedStatus }) => appliedStatus)).toEqual(
    Array.from({ length: PAPERS }, () => "applied"),
  );
  expect(results.filter(({ errorMessage }) => errorMessage !== null)).toEqual([]);
  expect(written(sim)).toBe(PAPERS);
  for (const { id } of results)
    expect((await rest(daemon, "POST", `/api/v1/ai/results/${id}/revert`)).status).toBe(200);
  for (const { tags, correspondent, documentType } of documentsOf(sim))
    expect({ tags, correspondent, documentType }).toEqual({
      tags: [1],
      correspondent: 1,
      documentType: null,
    });
});

it("a single apply that was killed after the archive had stored it can be reverted, and applied again", async () => {
  const estate = await startAiEstate(fillPapers(2));
  const { sim } = estate;
  const first = await estate.start();
  await suggestForAll(first);
  const [one, two] = (await resultsOf(first)) as [any, any];
  for (const { id } of [one, two]) {
    // Stored by the archive, whose answer does not come.
    sim.faults.next("patch_document", { kind: "stall", bytes: 0 });
    void rest(first, "POST", `/api/v1/ai/results/${id}/apply`, {}).catch(() => undefined);
    await until(() => written(sim) > 0);
    if (id === one.id) break;
  }
  await first.stop("SIGKILL");
  const daemon = await estate.start();
  const shown = (await rest(daemon, "GET", `/api/v1/ai/results/${one.id}`)).json.data;
  expect(shown.appliedStatus).toBe("pending");
  expect(shown.errorMessage).toContain("its outcome is not recorded");
  const act = async (verb: string): Promise<any> =>
    (await rest(daemon, "POST", `/api/v1/ai/results/${one.id}/${verb}`, {})).json;
  expect((await act("revert")).data).toEqual({ reverted: true });
  expect(documentsOf(sim)[0]).toMatchObject({ tags: [1], correspondent: 1, documentType: null });
  expect((await act("apply")).data).toEqual({ applied: true });
  expect((await act("revert")).data).toEqual({ reverted: true });
  expect(documentsOf(sim)[0]).toMatchObject({ tags: [1], correspondent: 1, documentType: null });
  // What was never begun has nothing to revert.
  const { status, json } = await rest(daemon, "POST", `/api/v1/ai/results/${two.id}/revert`, {});
  expect([status, json.error.code]).toEqual([400, "BAD_REQUEST"]);
});

describe("an archive that fails during a batch apply", () => {
  it.each<[string, Fault, string]>([
    ["refuses with 400", { kind: "status", status: 400 }, "pending"],
    ["refuses with 403", { kind: "status", status: 403 }, "pending"],
    ["loses the document", { kind: "status", status: 404 }, "pending"],
    ["answers slowly", { kind: "delay", ms: 300 }, "applied"],
    ["answers garbage after it has stored it", { kind: "garbage" }, "pending"],
  ])("that %s: the others are applied, and the result says so", async (_name, fault, status) => {
    const estate = await startAiEstate(fillPapers(4));
    const daemon = await estate.start();
    await suggestForAll(daemon);
    const [newest] = await resultsOf(daemon);
    estate.sim.faults.next("patch_document", fault);
    const { result } = await jobEnd(daemon, await applyAll(daemon));
    const isFailed = status === "pending";
    expect(result).toMatchObject({
      applied: isFailed ? 3 : 4,
      failed: isFailed ? 1 : 0,
      skipped: 0,
      total: 4,
    });
    expect(result.errors.map(({ resultId }: any) => resultId)).toEqual(isFailed ? [newest.id] : []);
    const after = await resultsOf(daemon);
    expect(after.map(({ appliedStatus }) => appliedStatus)).toEqual([
      status,
      ...Array.from({ length: 3 }, () => "applied"),
    ]);
    expect(after[0].errorMessage === null).toBe(!isFailed);
    // What failed is applied by the next job, once.
    const again = await jobEnd(daemon, await applyAll(daemon));
    expect(again.result).toMatchObject({ applied: isFailed ? 1 : 0, failed: 0 });
    for (const { id } of after) await rest(daemon, "POST", `/api/v1/ai/results/${id}/revert`);
    for (const document of documentsOf(estate.sim))
      expect(document).toMatchObject({ tags: [1], correspondent: 1, documentType: null });
  });

  it("every time: it is left alone after three, and the rest is counted as skipped", async () => {
    const estate = await startAiEstate(fillPapers(6));
    const daemon = await estate.start();
    await suggestForAll(daemon);
    const count = (): number =>
      estate.sim.seen().filter(({ operation }) => operation === "patch_document").length;
    estate.sim.faults.next("patch_document", { kind: "delay", ms: 0 });
    estate.sim.faults.next("patch_document", { kind: "status", status: 401 }, 10);
    const job = await jobEnd(daemon, await applyAll(daemon));
    expect(job).toMatchObject({
      status: "completed",
      result: { applied: 1, failed: 3, skipped: 2, total: 6 },
    });
    expect(count()).toBe(4);
    const none = await jobEnd(daemon, await applyAll(daemon));
    expect(none.status).toBe("failed");
    expect(none.errorMessage).toContain("no AI result was applied");
  });
});

const PAPERS_OF_CANCEL = 5;

it("a cancelled batch apply ends the write it has begun, and reports what it did", async () => {
  const estate = await startAiEstate(fillPapers(PAPERS_OF_CANCEL));
  const { sim } = estate;
  const daemon = await estate.start();
  await suggestForAll(daemon);
  sim.faults.next("patch_document", { kind: "delay", ms: 1_500 }, 5);
  const jobId = await applyAll(daemon);
  await until(() => written(sim) >= 2);
  expect((await rest(daemon, "POST", `/api/v1/jobs/${jobId}/cancel`)).status).toBe(200);
  // The write that had begun ends and is recorded.
  const { job, applied } = await vi.waitFor(
    async () => {
      const results = await resultsOf(daemon);
      expect(results.filter(({ errorMessage }) => errorMessage !== null)).toEqual([]);
      const stored = results.filter(({ appliedStatus }) => appliedStatus === "applied");
      const found = (await rest(daemon, "GET", `/api/v1/jobs/${jobId}`)).json.data;
      expect(stored).toHaveLength(written(sim));
      expect(found.result.applied).toBe(stored.length);
      return { job: found, applied: stored };
    },
    { timeout: 60_000 },
  );
  expect(job).toMatchObject({
    status: "cancelled",
    result: { failed: 0, skipped: PAPERS_OF_CANCEL - applied.length },
  });
});

describe("a result that a run replaces while it is applied", () => {
  const patches = (sim: Paperless): number =>
    sim.seen().filter(({ operation }) => operation === "patch_document").length;

  it("is not applied by a batch, and neither is the one that nobody has seen", async () => {
    const estate = await startAiEstate(fillPapers(2));
    const { sim, provider } = estate;
    const daemon = await estate.start();
    await suggestForAll(daemon);
    const [first, second] = (await resultsOf(daemon)) as [any, any];
    sim.faults.next("patch_document", HELD);
    const resultIds = [first.id, second.id];
    const path = "/api/v1/ai/results/batch-apply";
    const { jobId } = (await rest(daemon, "POST", path, { resultIds })).json.data;
    await expect.poll(() => patches(sim)).toBe(1);
    provider.reply = () => suggestion({ documentType: "Never Seen" });
    await runJob(daemon, "/api/v1/ai/process", { documentIds: [second.documentId] });
    estate.release();
    const job = await jobEnd(daemon, jobId);
    const after = await resultsOf(daemon);
    const fresh = after.find(({ documentId }) => documentId === second.documentId);
    expect(fresh).toMatchObject({
      appliedStatus: "pending",
      suggestedDocumentType: "Never Seen",
    });
    expect(job.result).toMatchObject({ applied: 1, failed: 1, skipped: 0 });
    expect(job.result.errors).toEqual([
      { resultId: fresh.id, error: expect.stringContaining("was replaced") as string },
    ]);
    expect(written(sim)).toBe(1);
    expect(patches(sim)).toBe(1);
    // The next choice is of what is there now.
    const next = await jobEnd(daemon, await applyAll(daemon));
    expect(next.result).toMatchObject({ applied: 1, failed: 0 });
    expect(written(sim)).toBe(2);
  });

  it("is written when its write has begun, and the new one stays pending", async () => {
    const estate = await startAiEstate(fillPapers(1));
    const { sim, provider } = estate;
    const daemon = await estate.start();
    await suggestForAll(daemon);
    const [old] = await resultsOf(daemon);
    sim.faults.next("patch_document", HELD);
    const applied = rest(daemon, "POST", `/api/v1/ai/results/${old.id}/apply`, {});
    await expect.poll(() => patches(sim)).toBe(1);
    provider.reply = () => suggestion({ documentType: "Never Seen" });
    await runJob(daemon, "/api/v1/ai/process", { reprocess: true });
    estate.release();
    expect((await applied).status).toBe(200);
    const [fresh] = await resultsOf(daemon);
    expect(fresh).toMatchObject({
      appliedStatus: "pending",
      suggestedDocumentType: "Never Seen",
      errorMessage: null,
    });
    expect(fresh.id).not.toBe(old.id);
    const [shown] = (await rest(daemon, "GET", "/api/v1/documents")).json.data;
    expect(shown.documentType).toBe("Invoice");
    const again = await rest(daemon, "POST", `/api/v1/ai/results/${fresh.id}/apply`, {});
    expect(again.status).toBe(200);
    expect((await rest(daemon, "POST", `/api/v1/ai/results/${fresh.id}/revert`)).status).toBe(200);
  });
});

it("a run and a batch apply that were killed end at the next start when AI is off then", async () => {
  const estate = await startAiEstate(fillPapers(3));
  const { sim, provider } = estate;
  const first = await estate.start();
  await suggestForAll(first);
  sim.faults.next("patch_document", HELD);
  const apply = await applyAll(first);
  const calls = provider.calls.length;
  provider.reply = () => ({ kind: "hang" });
  const started = await rest(first, "POST", "/api/v1/ai/process", { reprocess: true });
  const run = started.json.data.jobId as string;
  await expect.poll(() => provider.calls.length).toBe(calls + 3);
  await expect.poll(() => sim.requests().patch_document ?? 0).toBe(1);
  await first.stop("SIGKILL");
  provider.reply = () => suggestion();
  const off = await estate.start(estate.config.replace("enabled: true", "enabled: false"));
  for (const id of [run, apply]) {
    const job = await jobEnd(off, id);
    expect(job.status).toBe("failed");
    expect(job.errorMessage).toContain("AI was switched off (dedup.ai.enabled)");
  }
  expect(provider.calls.length).toBe(calls + 3);
  expect(sim.requests().patch_document).toBe(1);
  await off.stop();
  // What was stored is there when AI is on again.
  const on = await estate.start();
  expect(await resultsOf(on)).toHaveLength(3);
});
