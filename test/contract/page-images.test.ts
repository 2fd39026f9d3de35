/** Pictures of pages on the pages of a review, from a simulated Paperless-ngx. */
import type { Page } from "playwright-core";
import { describe, expect, it, onTestFinished } from "vitest";
import type { startPaperless } from "../../src/demo/paperless/paperless.ts";
import { drawThumbnail } from "../../src/demo/paperless/thumbnail.ts";
import { prose } from "../dedup/groups/bench.ts";
import { chromiumPath, openPage, ready, useChromium } from "../gateway/web/browser/chromium.ts";
import { brokenRules } from "../gateway/web/browser/faults.ts";
import { jobEnd, rest, runJob, startDaemon, temporaryFolder, type Daemon } from "./daemon.ts";
import { configOf, startArchive } from "./paperless-estate.ts";

useChromium();

const SOON = { timeout: 60_000 };
const SIZES = [
  { width: 390, height: 844 },
  { width: 1280, height: 900 },
];
type Sim = Awaited<ReturnType<typeof startPaperless>>;

/** Two copies and another document in a Paperless-ngx, synced and analysed. */
async function started(): Promise<{ sim: Sim; daemon: Daemon; group: string }> {
  const sim = await startArchive((estate) => {
    for (const title of ["Original", "Copy"]) estate.add({ title, content: prose(1) });
    estate.add({ title: "Other", content: prose(2) });
  });
  const daemon = await startDaemon({ config: configOf(sim, temporaryFolder()) });
  onTestFinished(async () => {
    await daemon.stop("SIGKILL");
    await sim.stop();
  });
  await runJob(daemon, "/api/v1/sync");
  const { json } = await rest(daemon, "GET", "/api/v1/jobs?type=analysis&limit=1");
  await jobEnd(daemon, json.data[0].id as string);
  const groups = (await rest(daemon, "GET", "/api/v1/duplicates")).json.data;
  return { sim, daemon, group: groups[0].id };
}

function widths(page: Page): Promise<number[]> {
  return page.locator("img[data-page]").evaluateAll((images) =>
    // Typed by the browser, which this file does not know.
    images.map((image) => (image as unknown as { naturalWidth: number }).naturalWidth),
  );
}

describe.skipIf(chromiumPath === undefined)("pictures of pages in a real browser", () => {
  it("stand beside the difference, and open the file", async () => {
    const { daemon, group } = await started();
    const { page, complaints } = await openPage();
    await page.goto(`${daemon.url}/duplicates?group=${group}`);
    await ready(page);
    await expect.poll(() => widths(page), SOON).toEqual([124, 124]);
    const [left, right] = await page
      .locator("img[data-page]")
      .evaluateAll((images) => images.map((image) => image.getAttribute("alt")));
    expect([left, right].toSorted((a, b) => (a ?? "").localeCompare(b ?? ""))).toEqual([
      "First page of Copy; opens the file",
      "First page of Original; opens the file",
    ]);
    const href = await page.locator(".page-image a").first().getAttribute("href");
    const file = await rest(daemon, "GET", href ?? "");
    expect([file.status, file.headers.get("content-type")]).toEqual([200, "application/pdf"]);
    expect(complaints).toEqual([]);
  });

  it("are replaced by a sentence where the archive has none, and the page does not jump", async () => {
    const { sim, daemon, group } = await started();
    sim.faults.next("thumb", { kind: "status", status: 404 }, Infinity);
    const { page } = await openPage();
    await page.goto(`${daemon.url}/duplicates?group=${group}`);
    await ready(page);
    await expect
      .poll(() => page.getByText("The archive gives no picture of it.").count(), SOON)
      .toBe(2);
    await expect.poll(() => page.locator("img[data-page]:visible").count(), SOON).toBe(0);
  });

  it("are on a document's own page, too", async () => {
    const { daemon } = await started();
    const [document] = (await rest(daemon, "GET", "/api/v1/documents")).json.data;
    const { page, complaints } = await openPage({ viewport: { width: 390, height: 844 } });
    await page.goto(`${daemon.url}/documents/${document.id}`);
    await expect.poll(() => widths(page), SOON).toEqual([124]);
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    expect(complaints).toEqual([]);
  });

  it("are in the plan and in the list, break no rule of axe and never scroll sideways, there or missing", async () => {
    const { sim, daemon, group } = await started();
    await rest(daemon, "POST", "/api/v1/delete-plan/accept", { groupIds: [group] });
    for (const missing of [false, true]) {
      if (missing) sim.faults.next("thumb", { kind: "status", status: 404 }, Infinity);
      for (const viewport of SIZES)
        for (const [path, count] of [
          ["/duplicates/plan", 2],
          ["/documents", 3],
          [`/duplicates?show=all&group=${group}`, 2],
        ] as const) {
          const { page } = await openPage({ viewport });
          await page.goto(`${daemon.url}${path}`);
          await ready(page);
          const width = missing ? 0 : 124;
          // Pictures are loaded when their place comes near.
          await page.locator(".page-frame").last().scrollIntoViewIfNeeded();
          await expect.poll(() => widths(page), SOON).toEqual(Array(count).fill(width));
          await expect
            .poll(() => page.locator(".no-image:visible").count(), SOON)
            .toBe(missing ? count : 0);
          const [height] = path.includes("group=") ? [176] : [58];
          expect((await page.locator(".page-frame").first().boundingBox())?.height).toBe(height);
          expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(
            true,
          );
          expect([path, await brokenRules(page)]).toEqual([path, []]);
        }
    }
  });

  it("that are missing before a page has started leave its scripts on", async () => {
    const { sim, daemon } = await started();
    sim.faults.next("thumb", { kind: "status", status: 404 }, Infinity);
    const [document] = (await rest(daemon, "GET", "/api/v1/documents")).json.data;
    const { page } = await openPage();
    await page.goto(`${daemon.url}/documents/${document.id}`);
    await page.getByText("The archive gives no picture of it.").waitFor();
    expect(await page.locator("html.js").count()).toBe(1);
  });

  it("leave the link to the file without scripts, and nothing broken", async () => {
    const { daemon, group } = await started();
    const { page } = await openPage({ javaScriptEnabled: false });
    await page.goto(`${daemon.url}/duplicates?group=${group}`);
    expect(await page.locator("a.page-frame:visible").count()).toBe(2);
    expect(await page.locator("main img:visible").count()).toBe(0);
  });

  it("of the simulated archive are what a browser can show", async () => {
    const { page } = await openPage();
    const data = drawThumbnail(`${prose(3)}\n\nwith a second paragraph`).toString("base64");
    await page.setContent(`<img data-page src="data:image/webp;base64,${data}">`);
    await expect.poll(() => widths(page), SOON).toEqual([124]);
  });
});

describe("documents of other archives", () => {
  it("have no pictures, and nothing is asked for", async () => {
    const { writeFiles, smallArchive, folderConfig } = await import("./corpus.ts");
    const folder = temporaryFolder();
    writeFiles(folder, smallArchive);
    const daemon = await startDaemon({ config: folderConfig(temporaryFolder(), folder) });
    onTestFinished(async () => void (await daemon.stop("SIGKILL")));
    await runJob(daemon, "/api/v1/sync");
    const [document] = (await rest(daemon, "GET", "/api/v1/documents")).json.data;
    const { text } = await rest(daemon, "GET", `/documents/${document.id}`);
    expect(text).not.toContain('class="page-image"');
    expect(text).not.toContain("/thumb");
  });
});
