/** Which AI results a request means and what it writes of them, on the running daemon. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Estate } from "../../src/demo/paperless/types.ts";
import { suggestion, USAGE, type ModelReply } from "../support/ai-provider.ts";
import { resultsOf, startAiEstate, suggestForAll, type AiEstate } from "./ai-estate.ts";
import { removeTemporaryFolders, rest, runJob, type Daemon } from "./daemon.ts";

const sure = (score: number) => ({
  confidence: { correspondent: score, documentType: score, tags: score },
});
const none = { correspondent: null, documentType: null, tags: ["inbox"] };

/** The model's reply for each paper. */
const replies: readonly ModelReply[] = [
  suggestion(),
  suggestion({ documentType: "Statement", ...sure(0.6) }),
  suggestion({ documentType: "Statement", ...sure(0.3) }),
  suggestion({ ...none, confidence: { correspondent: 0, documentType: 0, tags: 0.9 } }),
  { kind: "refusal" },
  { kind: "text", text: "no JSON" },
  suggestion(),
];

function fill(estate: Estate): void {
  estate.addReference("tags", { name: "inbox" });
  estate.addReference("correspondents", { name: "Other" });
  for (const at of replies.keys())
    estate.add({
      title: `Paper ${at + 1}`,
      content: `Text ${at + 1} of a water bill. ${"Every word of it counts. ".repeat(60)}`,
      tags: [1],
      correspondent: 1,
    });
}

let estate: AiEstate;
let daemon: Daemon;
const ends: (() => Promise<void>)[] = [];

beforeAll(async () => {
  estate = await startAiEstate(fill, "", (end) => ends.unshift(end));
  estate.provider.reply = ({ user }) =>
    replies[Number(/Paper (\d)/.exec(user)?.[1]) - 1] as ModelReply;
  daemon = await estate.start();
  await suggestForAll(daemon);
  await post("/results/batch-reject", { resultIds: [await idOf(7)] });
  await configure({ model: "gpt-5.4" });
  await run("/process", { scope: { type: "current_filter", filters: { search: "Paper 3" } } });
});
afterAll(async () => {
  for (const end of ends) await end();
  removeTemporaryFolders();
});

const post = async (path: string, body: object): Promise<any> =>
  (await rest(daemon, "POST", `/api/v1/ai${path}`, body)).json;
const get = async (path: string): Promise<any> =>
  (await rest(daemon, "GET", `/api/v1/ai${path}`)).json.data;
const run = async (path: string, body: object): Promise<any> =>
  (await runJob(daemon, `/api/v1/ai${path}`, body)).result;
const configure = async (settings: object): Promise<void> =>
  void (await rest(daemon, "PUT", "/api/v1/ai/config", settings));
/** Numbers of the papers whose results match. */
const papers = async (query: string): Promise<number[]> =>
  (await resultsOf(daemon, query))
    .map(({ documentTitle }) => Number(documentTitle.slice(6)))
    .toSorted((left, right) => left - right);
const idOf = async (paper: number): Promise<string> =>
  (await resultsOf(daemon, `&search=Paper ${paper}`))[0].id as string;
const statusOf = async (paper: number): Promise<string> =>
  (await resultsOf(daemon, `&search=Paper ${paper}`))[0].appliedStatus as string;
/** A paper in the archive. */
const live = (paper: number): any =>
  [...estate.sim.estate.documents.values()].find(({ title }) => title === `Paper ${paper}`);
const only = (paper: number) => ({
  type: "current_filter",
  filters: { search: `Paper ${paper}` },
});

