/** AI suggestions on the running daemon, beside simulated providers and a simulated archive. */
import { join } from "node:path";
import { writeFileSync } from "node:fs";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { startPaperless, type Paperless } from "../../src/demo/paperless/paperless.ts";
import { AiService } from "../../src/gen/steward/dedup/v1/ai_pb.ts";
import { systemClock } from "../../src/kernel/base/clock.ts";
import { systemIds } from "../../src/kernel/base/ids.ts";
import { silent } from "../demo/control-plane/support.ts";
import {
  startAiProvider,
  suggestion,
  USAGE,
  type AiProviderSimulator,
} from "../support/ai-provider.ts";
import {
  jobEnd,
  removeTemporaryFolders,
  rest,
  runJob,
  startDaemon,
  temporaryFolder,
  type Daemon,
} from "./daemon.ts";
import { connectUnary, grpcUnary } from "./rpc.ts";

afterAll(removeTemporaryFolders);

const KEY = "sk-canary-0123456789abcdef";
const CANARY = "the-canary-of-the-text";
const DOCUMENTS = 6;

async function startArchive(): Promise<Paperless> {
  return await startPaperless({
    clock: systemClock,
    ids: systemIds,
    log: silent,
    fill(estate) {
      for (const name of ["inbox", "email"]) estate.addReference("tags", { name });
      for (const name of ["Northwind Water GmbH", "Other"])
        estate.addReference("correspondents", { name });
      for (let number = 1; number <= DOCUMENTS; number++)
        estate.add({
          title: `Paper ${number}`,
          content: `${CANARY} ${number} of a water bill with a sum and a date`,
          tags: [1, 2],
          correspondent: 2,
        });
    },
  });
}

function configOf(sim: Paperless, provider: AiProviderSimulator, state: string): string {
  const folder = temporaryFolder();
  const token = sim.estate.users[0]?.token.use((value) => value) ?? "";
  writeFileSync(join(folder, "token"), token, { mode: 0o600 });
  writeFileSync(join(folder, "key"), KEY, { mode: 0o600 });
  return `gateway: {listen: "127.0.0.1:0"}
state: {directory: ${state}}
services: {monitor: false, tokens: false}
dedup:
  ai:
    enabled: true
    timeout: 5s
    openai: {api_key_file: ${join(folder, "key")}, base_url: "${provider.url}/v1"}
    anthropic: {api_key_file: ${join(folder, "key")}, base_url: "${provider.url}"}
    compatible: {base_url: "${provider.url}/v1"}
  archives:
    - {name: papers, kind: paperless, url: "${sim.url}", token_file: ${join(folder, "token")}}
`;
}

let sim: Paperless;
let provider: AiProviderSimulator;
let daemon: Daemon;
let state: string;

async function api(method: string, path: string, body?: unknown): Promise<any> {
  const { status, json } = await rest(daemon, method, `/api/v1/ai${path}`, body);
  return { status, ...json };
}

async function configure(settings: object): Promise<void> {
  expect(await api("PUT", "/config", settings)).toMatchObject({ status: 200 });
}

const process = (body: object = {}): Promise<any> => runJob(daemon, "/api/v1/ai/process", body);

async function documentIds(): Promise<string[]> {
  const { json } = await rest(daemon, "GET", "/api/v1/documents?limit=100");
  return json.data.map(({ id }: { id: string }) => id);
}

async function resultList(query = ""): Promise<any[]> {
  return (await api("GET", `/results?limit=100${query}`)).data;
}

/** A fresh result of one document. */
async function freshResult(over: object = {}): Promise<any> {
  provider.reply = () => suggestion(over);
  const [id] = await documentIds();
  await process({ documentIds: [id] });
  const [result] = await resultList();
  expect(result.documentId).toBe(id);
  reset(result.paperlessId);
  return result;
}

function live(paperlessId: number): any {
  return [...sim.estate.documents.values()].find(({ id }) => id === paperlessId);
}

/** The document is in the archive as it was at first. */
function reset(paperlessId: number): void {
  sim.estate.edit(paperlessId, { tags: [1, 2], correspondent: 2, documentType: null });
}

beforeAll(async () => {
  [sim, provider] = await Promise.all([startArchive(), startAiProvider()]);
  state = temporaryFolder();
  daemon = await startDaemon({ config: configOf(sim, provider, state) });
  await runJob(daemon, "/api/v1/sync");
});
afterAll(async () => {
  await daemon.stop();
  await Promise.all([sim.stop(), provider.stop()]);
});
afterEach(async () => {
  provider.reply = () => suggestion();
  await configure({
    provider: "openai",
    model: "gpt-5.4-mini",
    batchSize: 100,
    maxRetries: 3,
    tagMode: "merge",
    maxCostPerRunUsd: 0,
    maxCostPerMonthUsd: 0,
    clearProtectedTagNames: true,
  });
});

