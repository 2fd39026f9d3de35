import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import type { AiResultDetail } from "../../../../src/gen/dedup-json.ts";
import { chromiumPath, openPage, ready, useChromium } from "./chromium.ts";
import {
  data,
  list,
  startDocumentPages,
  stubApi,
  type Answers,
  type ApiRequest,
} from "./document-pages.ts";

useChromium();

const ROW: AiResultDetail = {
  id: "r1",
  documentId: "",
  paperlessId: null,
  documentTitle: "Invoice of May",
  provider: "openai",
  model: "small",
  suggestedTitle: null,
  suggestedCorrespondent: "Northwind",
  suggestedDocumentType: null,
  suggestedTags: [],
  confidence: null,
  currentTitle: null,
  currentCorrespondent: null,
  currentDocumentType: null,
  currentTags: [],
  appliedStatus: "pending",
  appliedAt: null,
  errorMessage: null,
  failureType: null,
  createdAt: null,
  evidence: null,
  promptTokens: 0,
  completionTokens: 0,
  processingTimeMs: 0,
  estimatedCostUsd: null,
  appliedFields: [],
  beforeApply: null,
  revertedAt: null,
  rejectionReason: null,
};
const PREFLIGHT = "POST /ai/results/preflight";
const APPLY = "POST /ai/results/apply-all";
/** More than the page waits between two looks at the state of the suggestions. */
const LATER_MS = 20_000;
const COUNTS = { totalDocuments: 1, noOpCount: 0, conflictCount: 0, notApplicableCount: 0 };

/** `/suggestions` with one suggestion open, reached from the whole list, then narrowed. */
async function openNarrowed(
  answers: Answers = {},
): Promise<{ page: Page; requests: readonly ApiRequest[] }> {
  const { page } = await openPage();
  const requests = await stubApi(page, {
    "GET /ai/results": () => list([ROW]),
    "GET /ai/results/r1": () => data(ROW),
    [PREFLIGHT]: () => data(COUNTS),
    [APPLY]: () => data({ jobId: "j1" }),
    ...answers,
  });
  await page.goto(`${await startDocumentPages()}/suggestions`);
  await ready(page);
  await page.getByRole("link", { name: ROW.documentTitle }).click();
  await page.locator("#group-title").waitFor();
  await page.getByRole("link", { name: "≥ 90 %" }).click();
  await expect.poll(() => new URL(page.url()).searchParams.get("min")).toBe("0.9");
  return { page, requests };
}

const bodies = (requests: readonly ApiRequest[], line: string): unknown[] =>
  requests.filter((each) => each.line === line).map(({ body }) => body);
const dialog = (page: Page) => page.getByRole("dialog", { name: "Apply all listed suggestions?" });
const applyAll = (page: Page) => page.getByRole("button", { name: "Apply all listed" }).click();
const NARROWED = { scope: { filters: { status: "pending", minConfidence: 0.9 } } };

describe.skipIf(chromiumPath === undefined)("applying all listed suggestions", () => {
  it("sends the filter that the dialog's numbers are of", async () => {
    const { page, requests } = await openNarrowed();
    await applyAll(page);
    await dialog(page).getByRole("button", { name: "Apply" }).click();
    await expect.poll(() => bodies(requests, APPLY)).toMatchObject([NARROWED]);
    expect(bodies(requests, PREFLIGHT)).toEqual(bodies(requests, APPLY));
  });

  it("sends that filter whatever the address has become", async () => {
    const { page, requests } = await openNarrowed();
    await applyAll(page);
    await dialog(page).waitFor();
    // Without an event: as between the key Back and the event of it.
    await page.evaluate("history.replaceState(null, '', '/suggestions')");
    await dialog(page).getByRole("button", { name: "Apply" }).click();
    await expect.poll(() => bodies(requests, APPLY)).toMatchObject([NARROWED]);
  });

  it("is called off by the key Back, which closes the dialog", async () => {
    const { page, requests } = await openNarrowed();
    await applyAll(page);
    await dialog(page).waitFor();
    await page.goBack();
    await dialog(page).waitFor({ state: "hidden" });
    expect(new URL(page.url()).search).toBe("");
    expect(bodies(requests, APPLY)).toEqual([]);
  });

  it("opens no dialog about a list that was left while its numbers were read", async () => {
    let [answer, asked] = [(): void => undefined, false];
    const { page } = await openNarrowed({
      [PREFLIGHT]: async () => {
        asked = true;
        await new Promise<void>((resolve) => (answer = resolve));
        return data(COUNTS);
      },
    });
    await applyAll(page);
    await expect.poll(() => asked).toBe(true);
    await page.goBack();
    answer();
    await page.getByText("The list is another one now").waitFor();
    expect(await dialog(page).isVisible()).toBe(false);
  });
});

