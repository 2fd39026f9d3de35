/** The HTML report of `steward dedup` in a real browser, opened from the disk. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chromiumPath, openPage, ready, useChromium } from "../gateway/web/browser/chromium.ts";
import { pageFaults } from "../gateway/web/browser/faults.ts";
import { smallArchive, writeFiles } from "./corpus.ts";
import { removeTemporaryFolders, runSteward, temporaryFolder } from "./daemon.ts";

useChromium();
afterAll(removeTemporaryFolders);

const PHONE = { width: 390, height: 844 };
const DESK = { width: 1440, height: 900 };

const garden = smallArchive["minutes/fence.txt"] ?? "";
const evil = `</script><script>document.title = "run"</script> <img src=x onerror="document.title='run'">`;
const letter = (name: string): string =>
  `Dear ${name}, the reading room opens again in the second week of March; please bring back all borrowed maps before, since the shelves are counted then. Yours, the library.`;

let file = "";
let page: string;

async function makeReport(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = temporaryFolder();
  writeFiles(folder, files);
  const report = join(temporaryFolder(), "report.html");
  const { code, stderr } = await runSteward(["dedup", "--quiet", "--html", report, folder]);
  expect([code, stderr]).toEqual([0, ""]);
  return report;
}

beforeAll(async () => {
  file = await makeReport({
    "minutes/fence.txt": garden,
    "minutes/fence-copy.txt": garden,
    "letters/ada.txt": letter("Ada"),
    "letters/a name that is long enough to be wrapped on a phone, since nothing may be cut off.txt":
      letter("Grace"),
    "evil/<b>one<!--.txt": `${evil} ${letter("Hedy")}`,
    "evil/two.txt": `${evil} ${letter("Mary")}`,
    "lone.txt": smallArchive["notes/lone.html"] ?? "",
  });
  page = pathToFileURL(file).href;
});

describe("the report as a file", () => {
  it("loads nothing: style and scripts are in it, and its policy names their hashes", () => {
    const text = readFileSync(file, "utf8");
    expect(text).toMatch(
      /^<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta http-equiv="content-security-policy" content="default-src &#39;none&#39;; style-src &#39;sha256-/,
    );
    expect(text).not.toMatch(
      /<(?:link|iframe|object|embed|img|a href="(?!#))\b|<\w+ [^<>]*\bsrc=|url\(|@import/,
    );
    expect(text.match(/https?:\/\//g)).toBe(null);
    expect(text.endsWith("</main><script>")).toBe(false);
    expect(text.trimEnd().endsWith("</html>")).toBe(true);
  });

  it("of a pile without duplicates says so", async () => {
    const text = readFileSync(await makeReport({ "a.txt": garden }), "utf8");
    expect(text).toContain("No near-duplicates were found.");
    expect(text).not.toContain("data-search ");
  });

  it("shows the first thousand groups of more, and says that there are more", async () => {
    const rows = Array.from({ length: 1_003 }, (_, at) => {
      const text = Array.from({ length: 24 }, (_each, word) => `word${at}x${word}`).join(" ");
      return [text, text];
    });
    const report = await makeReport(
      Object.fromEntries(
        rows.flatMap((texts, at) => texts.map((text, copy) => [`${at}-${copy}.txt`, text])),
      ),
    );
    const text = readFileSync(report, "utf8");
    expect(text.match(/<section class="group part"/g)).toHaveLength(1_000);
    expect(text).toContain(
      "The first 1,000 of 1,003 groups are shown, the most alike first. All of them are in the output of --csv and --json.",
    );
  });

  it("cuts huge texts and large groups, each with a sentence", async () => {
    const words = Array.from({ length: 25_000 }, (_, at) => `word${at}`);
    const long = words.join(" ");
    const report = await makeReport({
      "long.txt": long,
      "longer.txt": `${long} and an end`,
      ...Object.fromEntries(Array.from({ length: 120 }, (_, at) => [`copy-${at}.txt`, garden])),
      ...Object.fromEntries(
        Array.from({ length: 12 }, (_, at) => [
          `near-${at}.txt`,
          `${Array.from({ length: 80 }, (_each, word) => `text${word}`).join(" ")} v${at}`,
        ]),
      ),
    });
    const text = readFileSync(report, "utf8");
    expect(text).toContain("Only the first 20,000 words of each text were compared.");
    expect(text).toContain("and 20 more documents");
    expect(text).toContain("3 further texts of this group: ");
    expect(text.length).toBeLessThan(300_000);
  });
});

async function groups(page: Page): Promise<string[]> {
  return await page.locator("[data-group]:visible h3").allTextContents();
}

describe.skipIf(chromiumPath === undefined)("the report in a browser", () => {
  for (const viewport of [PHONE, DESK]) {
    it(`breaks no rule of axe and does not scroll sideways, closed and open: ${viewport.width} pixels`, async () => {
      const watched = await openPage({ viewport, bypassCSP: true });
      await watched.page.goto(page);
      await ready(watched.page);
      for (const open of [false, true]) {
        await watched.page.evaluate(
          `for (const each of document.querySelectorAll("details")) each.open = ${open}`,
        );
        expect(await pageFaults(watched)).toEqual([]);
      }
    });
  }

  it("runs under its own policy, loads nothing else, and shows names as text", async () => {
    const watched = await openPage();
    await watched.page.goto(page);
    await ready(watched.page);
    expect([watched.complaints, watched.requests]).toEqual([[], [page]]);
    expect(await watched.page.title()).toBe("Near-duplicates – Steward");
    expect(await watched.page.locator("td code").allTextContents()).toContainEqual(
      expect.stringMatching(/\/evil\/<b>one<!--\.txt$/),
    );
    await watched.page.getByRole("button", { name: "Colours: System" }).click();
    await watched.page.getByRole("button", { name: "Colours: Light" }).click();
    expect(await watched.page.locator("html").getAttribute("data-theme")).toBe("dark");
  });

  it("is gone through by keyboard, and shows where the texts differ", async () => {
    const { page: open, complaints } = await openPage();
    await open.goto(page);
    await ready(open);
    expect(await groups(open)).toEqual([
      "Group 1: 2 documents",
      "Group 2: 2 documents",
      "Group 3: 2 documents",
    ]);
    const selected = (): Promise<string | null> => open.locator(".group.selected h3").textContent();
    await open.keyboard.press("j");
    expect(await selected()).toBe("Group 1: 2 documents");
    await open.keyboard.press("j");
    await open.keyboard.press("j");
    await open.keyboard.press("j");
    expect(await selected()).toBe("Group 3: 2 documents");
    await open.keyboard.press("k");
    await open.keyboard.press("Enter");
    const difference = open.locator(".group.selected details[open] .difference");
    await difference.waitFor();
    const changed = [
      await difference.locator("del").allTextContents(),
      await difference.locator("ins").allTextContents(),
    ];
    expect(changed.flat().sort()).toEqual(
      changed.flat().includes("Ada,") ? ["Ada,", "Grace,"] : ["Hedy,", "Mary,"],
    );
    await open.keyboard.press("Enter");
    expect(await open.locator("details[open]").count()).toBe(0);
    await open.keyboard.press("?");
    await open.getByRole("dialog", { name: "Keyboard" }).waitFor();
    await open.getByRole("button", { name: "Switch single keys off" }).click();
    await open.keyboard.press("Escape");
    await open.keyboard.press("j");
    expect(await selected()).toBe("Group 2: 2 documents");
    expect(complaints).toEqual([]);
  });

  it("is filtered by words and kind, and the address keeps both", async () => {
    const { page: open } = await openPage();
    await open.goto(page);
    await ready(open);
    await open.keyboard.press("/");
    await open.keyboard.type("LETTERS grace");
    expect(await groups(open)).toEqual([]);
    await open.getByText("No group matches.").waitFor();
    await open.getByRole("button", { name: "Show all" }).click();
    expect(await groups(open)).toHaveLength(3);
    await open.getByRole("searchbox").fill("letters");
    expect(await groups(open)).toHaveLength(1);
    await open.getByRole("searchbox").fill("");
    await open.getByRole("button", { name: "Exact copies" }).click();
    expect(await groups(open)).toEqual(["Group 1: 2 documents"]);
    expect(await open.locator("[data-count]").textContent()).toBe("1 of 3 groups");
    await open.reload();
    await ready(open);
    expect(await groups(open)).toEqual(["Group 1: 2 documents"]);
  });

  it("can be read without scripts", async () => {
    const { page: open } = await openPage({ javaScriptEnabled: false });
    await open.goto(page);
    expect(await open.locator("[data-group]").count()).toBe(3);
    expect(await open.getByRole("searchbox").count()).toBe(0);
    await open.locator("summary", { hasText: "Differences from" }).first().click();
    expect(await open.locator("del").first().isVisible()).toBe(true);
  });
});
