import { create, toBinary } from "@bufbuild/protobuf";
import { describe, expect, it, onTestFinished } from "vitest";
import { createApplier } from "../../../src/dedup/ai/apply.ts";
import { costEntries } from "../../../src/dedup/ai/costs.ts";
import { failed } from "../../../src/dedup/ai/providers/failures.ts";
import { createOpenAiProvider } from "../../../src/dedup/ai/providers/openai.ts";
import { startModel } from "../../../src/demo/model/model.ts";
import { AiResultStatus } from "../../../src/gen/steward/dedup/v1/ai_pb.ts";
import {
  AiProcessCursorSchema,
  AiProcessInputSchema,
} from "../../../src/gen/steward/state/v1/dedup_pb.ts";
import { systemClock } from "../../../src/kernel/base/clock.ts";
import { systemIds } from "../../../src/kernel/base/ids.ts";
import { Secret } from "../../../src/kernel/base/secret.ts";
import { silent } from "../../demo/control-plane/support.ts";
import { aborted } from "../../kernel/jobs/fixtures/types.ts";
import { startAiProvider, suggestion } from "../../support/ai-provider.ts";
import { fastClock } from "../paperless/support.ts";
import { never } from "../store-bench.ts";
import { DAY_MS, NOON_MS, openAiBench, type AiBench } from "./bench.ts";

/** Starts or continues a run over all documents and stops it while it asks about one. */
async function runUntil(bench: AiBench, docNo: number): Promise<string> {
  const running = await bench.open();
  const { jobs } = running;
  const { answering } = bench;
  const reached = Promise.withResolvers<void>();
  bench.answering = async (asked, signal) => {
    await answering(asked, signal);
    if (asked !== docNo) return;
    reached.resolve();
    await aborted(signal);
  };
  const active = jobs.active("ai_processing");
  if (active !== undefined) await jobs.recover();
  const { id } = active ?? (await running.startProcess({ reprocess: true }));
  await reached.promise;
  await jobs.stop(60_000);
  bench.answering = answering;
  return id;
}

const refusedKey = failed("provider_error", "the provider refused the API key (401)", "run");
const refusal = failed("refusal", "the model refused", "document", {
  promptTokens: 7,
  completionTokens: 2,
  cachedTokens: 0,
});
const APPLIED = {
  status: AiResultStatus.APPLIED,
  appliedFields: [1, 2, 3],
  appliedAtMs: NOON_MS - DAY_MS,
  before: { title: "Paper", tags: [] },
  written: { title: "Paper", tags: [3] },
};

/** The ledger, summed up. */
function charged({ env }: AiBench): { requests: number; documents: number; promptTokens: number } {
  const rows = env.read((snapshot) => [...costEntries(snapshot)].map(({ row }) => row));
  const sum = (field: "requests" | "documents" | "promptTokens"): number =>
    rows.reduce((total, row) => total + row[field], 0);
  return {
    requests: sum("requests"),
    documents: sum("documents"),
    promptTokens: sum("promptTokens"),
  };
}

describe("an AI run", () => {
  it.each([{ reprocess: true }, { docNos: [2, 1] }])(
    "processes again what has a result of a clock that was ahead: %o",
    async (input) => {
      const bench = await openAiBench(2);
      for (const docNo of [1, 2]) await bench.putResult(docNo, { createdAtMs: NOON_MS + DAY_MS });
      const result = await (await bench.open()).process(input);
      expect(result).toMatchObject({ totalDocuments: 2, processed: 2, succeeded: 2 });
      expect(bench.asked).toEqual([2, 1]);
    },
  );

  it("asks once about each document when the clock is set back before a crash", async () => {
    const bench = await openAiBench(3);
    for (const docNo of [1, 2, 3]) await bench.putResult(docNo);
    bench.answering = (docNo) => {
      if (docNo === 2) bench.nowMs = NOON_MS - 1;
    };
    const id = await runUntil(bench, 1);
    const result = await (await bench.open()).recovered(id);
    expect(result).toMatchObject({ totalDocuments: 3, processed: 3 });
    expect(bench.asked).toEqual([3, 2, 1, 1]);
  });

  it("asks once about each document when that of the newest result is removed before a crash", async () => {
    const bench = await openAiBench(3);
    for (const docNo of [1, 2, 3]) await bench.putResult(docNo, { serial: 4 - docNo });
    await runUntil(bench, 3);
    await bench.removeDocument(1);
    const id = await runUntil(bench, 2);
    await (await bench.open()).recovered(id);
    expect(bench.asked).toEqual([3, 3, 2, 2]);
  });

  it("continues a run of a version that did not store the newest result", async () => {
    const bench = await openAiBench(2);
    await bench.putResult(1, { createdAtMs: NOON_MS + 1 });
    await bench.putResult(2);
    const id = await bench.putRunning(
      "ai_processing",
      toBinary(AiProcessInputSchema, create(AiProcessInputSchema, { reprocess: true })),
      toBinary(
        AiProcessCursorSchema,
        create(AiProcessCursorSchema, { startedAtMs: NOON_MS, succeeded: 1 }),
      ),
    );
    const result = await (await bench.open()).recovered(id);
    expect(result).toMatchObject({ totalDocuments: 2, processed: 2 });
    expect(bench.asked).toEqual([2]);
  });
});