describe("a run", () => {
  it("suggests for every document, at existing names, and counts tokens and costs", async () => {
    const estimate = await api("GET", "/costs/estimate?documentCount=10");
    expect(estimate.data.breakdown.input).toBeCloseTo(0.015, 9);
    expect(estimate.data.breakdown.output).toBeCloseTo(0.009, 9);
    expect(estimate.data.estimatedCostUsd).toBeCloseTo(0.024, 9);
    expect((await rest(daemon, "GET", "/api/v1/documents?noAiResult=true")).json.meta.total).toBe(
      DOCUMENTS,
    );
    await configure({ includeCorrespondents: true, includeTags: true });
    const job = await process();
    expect(job).toMatchObject({ type: "batch_operation", operation: "ai_processing" });
    expect(job).toMatchObject({
      status: "completed",
      result: { processed: DOCUMENTS, succeeded: DOCUMENTS, failed: 0, stopped: null },
    });
    const list = await api("GET", "/results");
    expect(list.meta).toEqual({ total: DOCUMENTS, limit: 50, offset: 0 });
    expect(list.data[0]).toMatchObject({
      suggestedCorrespondent: "Northwind Water GmbH",
      suggestedDocumentType: "Invoice",
      suggestedTags: ["utilities"],
      currentCorrespondent: "Other",
      appliedStatus: "pending",
      confidence: { correspondent: 0.9, documentType: 0.8, tags: 0.7, title: null },
    });
    expect((await api("GET", `/results/${list.data[0].id}`)).data).toMatchObject({
      promptTokens: USAGE.prompt,
      completionTokens: USAGE.completion,
      estimatedCostUsd: expect.closeTo(0.0012, 9),
      evidence: "header line",
    });
    expect((await api("GET", "/stats")).data).toMatchObject({
      totalProcessed: DOCUMENTS,
      pendingReview: DOCUMENTS,
      totalPromptTokens: DOCUMENTS * USAGE.prompt,
      unprocessed: 0,
    });
    const costs = (await api("GET", "/costs?days=1")).data;
    expect(costs.totalCostUsd).toBeCloseTo(DOCUMENTS * 0.0012, 9);
    expect(costs.costOverTime).toMatchObject([{ documentCount: DOCUMENTS }]);
    const [call] = provider.calls;
    expect(call).toMatchObject({ api: "responses", key: KEY, model: "gpt-5.4-mini" });
    expect(call?.system).toContain("Existing correspondents: Other");
    expect(call?.user).toContain(CANARY);
    expect((await rest(daemon, "GET", "/api/v1/documents?noAiResult=true")).json.meta.total).toBe(
      0,
    );
  });

  it("asks only for documents without a result, unless told otherwise", async () => {
    const before = provider.calls.length;
    expect((await process()).result).toMatchObject({ totalDocuments: 0 });
    expect(provider.calls.length).toBe(before);
    expect((await process({ reprocess: true })).result).toMatchObject({ processed: DOCUMENTS });
  });

  it.each([
    ["anthropic", "claude-opus-4-6", "messages", KEY],
    ["compatible", "local-model", "chat", "none"],
  ])("speaks to %s", async (name, model, spoken, key) => {
    await configure({ provider: name, model });
    const { appliedStatus } = await freshResult();
    expect(appliedStatus).toBe("pending");
    expect(provider.calls.at(-1)).toMatchObject({ api: spoken, model, key });
    expect(await resultList(`&provider=${name}`)).toHaveLength(1);
  });

  it.each([
    ["claude-haiku-4-5", undefined],
    ["claude-haiku-4-5-20251001", undefined],
    ["claude-sonnet-4-6", "low"],
  ])("sends %s the effort %s", async (model, effort) => {
    await configure({ provider: "anthropic", model });
    const { appliedStatus } = await freshResult();
    expect(appliedStatus).toBe("pending");
    expect(provider.calls.at(-1)?.body.output_config.effort).toBe(effort);
  });

  it("names the settings that a refused request may be due to", async () => {
    await configure({ provider: "anthropic", model: "claude-haiku-4-5-latest" });
    const [id] = await documentIds();
    await process({ documentIds: [id] });
    const [failed] = await resultList("&failed=true");
    expect(failed.errorMessage).toMatch(/\(400\).*model.*reasoningEffort/);
  });

  it.each([
    ["a refusal", { kind: "refusal" }, "refusal"],
    ["an answer that is cut short", { kind: "cut" }, "max_tokens"],
    ["bad JSON", { kind: "text", text: "{not json" }, "schema_mismatch"],
    ["JSON of another shape", { kind: "text", text: '{"tags": "x"}' }, "schema_mismatch"],
    ["an answer without end", { kind: "huge" }, "schema_mismatch"],
    [
      "no suggestion",
      suggestion({ correspondent: "unknown", documentType: null, tags: [] }),
      "no_suggestions",
    ],
    ["silence", { kind: "hang" }, "timeout"],
    ["a redirect", { kind: "redirect" }, "provider_error"],
    ["a request refused", { kind: "status", status: 400 }, "provider_error"],
    [
      "a limit of rate without end",
      { kind: "status", status: 429, headers: { "retry-after": "0" } },
      "rate_limit",
    ],
    [
      "a failure without end",
      { kind: "status", status: 500, headers: { "retry-after": "0" } },
      "provider_error",
    ],
  ] as const)(
    "stores %s as a failed result, without the provider's words",
    async (_name, reply, type) => {
      await configure({ provider: "compatible", maxRetries: 1 });
      provider.reply = () => reply;
      const [id] = await documentIds();
      const job = await process({ documentIds: [id] });
      expect(job.result).toMatchObject({ processed: 1, failed: 1 });
      const [failed] = await resultList("&failed=true");
      expect(failed).toMatchObject({ appliedStatus: "failed", failureType: type, documentId: id });
      expect(JSON.stringify(failed)).not.toContain("SECRET TEXT");
    },
  );

  it.each([
    ["429", { kind: "status", status: 429, headers: { "retry-after": "0.01" } }],
    ["503", { kind: "status", status: 503, headers: { "retry-after": "0" } }],
  ] as const)("tries again after %s", async (_name, reply) => {
    let first = true;
    provider.reply = () => {
      if (!first) return suggestion();
      first = false;
      return reply;
    };
    const [id] = await documentIds();
    expect((await process({ documentIds: [id] })).result).toMatchObject({ succeeded: 1 });
  });

  it("gets an answer for every document from a provider that limits the rate", async () => {
    let freeAtMs = 0;
    provider.reply = () => {
      const now = performance.now();
      if (now < freeAtMs) {
        const seconds = `${(freeAtMs - now) / 1_000}`;
        return { kind: "status", status: 429, headers: { "retry-after": seconds } };
      }
      freeAtMs = now + 100;
      return suggestion();
    };
    const job = await process({ reprocess: true });
    expect(job).toMatchObject({ status: "completed", result: { succeeded: DOCUMENTS, failed: 0 } });
    expect(job.result.rateLimitPauses).toBeGreaterThan(0);
  });

  it("ends when the key is refused, and says so", async () => {
    await configure({ batchSize: 1 });
    provider.reply = () => ({ kind: "status", status: 401 });
    const before = provider.calls.length;
    const job = await process({ reprocess: true });
    expect(job.status).toBe("failed");
    expect(job.errorMessage).toContain("refused the API key");
    expect(provider.calls.length).toBe(before + 1);
  });

  it("sends no more requests at once than its setting allows", async () => {
    await configure({ batchSize: 2 });
    provider.mostInFlight = 0;
    const both = Promise.withResolvers<void>();
    provider.reply = async () => {
      if (provider.mostInFlight >= 2) both.resolve();
      await both.promise;
      // A third one would come in this time.
      await new Promise((resolve) => setTimeout(resolve, 20));
      return suggestion();
    };
    await process({ reprocess: true });
    expect(provider.mostInFlight).toBe(2);
  });

  it("stops before a cost limit is passed, and refuses the next run of the month", async () => {
    // One request may cost about two cents.
    await configure({ batchSize: 1, maxCostPerRunUsd: 0.021 });
    const job = await process({ reprocess: true });
    expect(job).toMatchObject({ status: "completed", result: { stopped: "run_cost_limit" } });
    expect(job.result.processed).toBeGreaterThan(0);
    expect(job.result.skipped).toBeGreaterThan(0);
    expect(job.result.costUsd).toBeLessThanOrEqual(0.021);
    await configure({ maxCostPerRunUsd: 0, maxCostPerMonthUsd: 0.001 });
    const refused = await api("POST", "/process", {});
    expect(refused).toMatchObject({ status: 409, error: { code: "CONFLICT" } });
    expect(refused.error.message).toContain("maxCostPerMonthUsd");
    expect((await api("GET", "/costs")).data.limits).toMatchObject({ monthLimitReached: true });
    await configure({ maxCostPerMonthUsd: 1, provider: "compatible" });
    expect(await api("POST", "/process", {})).toMatchObject({ status: 409 });
  });

  it("reserves more for a text of which each character may be a token", async () => {
    const [paper] = (await rest(daemon, "GET", "/api/v1/documents?limit=100")).json.data;
    const original = live(paper.paperlessId).content as string;
    // Of about 0.020 dollars, 0.018 are for the answer; 2,000 characters cost 0.0005 or 0.0015.
    const run = async (content: string): Promise<any> => {
      sim.estate.edit(paper.paperlessId, { content });
      await runJob(daemon, "/api/v1/sync", { force: true });
      await configure({ maxCostPerRunUsd: 0.0203 });
      return (await process({ documentIds: [paper.id] })).result;
    };
    expect(await run("a bill for water ".repeat(118))).toMatchObject({ succeeded: 1 });
    expect(await run("水道料金の請求書".repeat(250))).toMatchObject({
      processed: 0,
      stopped: "run_cost_limit",
    });
    sim.estate.edit(paper.paperlessId, { content: original });
    await runJob(daemon, "/api/v1/sync", { force: true });
  });

  it("is one at a time, and is cancelled while it waits", async () => {
    provider.reply = () => ({ kind: "hang" });
    const started = await api("POST", "/process", { reprocess: true });
    expect(started.status).toBe(202);
    expect(await api("POST", "/process", {})).toMatchObject({
      status: 409,
      error: { code: "JOB_ALREADY_RUNNING" },
    });
    const { jobId } = started.data;
    await rest(daemon, "POST", `/api/v1/jobs/${jobId}/cancel`);
    expect((await jobEnd(daemon, jobId)).status).toBe("cancelled");
  });
});