describe.skipIf(chromiumPath === undefined)("the list of suggestions", () => {
  it("has what a job wrote that ended while the page was loaded", async () => {
    const { page } = await openPage();
    let rows: AiResultDetail[] = [];
    await stubApi(page, {
      "GET /ai/results": () => list(rows),
      // The newest jobs, of which none runs any more.
      "GET /jobs": () => {
        rows = [ROW];
        return data([]);
      },
    });
    await page.goto(`${await startDocumentPages()}/suggestions`);
    await ready(page);
    await page.getByRole("link", { name: ROW.documentTitle }).waitFor();
  });

  it.each([
    ["counts that changed", { stats: { pendingReview: 1 } }],
    [
      "a job that began and ended while nobody looked",
      {
        jobs: [
          { id: "j9", type: "batch_operation", operation: "ai_processing", status: "completed" },
        ],
      },
    ],
  ])("is read again after %s, and only then", async (_what, changed) => {
    const { page } = await openPage();
    await page.clock.install({ time: 0 });
    let now: { rows?: unknown[]; stats?: object; jobs?: unknown[] } = {};
    const requests = await stubApi(page, {
      "GET /ai/results": () => list(now.rows ?? []),
      "GET /ai/stats": () => data({ pendingReview: 0, unprocessed: 0, ...now.stats }),
      "GET /jobs": () => data(now.jobs ?? []),
    });
    await page.goto(`${await startDocumentPages()}/suggestions`);
    await ready(page);
    const count = (line: string): number => requests.filter((each) => each.line === line).length;
    const look = async (): Promise<void> => {
      const before = count("GET /ai/costs");
      await page.clock.fastForward(LATER_MS);
      await expect.poll(() => count("GET /ai/costs")).toBeGreaterThan(before);
      // More round trips than the page needs to take the answers.
      for (let trip = 0; trip < 6; trip += 1) await page.evaluate("fetch('/api/v1/archives')");
    };
    await look();
    expect(count("GET /ai/results")).toBe(1);
    now = { rows: [ROW], ...changed };
    await look();
    await expect.poll(() => page.locator(".row-link").count()).toBe(1);
    await look();
    await look();
    expect(count("GET /ai/results")).toBe(2);
  });
});

/** Suggestions that wait for a decision, with `first` among them open. */
async function openPending(
  ids: readonly string[],
  { first = ids[0] ?? "", answers = {} }: { first?: string; answers?: Answers } = {},
): Promise<{ page: Page; requests: readonly ApiRequest[] }> {
  const { page } = await openPage();
  const rows = ids.map((id) => ({ ...ROW, id, documentTitle: `Invoice ${id}` }));
  const done = new Set<string>();
  const each = rows.flatMap((row): [string, Answers[string]][] => [
    [`GET /ai/results/${row.id}`, () => data(row)],
    [`POST /ai/results/${row.id}/apply`, () => data((done.add(row.id), row))],
    [`POST /ai/results/${row.id}/reject`, () => data((done.add(row.id), row))],
  ]);
  const requests = await stubApi(page, {
    "GET /ai/results": () => list(rows.filter(({ id }) => !done.has(id))),
    ...Object.fromEntries(each),
    ...answers,
  });
  await page.goto(`${await startDocumentPages()}/suggestions?result=${first}`);
  await ready(page);
  await page.locator("#group-title", { hasText: `Invoice ${first}` }).waitFor();
  return { page, requests };
}

const titled = (page: Page, id: string) =>
  page.locator("#group-title", { hasText: `Invoice ${id}` }).waitFor();

describe.skipIf(chromiumPath === undefined)("the reason of a rejection", () => {
  it("is sent with the suggestion that it was typed for, and with no other", async () => {
    const { page, requests } = await openPending(["r1", "r2", "r3", "r4"]);
    const reason = page.locator("#reason");
    const rejected = (id: string) => bodies(requests, `POST /ai/results/${id}/reject`);
    await reason.fill("wrong sender");
    await page.keyboard.press("Escape");
    await page.keyboard.press("x");
    await titled(page, "r2");
    expect(await reason.inputValue()).toBe("");
    // A move and an apply leave it behind, too.
    await reason.fill("of r2");
    await page.keyboard.press("Escape");
    await page.keyboard.press("j");
    await titled(page, "r3");
    expect(await reason.inputValue()).toBe("");
    await reason.fill("of r3");
    await page.keyboard.press("Escape");
    await page.keyboard.press("a");
    await titled(page, "r4");
    await page.keyboard.press("x");
    await expect.poll(() => rejected("r4")).toEqual([{ reason: "" }]);
    expect(rejected("r1")).toEqual([{ reason: "wrong sender" }]);
  });
});