describe("reading", () => {
  it.each([
    ["", [1, 2, 3, 4, 5, 6, 7]],
    ["&status=rejected", [7]],
    ["&status=failed", [5, 6]],
    ["&failed=true", [5, 6]],
    ["&minConfidence=0.7", [1, 7]],
    ["&maxConfidence=0.5", [3, 4]],
    ["&minConfidence=0.5&maxConfidence=0.7", [2]],
    ["&model=gpt-5.4", [3]],
    ["&model=gpt-5.4-mini&status=pending", [1, 2, 4]],
    ["&provider=openai&search=PAPER 2", [2]],
    ["&provider=anthropic", []],
  ])("the list with %j has the papers %j", async (query, expected) => {
    expect(await papers(query)).toEqual(expected);
  });

  it.each([
    ["suggestedCorrespondent", { "Northwind Water": 4, "(none)": 3 }],
    ["suggestedDocumentType", { Invoice: 2, Statement: 2, "(none)": 3 }],
    ["suggestedDocumentType&changedOnly=true", { Invoice: 2, Statement: 2 }],
    ["suggestedDocumentType&maxConfidence=0.5", { Statement: 1, "(none)": 1 }],
    ["failureType", { "(none)": 5, refusal: 1, schema_mismatch: 1 }],
    [
      "confidenceBand",
      { "high (80 % and more)": 2, "medium (50 to 79 %)": 1, "low (below 50 %)": 4 },
    ],
  ])("the groups by %s are counted", async (query, expected) => {
    const { groups } = await get(`/results/groups?groupBy=${query}`);
    expect(Object.fromEntries(groups.map(({ key, count }: any) => [key, count]))).toEqual(expected);
  });

  it("the statistics count each state, and all tokens, also of results that were replaced", async () => {
    const asked = replies.length + 1;
    expect(await get("/stats")).toMatchObject({
      totalProcessed: 7,
      pendingReview: 4,
      applied: 0,
      rejected: 1,
      failed: 2,
      totalPromptTokens: asked * USAGE.prompt,
      totalCompletionTokens: asked * USAGE.completion,
    });
  });
});

describe("a scope that does not say what it means is refused, and nothing is applied", () => {
  const all = ["/results/batch-apply", "/results/apply-all", "/results/preflight"];

  it.each<[object, string, string[]]>([
    [{ type: "everything" }, "scope.type", all],
    [{}, "scope.type", ["/results/batch-apply", "/results/preflight"]],
    [{ filters: { search: "Paper 1" } }, "scope.filters", ["/results/apply-all"]],
    [{ resultIds: ["any"] }, "scope.resultIds", ["/results/apply-all"]],
    [{ type: "all_pending", filters: { status: "pending" } }, "scope.filters", all],
    [{ type: "all_pending", resultIds: ["any"] }, "scope.resultIds", all],
    [{ type: "current_filter", resultIds: ["any"] }, "scope.resultIds", all],
    [{ type: "selected_result_ids" }, "scope.resultIds", all],
  ])("%j", async (scope, field, paths) => {
    for (const path of paths) {
      const { error } = await post(path, { scope });
      expect(error, path).toMatchObject({
        code: "VALIDATION_FAILED",
        details: [{ path: field.split(".") }],
      });
    }
    expect(await papers("&status=pending")).toEqual([1, 2, 3, 4]);
  });

  it("nor are ids beside a scope, or parts of another scope for a run of the model", async () => {
    const both = { resultIds: [await idOf(1)], scope: { type: "all_pending" } };
    expect((await post("/results/batch-apply", both)).error).toMatchObject({
      code: "VALIDATION_FAILED",
      details: [{ path: ["resultIds"] }],
    });
    for (const scope of [
      { type: "full_reprocess", filters: { search: "Paper 1" } },
      { type: "new_only", documentIds: ["any"] },
    ])
      expect((await post("/process", { scope })).error, scope.type).toMatchObject({
        code: "VALIDATION_FAILED",
        message: expect.stringContaining("would ignore it") as string,
      });
  });

  it("while an empty filter leaves nothing out", async () => {
    const scope = { type: "all_pending", filters: {} };
    expect((await post("/results/preflight", { scope })).data.totalDocuments).toBe(4);
  });
});