describe("the scope of a run", () => {
  it("selects new, failed, named, filtered or all documents", async () => {
    const ids = await documentIds();
    await process({ reprocess: true });
    const run = async (scope: object): Promise<any> => (await process({ scope })).result;
    expect(await run({ type: "new_only" })).toMatchObject({ totalDocuments: 0 });
    expect(await run({ type: "full_reprocess" })).toMatchObject({ processed: DOCUMENTS });
    expect(await run({ type: "failed_only" })).toMatchObject({ totalDocuments: 0 });
    provider.reply = () => ({ kind: "refusal" });
    expect(
      await run({ type: "selected_document_ids", documentIds: ids.slice(0, 2) }),
    ).toMatchObject({ processed: 2, failed: 2 });
    provider.reply = () => suggestion({ correspondent: null, documentType: null, tags: [] });
    await run({ type: "selected_document_ids", documentIds: ids.slice(2, 3) });
    provider.reply = () => suggestion();
    // A document without a suggestion is not asked about again.
    expect(await run({ type: "failed_only" })).toMatchObject({ processed: 2, succeeded: 2 });
    expect(await run({ type: "current_filter", filters: { search: "Paper 3" } })).toMatchObject({
      processed: 1,
    });
    expect(
      await run({ type: "current_filter", filters: { search: "no such title" } }),
    ).toMatchObject({ totalDocuments: 0 });
    // It wins over the other two.
    const both = { reprocess: true, documentIds: ids, scope: { type: "new_only" } };
    expect((await process(both)).result).toMatchObject({ totalDocuments: 0 });
    await process({ reprocess: true });
  });

  it.each([
    [{ type: "everything" }, 400, "VALIDATION_FAILED", "scope.type"],
    [{}, 400, "VALIDATION_FAILED", "scope.type"],
    [{ type: "selected_document_ids" }, 400, "VALIDATION_FAILED", "scope.documentIds"],
    [{ type: "selected_document_ids", documentIds: ["x"] }, 404, "NOT_FOUND", "documentIds[0]"],
    [{ type: "new_only", document: [] }, 400, "VALIDATION_FAILED", "document"],
    [
      { type: "current_filter", filters: { minConfidence: 2 } },
      400,
      "VALIDATION_FAILED",
      "inConfidence",
    ],
  ])("%j is refused by REST, Connect and gRPC", async (scope, status, code, word) => {
    const refused = await api("POST", "/process", { scope });
    expect([refused.status, refused.error.code]).toEqual([status, code]);
    expect(JSON.stringify(refused.error)).toContain(word);
    if ("document" in scope) return;
    const method = AiService.method.startAiProcessing;
    const answer = await connectUnary(daemon.url, method, { scope });
    expect(answer.error?.code).toBe(status === 404 ? "not_found" : "invalid_argument");
    await expect(grpcUnary(daemon.host, method, { scope })).rejects.toMatchObject({
      code: status === 404 ? 5 : 3,
    });
  });
});

