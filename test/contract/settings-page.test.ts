/**
 * The page `/settings/dedup` as an operator uses it: in a real browser, and without scripts; and the
 * methods behind it.
 */
import type { Page } from "playwright-core";
import { onTestFinished, describe, expect, it } from "vitest";
import type { Paperless } from "../../src/demo/paperless/paperless.ts";
import { chromiumPath, openPage, ready, useChromium } from "../gateway/web/browser/chromium.ts";
import { fillPapers, startAiEstate } from "./ai-estate.ts";
import { type Daemon, rest, startDaemon, temporaryFolder } from "./daemon.ts";
import { configOf, fillGroups, startArchive, syncAndAnalyse } from "./paperless-estate.ts";

useChromium();

const SOON = { timeout: 60_000 };

async function started(more = ""): Promise<{ sim: Paperless; daemon: Daemon }> {
  const sim = await startArchive(fillGroups(3, 2));
  const daemon = await startDaemon({ config: `${configOf(sim, temporaryFolder())}${more}` });
  onTestFinished(async () => void (await Promise.all([daemon.stop(), sim.stop()])));
  await syncAndAnalyse(daemon);
  return { sim, daemon };
}

async function open(daemon: Daemon): Promise<{ page: Page; complaints: readonly string[] }> {
  const { page, complaints } = await openPage();
  await page.goto(`${daemon.url}/settings/dedup`);
  await ready(page);
  return { page, complaints };
}

async function settingsOf(daemon: Daemon): Promise<any> {
  return (await rest(daemon, "GET", "/api/v1/config/dedup")).json.data;
}