describe.skipIf(chromiumPath === undefined)("the keys of fields", () => {
  it("tick the field of their row, and none where the row changes nothing", async () => {
    // Its first row changes nothing and has no box; the next are "Document type" and "Tags".
    const row = {
      ...ROW,
      currentCorrespondent: "Northwind",
      suggestedDocumentType: "Invoice",
      suggestedTags: ["paid"],
    };
    const { page } = await openPending(["r1"], {
      answers: { "GET /ai/results/r1": () => data({ ...row, documentTitle: "Invoice r1" }) },
    });
    const ticked = (): Promise<string[]> =>
      page
        .locator("[data-field]:checked")
        .evaluateAll((boxes) => boxes.map((box) => box.dataset["field"] ?? ""));
    expect(await ticked()).toEqual(["documentType", "tags"]);
    await page.keyboard.press("1");
    expect(await ticked()).toEqual(["documentType", "tags"]);
    await page.keyboard.press("2");
    expect(await ticked()).toEqual(["tags"]);
    await page.keyboard.press("3");
    expect(await ticked()).toEqual([]);
    await page.keyboard.press("4");
    expect(await ticked()).toEqual([]);
  });
});

describe.skipIf(chromiumPath === undefined)("a decision", () => {
  const applied = (requests: readonly ApiRequest[]): string[] =>
    requests.map(({ line }) => line).filter((line) => line.endsWith("/apply"));
  const button = (page: Page) => page.getByRole("button", { name: "Apply the ticked fields" });

  it("is about the suggestion that was shown, not the one whose turn it is", async () => {
    const held = Promise.withResolvers<void>();
    const { page, requests } = await openPending(["r1", "r2", "r3"], {
      answers: {
        "POST /ai/results/r1/apply": async () => {
          await held.promise;
          return data(ROW);
        },
      },
    });
    await button(page).click();
    await expect.poll(() => applied(requests)).toHaveLength(1);
    await button(page).click();
    await page.keyboard.press("a");
    await page.keyboard.press("x");
    held.resolve();
    await titled(page, "r2");
    // The queue is empty once a later action has acted.
    await page.keyboard.press("j");
    await titled(page, "r3");
    expect(applied(requests)).toEqual(["POST /ai/results/r1/apply"]);
    expect(requests.filter(({ line }) => line.endsWith("/reject"))).toEqual([]);
  });

  it("is made once by a double-click and by a held key, however fast the answer is", async () => {
    const { page, requests } = await openPending(["r1", "r2", "r3", "r4"]);
    const { x = 0, y = 0, width = 0, height = 0 } = (await button(page).boundingBox()) ?? {};
    await page.mouse.move(x + width / 2, y + height / 2);
    for (const clickCount of [1, 2]) {
      await page.mouse.down({ clickCount });
      await page.mouse.up({ clickCount });
      await titled(page, "r2");
    }
    await page.keyboard.down("a");
    await titled(page, "r3");
    // Down again without an up: the key repeats.
    await page.keyboard.down("a");
    await page.keyboard.up("a");
    await page.keyboard.press("j");
    await titled(page, "r4");
    expect(applied(requests)).toEqual(["POST /ai/results/r1/apply", "POST /ai/results/r2/apply"]);
  });
});

describe.skipIf(chromiumPath === undefined)("a page that its island has not drawn yet", () => {
  it("keeps the field that somebody types into: no letter becomes a decision", async () => {
    const { page } = await openPage();
    const held = Promise.withResolvers<void>();
    const requests = await stubApi(page, {
      "GET /ai/config": async () => {
        await held.promise;
        return data({
          provider: "openai",
          model: "small",
          tagMode: "merge",
          protectedTagNames: [],
        });
      },
      "GET /ai/results": () => list([ROW]),
      "GET /ai/results/r1": () => data(ROW),
    });
    await page.goto(`${await startDocumentPages()}/suggestions?result=r1`);
    const search = page.getByRole("searchbox", { name: "Search titles" });
    await search.click();
    await page.keyboard.type("t");
    await expect.poll(() => requests.length).toBeGreaterThan(0);
    // Text in the page that the address has not: as typed before the script ran.
    await search.evaluate((field: HTMLInputElement) => (field.value = "te"));
    held.resolve();
    await ready(page);
    await page.keyboard.type("xax");
    expect(await search.inputValue()).toBe("texax");
    await expect.poll(() => new URL(page.url()).searchParams.get("q")).toBe("texax");
    expect(requests.filter(({ line }) => line.startsWith("POST"))).toEqual([]);
  });
});

describe.skipIf(chromiumPath === undefined)("the question before the model is asked", () => {
  it.each([
    [
      "that a model has no price",
      { status: 404, json: { error: { message: "no price" } } },
      "What it costs is not known: small has no price in the table.",
    ],
    [
      "why an estimate failed",
      { status: 503, json: { error: { message: "The store is reopened." } } },
      "What it costs is not known: the estimate failed. The store is reopened.",
    ],
    ["what it costs", data({ estimatedCostUsd: 1.5 }), "It costs about $1.50."],
  ])("says %s", async (_what, answer, sentence) => {
    const { page } = await openPage();
    await stubApi(page, {
      "GET /ai/stats": () => data({ pendingReview: 0, unprocessed: 3 }),
      "GET /ai/costs/estimate": () => answer,
    });
    await page.goto(`${await startDocumentPages()}/suggestions`);
    await ready(page);
    await page.getByRole("button", { name: "Ask the model" }).click();
    await page.getByRole("dialog").getByText(sentence).waitFor({ timeout: 10_000 });
  });
});