describe("a review", () => {
  it("applies all fields, keeps other tags, and reverts only what it wrote", async () => {
    const { id, paperlessId } = await freshResult();
    expect(await api("POST", `/results/${id}/apply`, {})).toMatchObject({
      status: 200,
      data: { applied: true },
    });
    const names = (await rest(daemon, "GET", "/api/v1/documents?limit=100")).json.data;
    expect(names.find((one: any) => one.paperlessId === paperlessId)).toMatchObject({
      correspondent: "Northwind Water GmbH",
      documentType: "Invoice",
    });
    const written = live(paperlessId);
    expect(written.correspondent).toBe(1);
    expect(written.tags).toEqual(expect.arrayContaining([1, 2]));
    expect(written.tags).toHaveLength(3);
    expect((await api("GET", `/results/${id}`)).data).toMatchObject({
      appliedStatus: "applied",
      appliedFields: ["correspondent", "documentType", "tags"],
      beforeApply: {
        correspondent: "Other",
        documentType: null,
        tags: expect.arrayContaining(["inbox", "email"]),
      },
    });
    expect(await api("POST", `/results/${id}/apply`, {})).toMatchObject({ status: 409 });
    expect(await api("POST", `/results/${id}/reject`, {})).toMatchObject({ status: 409 });
    // A person takes a tag away in the meantime: that stays so.
    sim.estate.edit(paperlessId, { tags: written.tags.filter((tag: number) => tag !== 1) });
    expect(await api("POST", `/results/${id}/revert`)).toMatchObject({
      status: 200,
      data: { reverted: true },
    });
    expect(live(paperlessId)).toMatchObject({ correspondent: 2, tags: [2] });
    expect(await api("POST", `/results/${id}/revert`)).toMatchObject({
      status: 400,
      error: { code: "BAD_REQUEST" },
    });
    expect((await api("GET", `/results/${id}`)).data.appliedStatus).toBe("reverted");
    expect(await api("POST", `/results/${id}/apply`, { fields: ["tags"] })).toMatchObject({
      status: 200,
    });
  });

  it("takes no empty list of fields for all of them", async () => {
    for (const [path, body] of [
      ["/results/any/apply", {}],
      ["/results/batch-apply", { resultIds: ["any"] }],
      ["/results/apply-all", {}],
      ["/results/preflight", { scope: { type: "all_pending" } }],
    ] as const)
      expect(await api("POST", path, { ...body, fields: [] }), path).toMatchObject({
        error: {
          code: "VALIDATION_FAILED",
          details: [
            {
              path: ["fields"],
              message: expect.stringContaining("must have a value, or be left out") as string,
            },
          ],
        },
      });
  });

  it("applies some fields as partial, and the rest later", async () => {
    const { id, paperlessId } = await freshResult();
    await api("POST", `/results/${id}/apply`, { fields: ["documentType"] });
    expect(live(paperlessId).correspondent).toBe(2);
    expect(await resultList("&status=partial")).toHaveLength(1);
    expect((await api("GET", "/feedback/summary")).data.partialApplied).toBeGreaterThan(0);
    await api("POST", `/results/${id}/apply`, { fields: ["correspondent", "tags"] });
    expect((await api("GET", `/results/${id}`)).data.appliedStatus).toBe("applied");
    await api("POST", `/results/${id}/revert`);
    expect(live(paperlessId).correspondent).toBe(2);
  });

  it("leaves alone what people changed between two partial applies", async () => {
    const { id, paperlessId } = await freshResult();
    const apply = async (...fields: readonly string[]): Promise<void> =>
      expect(await api("POST", `/results/${id}/apply`, { fields })).toMatchObject({ status: 200 });
    await apply("tags");
    const tagged = live(paperlessId).tags as number[];
    const added = tagged.filter((tag) => tag > 2);
    expect(added).toHaveLength(1);
    // A person takes a tag away, adds one, and files it under another correspondent.
    const own = sim.estate.addReference("tags", { name: `own-${id}` }).id;
    const other = sim.estate.addReference("correspondents", { name: `Someone ${id}` }).id;
    sim.estate.edit(paperlessId, { tags: [2, ...added, own], correspondent: other });
    await apply("documentType");
    expect(await api("POST", `/results/${id}/revert`)).toMatchObject({ status: 200 });
    const reverted = live(paperlessId);
    expect(new Set(reverted.tags)).toEqual(new Set([2, own]));
    expect(reverted).toMatchObject({ correspondent: other, documentType: null });
    // The same with tags that are applied twice.
    await apply("tags");
    const later = sim.estate.addReference("tags", { name: `later-${id}` }).id;
    sim.estate.edit(paperlessId, { tags: [...added, own, later] });
    await apply("tags", "correspondent");
    await api("POST", `/results/${id}/revert`);
    expect(new Set(live(paperlessId).tags)).toEqual(new Set([own, later]));
    expect(live(paperlessId).correspondent).toBe(other);
  });

  it("brings back no correspondent that no suggestion has replaced", async () => {
    const { id, paperlessId } = await freshResult({ correspondent: null });
    await api("POST", `/results/${id}/apply`, { fields: ["correspondent", "documentType"] });
    sim.estate.edit(paperlessId, { correspondent: 1 });
    for (const fields of [["tags"], ["correspondent", "tags"]])
      await api("POST", `/results/${id}/apply`, { fields });
    await api("POST", `/results/${id}/revert`);
    expect(live(paperlessId)).toMatchObject({ correspondent: 1, documentType: null });
  });

  it("replaces tags but for protected ones where that is set", async () => {
    await configure({ tagMode: "replace", protectedTagNames: ["Email", "secret"] });
    const { id, paperlessId } = await freshResult({ tags: ["utilities", "secret"] });
    await api("POST", `/results/${id}/apply`, { fields: ["tags"] });
    const { tags } = live(paperlessId);
    expect(tags).toContain(2);
    expect(tags).not.toContain(1);
    expect(tags).toHaveLength(2);
    await api("POST", `/results/${id}/revert`);
    expect(live(paperlessId).tags.toSorted()).toEqual([1, 2]);
  });

  it("creates no names when it must not", async () => {
    const { id, paperlessId } = await freshResult({
      correspondent: "Somebody New",
      tags: ["brand-new"],
    });
    const answer = await api("POST", `/results/${id}/apply`, {
      fields: ["correspondent", "tags"],
      createMissingEntities: false,
    });
    expect(answer).toMatchObject({ status: 409, error: { code: "CONFLICT" } });
    expect(live(paperlessId).correspondent).toBe(2);
  });

  it("clears a field only when that is allowed", async () => {
    const { id, paperlessId } = await freshResult({ correspondent: null });
    await api("POST", `/results/${id}/apply`, { fields: ["correspondent"], allowClearing: true });
    expect(live(paperlessId).correspondent ?? null).toBeNull();
    await api("POST", `/results/${id}/revert`);
    expect(live(paperlessId).correspondent).toBe(2);
  });

  it("rejects one, several and all, and counts what changed", async () => {
    await process({ reprocess: true });
    const [first, second, third] = await resultList("&status=pending");
    expect(await api("POST", `/results/${first.id}/reject`, { reason: "wrong" })).toMatchObject({
      data: { rejected: true },
    });
    expect(
      (await api("POST", "/results/batch-reject", { resultIds: [first.id, second.id, "none"] }))
        .data,
    ).toEqual({ rejected: 1 });
    expect((await api("POST", "/results/reject-all")).data).toEqual({ rejected: DOCUMENTS - 2 });
    expect((await api("POST", "/results/reject-all")).data).toEqual({ rejected: 0 });
    expect((await api("GET", `/results/${third.id}`)).data.appliedStatus).toBe("rejected");
    expect(await api("POST", "/results/none/reject", {})).toMatchObject({ status: 404 });
    expect(await api("POST", "/results/batch-reject", { resultIds: [] })).toMatchObject({
      status: 400,
      error: { code: "BAD_REQUEST" },
    });
  });

  it("previews, groups and applies all pending results as a job", async () => {
    for (const { id } of sim.estate.documents.values()) reset(id);
    await runJob(daemon, "/api/v1/sync", { force: true });
    provider.reply = () => suggestion({ documentType: "Water Statement", tags: ["meter-reading"] });
    await process({ reprocess: true });
    const scope = { type: "all_pending" };
    expect((await api("POST", "/results/preflight", { scope })).data).toMatchObject({
      totalDocuments: DOCUMENTS,
      fieldsChanged: { correspondent: DOCUMENTS, documentType: DOCUMENTS, tags: DOCUMENTS },
      newEntitiesCreated: { documentTypes: ["Water Statement"], tags: ["meter-reading"] },
      confidenceDistribution: { high: DOCUMENTS },
      notApplicableCount: 0,
    });
    expect(await api("POST", "/results/preflight", {})).toMatchObject({
      status: 400,
      error: { code: "BAD_REQUEST" },
    });
    const groups = await api("GET", "/results/groups?groupBy=suggestedDocumentType");
    expect(groups.data.groups).toMatchObject([{ key: "Water Statement", count: DOCUMENTS }]);
    expect(
      (await api("GET", "/results/groups?groupBy=confidenceBand&changedOnly=true")).data.groups,
    ).toHaveLength(1);
    for (const query of ["", "?groupBy=toString", "?groupBy=__proto__", "?groupBy=constructor"])
      expect(await api("GET", `/results/groups${query}`)).toMatchObject({
        status: 400,
        error: { code: "BAD_REQUEST" },
      });
    expect(await resultList("&minConfidence=0.9")).toEqual([]);
    expect(await resultList("&search=paper 3")).toHaveLength(1);
    const [one] = await resultList();
    const batch = await runJob(daemon, "/api/v1/ai/results/batch-apply", { resultIds: [one.id] });
    expect(batch).toMatchObject({ operation: "ai_apply", result: { applied: 1, total: 1 } });
    const all = await runJob(daemon, "/api/v1/ai/results/apply-all", {});
    expect(all.result).toMatchObject({ applied: DOCUMENTS - 1, failed: 0 });
    expect((await api("GET", "/stats")).data.applied).toBe(DOCUMENTS);
    expect(await api("POST", "/results/batch-apply", {})).toMatchObject({
      status: 400,
      error: { code: "BAD_REQUEST" },
    });
  });

  it("records feedback and sums it up", async () => {
    const [{ id }] = await resultList();
    expect(
      await api("POST", `/results/${id}/feedback`, {
        action: "corrected",
        corrections: { correspondent: "B", tags: { suggested: ["x"], corrected: ["y"] } },
      }),
    ).toMatchObject({ status: 201, data: { recorded: true } });
    await api("POST", `/results/${id}/feedback`, { action: "rejected", rejectedFields: ["tags"] });
    expect(await api("POST", "/results/none/feedback", { action: "rejected" })).toMatchObject({
      status: 404,
    });
    for (const wrong of [{ action: "bad" }, { reason: "no action" }])
      expect(await api("POST", `/results/${id}/feedback`, wrong)).toMatchObject({
        status: 400,
        error: { code: "VALIDATION_FAILED" },
      });
    const { data } = await api("GET", "/feedback/summary");
    expect(data.corrections).toBe(1);
    expect(data.topRejectedFields).toEqual(
      expect.arrayContaining([expect.objectContaining({ field: "tags" })]),
    );
    expect(data.topCorrectionPatterns).toContainEqual({
      field: "tags",
      suggestedValue: '["x"]',
      correctedValue: '["y"]',
      count: 1,
    });
  });

  it("says that the document is gone from the archive", async () => {
    const { id, paperlessId } = await freshResult();
    sim.estate.trash(paperlessId);
    expect(await api("POST", `/results/${id}/apply`, {})).toMatchObject({ status: 404 });
    expect((await api("GET", `/results/${id}`)).data).toMatchObject({
      appliedStatus: "failed",
      failureType: "document_not_found",
    });
    await runJob(daemon, "/api/v1/sync", { force: true });
    expect(await api("GET", `/results/${id}`)).toMatchObject({ status: 404 });
  });
});