describe.skipIf(chromiumPath === undefined)("the settings in a real browser", () => {
  it("say before they are saved what they recalculate, are saved, and an analysis follows", async () => {
    const { daemon } = await started();
    const { page, complaints } = await open(daemon);
    const form = page.getByRole("form", { name: "Analysis" });
    expect(await form.getByText("Nothing is changed.").count()).toBe(1);
    // A switch recalculates nothing.
    await page.getByLabel("Analyse after each sync").uncheck();
    await form.getByText("Nothing is recalculated, and the groups stay.").waitFor();
    await form.getByRole("button", { name: "Discard" }).click();
    expect(await page.getByLabel("Analyse after each sync").isChecked()).toBe(true);
    // The penalty recalculates scores; the threshold needs an analysis.
    await page.getByLabel("Penalty for differing dates").fill("71");
    await form.getByText("Saving recalculates the scores of 3 groups at once.").waitFor();
    await page.getByLabel("Minimum confidence").fill("0.9");
    await form.getByText("an analysis is needed after saving").waitFor();
    expect(await settingsOf(daemon)).toMatchObject({
      similarityThreshold: 0.75,
      discriminativePenaltyStrength: 70,
    });
    await form.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved. The scores of 3 groups are recalculated.").waitFor();
    expect(await settingsOf(daemon)).toMatchObject({
      similarityThreshold: 0.9,
      discriminativePenaltyStrength: 71,
    });
    await page.getByText("The groups are from other settings.").waitFor();
    await page.getByRole("button", { name: "Analyse now" }).click();
    // The copies of each of the three groups are the same text, which stays a group.
    await page.getByText("The analysis has ended. 0 groups found, 0 changed, 0 gone.").waitFor();
    await expect
      .poll(() => page.getByText("The groups are from other settings.").count(), SOON)
      .toBe(0);
    expect(complaints).toEqual([]);
  });

  it("refuse a bad value beside its field, by the words of the API, and save nothing", async () => {
    const { daemon } = await started();
    const { page } = await open(daemon);
    const form = page.getByRole("form", { name: "Analysis" });
    await page.getByLabel("Weight of the Jaccard similarity").fill("90");
    await form.getByText("must add up to 100, and add up to 130").waitFor();
    await form.getByText("A value is not valid: nothing can be saved.").waitFor();
    expect(
      await page.getByLabel("Weight of the Jaccard similarity").getAttribute("aria-invalid"),
    ).toBe("true");
    await page.getByLabel("Weight of the fuzzy ratio").fill("10");
    await form.getByText("an analysis is needed after saving").waitFor();
    await page.getByLabel("Minimum number of words").fill("0");
    await form.getByText("must be between 1 and 1000").waitFor();
    await page.getByLabel("Minimum number of words").fill("");
    await form.getByText("A value is not valid: nothing can be saved.").waitFor();
    expect(await settingsOf(daemon)).toMatchObject({ confidenceWeightJaccard: 60, minWords: 20 });
  });

  it("that the configuration file sets can be seen and not changed", async () => {
    const { daemon } = await started("  analysis: {min_words: 7}\n");
    const { page } = await open(daemon);
    const field = page.getByLabel("Minimum number of words");
    expect([await field.inputValue(), await field.isDisabled()]).toEqual(["7", true]);
    expect(await page.getByText("set in the configuration file").count()).toBe(1);
  });

  it("test the connection of each archive, and say why one is dead", async () => {
    const { sim, daemon } = await started(
      `    - {name: files, kind: folder, path: ${temporaryFolder()}}\n`,
    );
    const { page, complaints } = await open(daemon);
    await page.getByRole("button", { name: "Test the connection of papers" }).click();
    await page
      .getByText(/Connected to version [\d.]+ with API version \d+: 6 documents, [\d.]+ m?s\./)
      .waitFor();
    await page.getByRole("button", { name: "Test the connection of files" }).click();
    await page.getByText(/Connected: 0 documents, [\d.]+ m?s\./).waitFor();
    const rows = page.getByRole("table", { name: "archives" }).getByRole("row");
    expect(await rows.filter({ hasText: "papers" }).innerText()).toMatch(
      /Paperless-ngx\s+set\s+token set/,
    );
    expect(await rows.filter({ hasText: "files" }).innerText()).toMatch(
      /It has no deletion from these pages[^]*no page images and no trash[^]*none needed/,
    );
    expect(complaints).toEqual([]);
    await sim.stop();
    // Once the daemon has answered, it knows that the connections to the archive are closed: a
    // request on one of them would fail in another way.
    await rest(daemon, "GET", "/api/v1/archives");
    await page.getByRole("button", { name: "Test the connection of papers" }).click();
    await page
      .getByText("archive papers: the connection failed: ECONNREFUSED; check whether")
      .waitFor();
    expect(await page.content()).not.toContain(new URL(sim.url).host);
  });

  it("follow an analysis that began elsewhere, and cancel it", async () => {
    const { daemon } = await started();
    const { page } = await openPage();
    // The stream of the job's events says that it runs, and then that it was cancelled.
    const id = "0123456789";
    let isCancelled = false;
    await page.route("**/api/v1/analysis/status", async (route) => {
      const answer = await route.fetch();
      const { data } = await answer.json();
      const running = isCancelled ? {} : { isAnalyzing: true, currentJobId: id };
      await route.fulfill({ response: answer, json: { data: { ...data, ...running } } });
    });
    await page.route(`**/api/v1/jobs/${id}/progress`, async (route) => {
      const event = isCancelled
        ? 'event: complete\ndata: {"progress":0.5,"message":"","status":"cancelled"}\n\n'
        : 'retry: 100\nevent: progress\ndata: {"progress":0.5,"message":"comparing","status":"running"}\n\n';
      await route.fulfill({ contentType: "text/event-stream", body: event });
    });
    await page.route(`**/api/v1/jobs/${id}/cancel`, async (route) => {
      isCancelled = true;
      await route.fulfill({ json: { data: { jobId: id, status: "cancelled" } } });
    });
    await page.goto(`${daemon.url}/settings/dedup`);
    await ready(page);
    await page.getByText("Analysing the documents: comparing").waitFor();
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByText("The analysis was cancelled.").waitFor();
    await expect.poll(() => page.getByText("Analysing the documents").count(), SOON).toBe(0);
  });

  it("test the provider of suggestions, and say why it is dead", async () => {
    const estate = await startAiEstate(fillPapers(1));
    const daemon = await estate.start();
    const { page, complaints } = await open(daemon);
    const table = page.getByRole("table", { name: "providers" });
    const row = (name: string) => table.getByRole("row").filter({ hasText: name });
    const test = (name: string) =>
      page.getByRole("button", { name: `Test the connection of ${name}` });
    expect(await row("openai").innerText()).toMatch(/set\s+set/);
    expect(await row("anthropic").innerText()).toMatch(/set\s+not set\s+not chosen/);
    await test("openai").click();
    await row("openai")
      .getByText(/Connected: 1 model, [\d.]+ m?s\. gpt-5\.4-mini is not among them/)
      .waitFor();
    const form = page.getByRole("form", { name: "AI suggestions" });
    const save = async (label: string, value: string): Promise<void> => {
      const field = page.getByLabel(label, { exact: true });
      if (label === "Provider") await field.selectOption(value);
      else await field.fill(value);
      await form.getByRole("button", { name: "Save" }).click();
      await form.getByText("Nothing is changed.").waitFor();
    };
    await save("Model", "local-model");
    await expect.poll(() => table.getByText("Connected").count(), SOON).toBe(0);
    await test("openai").click();
    await row("openai").getByText("local-model is among them.").waitFor();
    expect(estate.provider.calls).toEqual([]);
    expect(complaints).toEqual([]);
    await save("Provider", "anthropic");
    await test("anthropic").click();
    await row("anthropic").getByText("set dedup.ai.anthropic.api_key").waitFor();
    await save("Provider", "openai");
    await estate.provider.stop();
    await test("openai").click();
    await row("openai").getByText("the provider cannot be reached").waitFor();
    expect(await page.content()).not.toContain("sk-0123456789abcdef");
    expect(await page.content()).not.toContain(new URL(estate.provider.url).host);
  });

  it("of AI are saved, and a file brings all of them to another Steward", async () => {
    const estate = await startAiEstate(fillPapers(1));
    const daemon = await estate.start();
    const { page, complaints } = await open(daemon);
    const form = page.getByRole("form", { name: "AI suggestions" });
    await page.getByLabel("Limit of a month").fill("5");
    await page.getByLabel("What happens to the tags").selectOption("replace");
    await form.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved. It holds from the next run on.").waitFor();
    const config = (await rest(daemon, "GET", "/api/v1/ai/config")).json.data;
    expect(config).toMatchObject({ maxCostPerMonthUsd: 5, tagMode: "replace" });
    await page.getByLabel("Limit of a month").fill("-1");
    await form.getByRole("button", { name: "Save" }).click();
    await form.getByText("must be a number from 0 to 1000000").waitFor();
    await form.getByText("A value is not valid: nothing was saved.").waitFor();
    await form.getByRole("button", { name: "Discard" }).click();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("link", { name: "Download the settings" }).click(),
    ]);
    const file = await download.path();
    await rest(daemon, "PUT", "/api/v1/ai/config", { maxCostPerMonthUsd: 9 });
    await page.getByLabel("Take over a file").setInputFiles(file);
    await page.getByText(/Taken over: \d+ settings\./).waitFor();
    await expect.poll(() => page.getByLabel("Limit of a month").inputValue(), SOON).toBe("5");
    expect(complaints.filter((text) => !text.includes("400"))).toEqual([]);
  });

  it("fit a phone while something is changed", async () => {
    const { daemon } = await started();
    const { page } = await openPage({ viewport: { width: 390, height: 844 } });
    await page.goto(`${daemon.url}/settings/dedup`);
    await ready(page);
    await page.getByLabel("Minimum confidence").fill("0.9");
    await page.getByText("an analysis is needed after saving").waitFor();
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
  });
});

