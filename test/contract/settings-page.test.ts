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

const SOON = { timeout: 20_000 };

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

describe.skipIf(chromiumPath === undefined)(
  "the settings in a real browser",
  { timeout: 120_000 },
  () => {
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
      await page.getByText("The analysis has ended.").waitFor();
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
      await page.getByText(/Connected to version [\d.]+: 6 documents\./).waitFor();
      await page.getByRole("button", { name: "Test the connection of files" }).click();
      await page.getByText("Connected: 0 documents.").waitFor();
      expect(complaints).toEqual([]);
      await sim.stop();
      await page.getByRole("button", { name: "Test the connection of papers" }).click();
      await page
        .getByText(/papers.*ECONNREFUSED|cannot be reached/)
        .first()
        .waitFor();
      expect(await page.content()).not.toContain(sim.url);
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
      await form.locator(".error").waitFor();
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
  },
);

describe("the settings without scripts", { timeout: 120_000 }, () => {
  it("show every value with what it is, and no credential", async () => {
    const { sim, daemon } = await started();
    const { status, text } = await rest(daemon, "GET", "/settings/dedup");
    expect(status).toBe(200);
    for (const part of ["Minimum confidence", 'value="0.75"', "A number from 0 to 1.", "papers"])
      expect(text).toContain(part);
    const token = sim.estate.users[0]?.token.use((value) => value) ?? "";
    expect(text).not.toContain(token);
    expect(text).not.toContain(sim.url);
  });
});

describe("the methods behind the settings", { timeout: 120_000 }, () => {
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
      { name: "papers", kind: "paperless", documents: 6 },
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