describe("settings and models", () => {
  it("are read, changed in part, and checked", async () => {
    expect((await api("GET", "/config")).data).toMatchObject({
      provider: "openai",
      maxContentLength: 8_000,
      reasoningEffort: "low",
    });
    expect((await api("PUT", "/config", { maxContentLength: 900 })).data).toMatchObject({
      maxContentLength: 900,
      provider: "openai",
    });
    for (const wrong of [{ batchSize: 0 }, { provider: "nobody" }, { reasoningEffort: "wild" }])
      expect(await api("PUT", "/config", wrong)).toMatchObject({
        status: 400,
        error: { code: "VALIDATION_FAILED" },
      });
    expect((await api("GET", "/models?provider=openai")).data).toContainEqual({
      id: "gpt-5.4-mini",
      name: "GPT-5.4 Mini",
    });
    expect((await api("GET", "/models?provider=compatible")).data).toEqual([
      { id: "local-model", name: "local-model" },
    ]);
    for (const query of ["", "?provider=nobody"])
      expect(await api("GET", `/models${query}`)).toMatchObject({
        status: 400,
        error: { code: "BAD_REQUEST" },
      });
    await configure({ provider: "compatible", model: "local-model" });
    expect((await api("POST", "/test-connection")).data).toEqual({
      connected: true,
      provider: "compatible",
      model: "local-model",
      modelListed: true,
      models: 1,
      latencyMs: expect.any(Number),
    });
    expect((await api("GET", "/providers")).data).toContainEqual(
      expect.objectContaining({ name: "compatible", hasAddress: true, chosen: true }),
    );
    expect(await api("GET", "/costs/estimate?documentCount=5")).toMatchObject({ status: 404 });
    expect(await api("GET", "/costs/estimate")).toMatchObject({
      status: 400,
      error: { code: "VALIDATION_FAILED" },
    });
  });

  it("are the same over Connect and gRPC", async () => {
    const connect = await fetch(`${daemon.url}/steward.dedup.v1.AiService/GetAiStats`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: "{}",
    });
    const { totalProcessed } = (await connect.json()).data;
    const grpc = await grpcUnary(daemon.host, AiService.method.getAiStats, {});
    expect(grpc.data?.totalProcessed).toBe(totalProcessed);
    expect(totalProcessed).toBeGreaterThan(0);
  });
});

