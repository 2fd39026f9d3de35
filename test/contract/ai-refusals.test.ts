/** Documents that the archive or the provider refuses, and what becomes of the others. */
import { afterAll, describe, expect, it } from "vitest";
import { suggestion } from "../support/ai-provider.ts";
import { fillPapers, resultsOf, startAiEstate, suggestForAll } from "./ai-estate.ts";
import { removeTemporaryFolders, rest, runJob, type Daemon } from "./daemon.ts";

afterAll(removeTemporaryFolders);

async function applyAll(daemon: Daemon): Promise<any> {
  return await runJob(daemon, "/api/v1/ai/results/apply-all", {});
}

describe("a batch of suggestions", () => {
  it("goes on behind documents that the archive refuses to change", async () => {
    const estate = await startAiEstate(fillPapers(4));
    const { sim } = estate;
    const daemon = await estate.start();
    await suggestForAll(daemon);
    sim.faults.next("patch_document", { kind: "status", status: 403 }, 3);
    const job = await applyAll(daemon);
    expect([job.status, job.errorMessage]).toEqual(["completed", null]);
    expect(job.result).toMatchObject({ applied: 1, failed: 3, skipped: 0 });
  });

  it("ends when the archive refuses fifty in a row, or its token", async () => {
    const estate = await startAiEstate(fillPapers(60));
    const { sim } = estate;
    const daemon = await estate.start();
    await suggestForAll(daemon);
    sim.faults.next("patch_document", { kind: "status", status: 403 }, Infinity);
    const refused = await applyAll(daemon);
    expect([refused.status, sim.requests()["patch_document"]]).toEqual(["failed", 50]);
    expect(refused.errorMessage).toContain("the credential lacks the permission");
    sim.faults.clear();
    sim.faults.next("patch_document", { kind: "status", status: 401 }, Infinity);
    expect((await applyAll(daemon)).status).toBe("failed");
    expect(sim.requests()["patch_document"]).toBe(53);
  });
});

describe("a run", () => {
  it("goes on behind documents that the provider refuses", async () => {
    const estate = await startAiEstate(fillPapers(5));
    const { provider } = estate;
    const daemon = await estate.start();
    let refusals = 0;
    provider.reply = () => {
      refusals += 1;
      return refusals <= 3 ? { kind: "status", status: 400 } : suggestion();
    };
    await suggestForAll(daemon);
    expect((await resultsOf(daemon, "&status=pending")).length).toBe(2);
    expect((await resultsOf(daemon, "&failed=true")).length).toBe(3);
  });

  it("over failed documents begins with the one that failed first", async () => {
    const estate = await startAiEstate(fillPapers(3));
    const { provider } = estate;
    const daemon = await estate.start();
    await suggestForAll(daemon);
    const run = async (body: object): Promise<any> =>
      await runJob(daemon, "/api/v1/ai/process", body);
    const settings = { provider: "openai", model: "gpt-5.4-mini", batchSize: 1 };
    await rest(daemon, "PUT", "/api/v1/ai/config", settings);
    const results = await resultsOf(daemon);
    const titles = ["Paper 2", "Paper 3", "Paper 1"];
    provider.reply = () => ({ kind: "refusal" });
    for (const title of titles) {
      const { documentId } = results.find(({ documentTitle }) => documentTitle === title);
      await run({ scope: { type: "selected_document_ids", documentIds: [documentId] } });
    }
    const before = provider.calls.length;
    await run({ scope: { type: "failed_only" } });
    const asked = provider.calls.slice(before).map(({ body }) => JSON.stringify(body));
    expect(asked.map((body) => titles.find((title) => body.includes(title)))).toEqual(titles);
  });
});