describe("a failure that ends an AI run", () => {
  it("leaves the result of every document that was in flight", async () => {
    const bench = await openAiBench(3);
    await bench.putResult(1, APPLIED);
    await bench.putResult(2);
    bench.batchSize = 3;
    const all = Promise.withResolvers<void>();
    bench.answering = async () => {
      if (bench.asked.length === 3) all.resolve();
      await all.promise;
    };
    bench.failing = () => refusedKey;
    const running = await bench.open();
    const { results } = running;
    const rows = [1, 2].map((docNo) => results.row(docNo));
    await expect(running.process({ reprocess: true })).rejects.toThrow("refused the API key");
    expect([1, 2].map((docNo) => results.row(docNo))).toEqual(rows);
    expect(results.index.has(3)).toBe(false);
    expect(charged(bench)).toEqual({ requests: 3, documents: 0, promptTokens: 0 });
  });

  it("leaves documents without a result to the next run", async () => {
    const bench = await openAiBench(2);
    bench.failing = () => refusedKey;
    const running = await bench.open();
    await expect(running.process({})).rejects.toThrow("refused the API key");
    bench.failing = () => undefined;
    expect(await running.process({})).toMatchObject({ totalDocuments: 2, succeeded: 2 });
  });
});

describe("a document that a model refuses", () => {
  it("keeps a result that was applied, which can be reverted", async () => {
    const bench = await openAiBench(1);
    await bench.putResult(1, APPLIED);
    bench.failing = () => refusal;
    const running = await bench.open();
    const { results, deps } = running;
    const result = await running.process({ reprocess: true });
    expect(result).toMatchObject({ processed: 1, succeeded: 0, failed: 1, totalPromptTokens: 7 });
    expect(charged(bench)).toEqual({ requests: 1, documents: 1, promptTokens: 7 });
    const kept = results.byId("result-1");
    expect(kept).toMatchObject({
      ...APPLIED,
      errorMessage: "a run could not process the document again: the model refused",
    });
    await createApplier(deps).revert(kept, never);
    const reverted = results.byId("result-1");
    expect(reverted).toMatchObject({ status: AiResultStatus.REVERTED });
    expect(reverted.errorMessage).toBeUndefined();
  });

  it("keeps a message that the outcome of applying its result is not known", async () => {
    const bench = await openAiBench(1);
    const errorMessage = "applying it has begun";
    const { before, written } = APPLIED;
    await bench.putResult(1, { before, written, applyingFields: [1], errorMessage });
    bench.failing = () => refusal;
    const running = await bench.open();
    const { results } = running;
    await running.process({ reprocess: true });
    expect(results.byId("result-1")).toMatchObject({ applyingFields: [1], errorMessage });
  });

  it.each([AiResultStatus.PENDING, AiResultStatus.REJECTED])(
    "keeps a suggestion of status %i when the failure may pass, and gets the next one",
    async (status) => {
      const bench = await openAiBench(2);
      await bench.putResult(1, { status });
      const passing = failed("provider_error", "the provider answered 503", "retry");
      bench.failing = () => ({ ...passing, retryAfterMs: 1 });
      const running = await bench.open();
      const { results } = running;
      expect(await running.process({ reprocess: true })).toMatchObject({
        processed: 2,
        failed: 2,
      });
      expect(results.byId("result-1")).toMatchObject({
        status,
        errorMessage: "a run could not process the document again: the provider answered 503",
      });
      expect(results.row(2)).toMatchObject({ status: AiResultStatus.FAILED });
      bench.failing = () => undefined;
      await running.process({ reprocess: true });
      expect(results.row(1)).toMatchObject({ status: AiResultStatus.PENDING });
      expect(results.row(1)?.id).not.toBe("result-1");
    },
  );

  it("gets a failed result where nothing was applied", async () => {
    const bench = await openAiBench(2);
    await bench.putResult(1);
    bench.failing = () => refusal;
    const running = await bench.open();
    const { results } = running;
    const result = await running.process({ reprocess: true });
    expect(result).toMatchObject({ processed: 2, failed: 2 });
    for (const docNo of [1, 2])
      expect(results.row(docNo)).toMatchObject({
        status: AiResultStatus.FAILED,
        failureType: "refusal",
        errorMessage: "the model refused",
      });
  });

  it("is asked about once by a run that goes on after a crash", async () => {
    const bench = await openAiBench(2);
    for (const docNo of [1, 2]) await bench.putResult(docNo, APPLIED);
    bench.failing = (docNo) => (docNo === 2 ? refusal : undefined);
    const id = await runUntil(bench, 1);
    const result = await (await bench.open()).recovered(id);
    expect(result).toMatchObject({ totalDocuments: 2, processed: 2, failed: 1 });
    expect(bench.asked).toEqual([2, 1, 1]);
  });
});