it("a key and the text of a document are in no log", () => {
  const log = [...daemon.stdout, ...daemon.stderr].join("\n");
  expect(log).not.toContain(KEY);
  expect(log).not.toContain(CANARY);
});

it("a run that was killed goes on behind its last result", async () => {
  await configure({ batchSize: 1 });
  const before = provider.calls.length;
  const held = Promise.withResolvers<void>();
  provider.reply = (call) => {
    if (provider.calls.length - before < 3) return suggestion();
    held.resolve();
    void call;
    return { kind: "hang" };
  };
  const { data } = await api("POST", "/process", { reprocess: true });
  await held.promise;
  await daemon.stop("SIGKILL");
  provider.reply = () => suggestion();
  daemon = await startDaemon({ config: configOf(sim, provider, state) });
  const job = await jobEnd(daemon, data.jobId);
  const count = DOCUMENTS - 1;
  expect(job).toMatchObject({
    status: "completed",
    result: { processed: count, succeeded: count },
  });
  // Only the request that was in flight is sent a second time.
  expect(provider.calls.length - before).toBe(count + 1);
});

it("every endpoint is refused while AI is off", async () => {
  const off = await startDaemon({
    config: `gateway: {listen: "127.0.0.1:0"}
state: {directory: ${temporaryFolder()}}
services: {monitor: false, tokens: false}
`,
  });
  const calls: [string, string, object?][] = [
    ["GET", "/config"],
    ["PUT", "/config", {}],
    ["GET", "/models"],
    ["GET", "/providers"],
    ["POST", "/test-connection"],
    ["POST", "/process", {}],
    ["GET", "/results"],
    ["GET", "/results/groups"],
    ["GET", "/results/x"],
    ...["apply", "reject", "revert", "feedback"].map((verb): [string, string, object] => [
      "POST",
      `/results/x/${verb}`,
      {},
    ]),
    ...["batch-apply", "batch-reject", "reject-all", "apply-all", "preflight"].map(
      (verb): [string, string, object] => ["POST", `/results/${verb}`, {}],
    ),
    ["GET", "/feedback/summary"],
    ["GET", "/costs"],
    ["GET", "/costs/estimate?documentCount=1"],
    ["GET", "/stats"],
  ];
  expect(calls).toHaveLength(22);
  for (const [method, path, body] of calls) {
    const bodies = body === undefined ? [undefined] : [body, { nothing: 1 }, "{not json"];
    for (const sent of bodies) {
      const { status, json } = await rest(off, method, `/api/v1/ai${path}`, sent);
      expect([path, status, json.error?.code]).toEqual([path, 400, "BAD_REQUEST"]);
    }
  }
  const query = "?limit=1000&offset=-1&status=x&groupBy=&documentCount=0&minConfidence=7";
  for (const path of ["/results", "/results/groups", "/costs", "/costs/estimate"]) {
    const { status, json } = await rest(off, "GET", `/api/v1/ai${path}${query}`);
    expect([path, status, json.error?.code]).toEqual([path, 400, "BAD_REQUEST"]);
  }
  // A message that breaks the rules is refused with the same words, by whatever protocol.
  const wrong = { limit: 1_000, minConfidence: 7 };
  const connect = await connectUnary(off.url, AiService.method.listAiResults, wrong);
  expect(connect.error).toMatchObject({ code: "invalid_argument" });
  expect(connect.error?.message).toContain("AI is off");
  const grpc = await grpcUnary(off.host, AiService.method.listAiResults, wrong).then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(grpc).toMatchObject({ code: 3, details: expect.stringContaining("AI is off") as string });
  await off.stop();
});