describe("a preflight", () => {
  const scope = { type: "all_pending" };
  const names = {
    correspondents: ["Northwind Water"],
    documentTypes: ["Statement", "Invoice"],
    tags: ["utilities"],
  };
  const bands = { high: 1, medium: 1, low: 2 };

  it.each([
    [
      {},
      {
        fieldsChanged: { correspondent: 3, documentType: 3, tags: 3, title: 0 },
        newEntitiesCreated: names,
        noOpCount: 1,
        destructiveClearCount: 0,
      },
    ],
    [
      { allowClearing: true },
      { fieldsChanged: { correspondent: 4 }, noOpCount: 0, destructiveClearCount: 1 },
    ],
    [
      { fields: ["tags"] },
      {
        fieldsChanged: { correspondent: 0, documentType: 0, tags: 3, title: 0 },
        newEntitiesCreated: { correspondents: [], documentTypes: [], tags: ["utilities"] },
      },
    ],
    [
      { createMissingEntities: false },
      {
        fieldsChanged: { correspondent: 0, documentType: 0, tags: 0, title: 0 },
        newEntitiesCreated: names,
        noOpCount: 4,
      },
    ],
  ])("with %j counts what an apply with it would change", async (options, expected) => {
    expect((await post("/results/preflight", { scope, ...options })).data).toMatchObject({
      totalDocuments: 4,
      lowConfidenceCount: 2,
      confidenceDistribution: bands,
      conflictCount: 0,
      notApplicableCount: 0,
      ...expected,
    });
  });
});

describe("applying", () => {
  it("writes the chosen fields of the results that a filter finds, and no others", async () => {
    const body = { scope: only(2), fields: ["correspondent"] };
    expect(await run("/results/batch-apply", body)).toMatchObject({ applied: 1, total: 1 });
    expect(live(2)).toMatchObject({ correspondent: 2, documentType: null, tags: [1] });
    expect(await papers("&status=partial")).toEqual([2]);
    expect(await papers("&status=pending")).toEqual([1, 3, 4]);
    // The document is not any more what the model was told.
    expect((await post("/results/preflight", { scope: only(2) })).data).toMatchObject({
      totalDocuments: 1,
      conflictCount: 1,
    });
  });

  it("makes no names where that is not wanted", async () => {
    const scope = { type: "selected_result_ids", resultIds: [await idOf(3)] };
    const body = { scope, createMissingEntities: false };
    expect(await run("/results/apply-all", body)).toMatchObject({ applied: 1, total: 1 });
    expect(live(3)).toMatchObject({ correspondent: 2, documentType: null, tags: [1] });
    expect(await papers("&status=applied")).toEqual([3]);
  });

  it("clears a field without a suggestion only where that is allowed", async () => {
    await run("/results/batch-apply", { resultIds: [await idOf(4)] });
    expect(await statusOf(4)).toBe("applied");
    expect(live(4)).toMatchObject({ correspondent: 1 });
    await post(`/results/${await idOf(4)}/revert`, {});
    await run("/results/apply-all", { scope: only(4), allowClearing: true });
    expect(live(4)).toMatchObject({ correspondent: null });
  });

  it("of a filter takes what is pending, partial or reverted", async () => {
    const scope = { type: "current_filter" };
    expect(await run("/results/apply-all", { scope })).toMatchObject({ applied: 2, total: 2 });
    expect(await papers("&status=applied")).toEqual([1, 2, 3, 4]);
    expect([await statusOf(5), await statusOf(7)]).toEqual(["failed", "rejected"]);
  });
});

it("a run sends as much of a text, and as many names and requests, as its settings say", async () => {
  const { provider } = estate;
  const since = provider.calls.length;
  const startsMs: number[] = [];
  provider.reply = () => {
    startsMs.push(performance.now());
    return suggestion();
  };
  const rateDelayMs = 100;
  const switches = { includeDocumentTypes: true, includeTags: true };
  await configure({ maxContentLength: 500, rateDelayMs, ...switches });
  await run("/process", { reprocess: true });
  const calls = provider.calls.slice(since);
  expect(calls).toHaveLength(replies.length);
  for (const { user, system } of calls) {
    expect(user).toContain("text left out");
    expect(user.length).toBeLessThan(550);
    expect(system).toMatch(/Existing document types: Invoice, Statement\nExisting tags: inbox/);
    expect(system).not.toContain("Existing correspondents");
  }
  const tookMs = (startsMs.at(-1) ?? 0) - (startsMs[0] ?? 0);
  expect(tookMs).toBeGreaterThan((replies.length - 2) * rateDelayMs);
});