describe("the settings without scripts", () => {
  it("show every value with what it is, and no credential", async () => {
    const { sim, daemon } = await started();
    const { status, text } = await rest(daemon, "GET", "/settings/dedup");
    expect(status).toBe(200);
    for (const part of ["Minimum confidence", 'value="0.75"', "A number from 0 to 1.", "papers"])
      expect(text).toContain(part);
    const token = sim.estate.users[0]?.token.use((value) => value) ?? "";
    expect(text).not.toContain(token);
    expect(text).not.toContain(new URL(sim.url).host);
    // Nobody would hear of what is typed.
    for (const [field] of text.matchAll(/<(?:input|select)[^>]*data-setting[^>]*>/g))
      expect(field).toContain(" disabled");
    expect(text).not.toContain('aria-label="providers"');
  });

  it("are not there without the document service", async () => {
    const daemon = await startDaemon({
      config: `gateway: {listen: "127.0.0.1:0"}\nstate: {directory: ${temporaryFolder()}}\nservices: {dedup: false, monitor: false}\n`,
    });
    onTestFinished(async () => void (await daemon.stop()));
    for (const path of ["/settings/dedup", "/api/v1/archives", "/api/v1/config/settings"])
      expect((await rest(daemon, "GET", path)).status, path).toBe(404);
  });
});

describe("the methods behind the settings", () => {
  it("preview a change without making it, also of what the file fixes", async () => {
    const { daemon } = await started("  analysis: {min_words: 7}\n");
    const preview = async (change: object): Promise<any> =>
      (await rest(daemon, "POST", "/api/v1/config/dedup/preview", { change })).json.data;
    expect(await preview({})).toMatchObject({
      changed: [],
      ignored: [],
      recalculatedGroups: 0,
      analysisStale: false,
    });
    expect(await preview({ similarityThreshold: 0.8, minWords: 9, autoAnalyze: true })).toEqual({
      config: expect.objectContaining({ similarityThreshold: 0.8, minWords: 7, numBands: 51 }),
      changed: ["similarityThreshold"],
      ignored: ["minWords"],
      recalculatedGroups: 0,
      analysisStale: true,
      warnings: [],
    });
    expect(await settingsOf(daemon)).toMatchObject({ similarityThreshold: 0.75, numBands: 64 });
    const refused = await rest(daemon, "POST", "/api/v1/config/dedup/preview", {
      change: { confidenceWeightFuzzy: 1 },
    });
    expect([refused.status, refused.json.error.message]).toEqual([
      400,
      expect.stringContaining("must add up to 100"),
    ]);
  });

  it("list archives, and know none of another name", async () => {
    const { daemon } = await started();
    expect((await rest(daemon, "GET", "/api/v1/archives")).json.data).toEqual([
      {
        name: "papers",
        kind: "paperless",
        documents: 6,
        hasAddress: true,
        credential: "token",
        lacks: [],
      },
    ]);
    const { status, json } = await rest(daemon, "POST", "/api/v1/config/test-connection", {
      archive: "nowhere",
    });
    expect([status, json.error.message]).toEqual([
      404,
      'there is no archive "nowhere"; GET /api/v1/archives lists them',
    ]);
  });
});