const KEY = Secret.of("sk-0123456789abcdef", "test");

/** A bench whose documents are sent to an OpenAI at this address, without long waits. */
async function openAiBenchAt(url: string, count: number): Promise<AiBench> {
  const bench = await openAiBench(count);
  bench.clock = fastClock;
  bench.provider = await createOpenAiProvider(
    { clock: systemClock, timeoutMs: 60_000 },
    { baseUrl: `${url}/v1`, key: KEY, api: "responses" },
  );
  return bench;
}

describe("a document whose response failed at OpenAI", () => {
  it.each([
    ["a failure of the server", "failed", "server_error", 0],
    ["a rate limit", "failed", "rate_limit_exceeded", 1],
    ["a failure that has no name", "failed", undefined, 0],
    ["a response that was cancelled", "cancelled", undefined, 0],
  ] as const)("is asked about again after %s", async (_name, status, code, rateLimitPauses) => {
    const simulator = await startAiProvider();
    onTestFinished(() => simulator.stop());
    const replies = [{ kind: "ended", status, ...(code === undefined ? {} : { code }) } as const];
    simulator.reply = () => replies.pop() ?? suggestion();
    const bench = await openAiBenchAt(simulator.url, 1);
    const running = await bench.open();
    expect(await running.process({})).toMatchObject({ succeeded: 1, failed: 0, rateLimitPauses });
    expect(running.results.row(1)).toMatchObject({ status: AiResultStatus.PENDING });
    expect(charged(bench).requests).toBe(2);
  });

  it.each([
    ["server_error", "provider_error", "the provider failed (server_error)", 4],
    ["rate_limit_exceeded", "rate_limit", "the provider's rate limit is reached", 8],
    ["invalid_prompt", "provider_error", "the provider refused the request (invalid_prompt)", 1],
    ["Your prompt: SECRET", "provider_error", "the provider refused the request", 1],
  ])("fails in the end after nothing but %s", async (code, failureType, errorMessage, requests) => {
    const simulator = await startAiProvider();
    onTestFinished(() => simulator.stop());
    simulator.reply = () => ({ kind: "ended", status: "failed", code });
    const bench = await openAiBenchAt(simulator.url, 1);
    const running = await bench.open();
    expect(await running.process({})).toMatchObject({ succeeded: 0, failed: 1 });
    expect(running.results.row(1)).toMatchObject({
      status: AiResultStatus.FAILED,
      failureType,
      errorMessage,
    });
    expect(charged(bench).requests).toBe(requests);
  });

  it("is asked about again at the model of the demo", async () => {
    const model = await startModel({ clock: systemClock, ids: systemIds, log: silent, key: KEY });
    onTestFinished(() => model.stop());
    const bench = await openAiBenchAt(model.url, 2);
    model.failNext("server_error");
    model.failNext("rate_limit_exceeded", 2);
    const running = await bench.open();
    expect(await running.process({})).toMatchObject({ succeeded: 2, rateLimitPauses: 2 });
    expect(model.requests().responses).toBe(5);
  });
});
