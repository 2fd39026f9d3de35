/**
 * The pages `/suggestions` and `/suggestions/costs` of a daemon with a simulated Paperless-ngx and a
 * simulated model, used as a reviewer does: in a real browser, by keyboard, by mouse, and without
 * scripts.
 */
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { chromiumPath, openPage, ready, useChromium } from "../gateway/web/browser/chromium.ts";
import { suggestion } from "../support/ai-provider.ts";
import { fillPapers, resultsOf, startAiEstate, suggestForAll, type AiEstate } from "./ai-estate.ts";
import { type Daemon, rest, startDaemon, temporaryFolder } from "./daemon.ts";

useChromium();

const PHONE = { width: 390, height: 844 };
const SOON = { timeout: 60_000 };
const EVIL = `<img src=x onerror="document.title='run'">`;

async function started(papers = 4): Promise<{ estate: AiEstate; daemon: Daemon }> {
  const estate = await startAiEstate(fillPapers(papers));
  estate.provider.reply = () => suggestion({ evidence: `${EVIL} header` });
  const daemon = await estate.start();
  await suggestForAll(daemon);
  return { estate, daemon };
}

async function go(page: Page, daemon: Daemon, path: string): Promise<void> {
  await page.goto(`${daemon.url}${path}`);
  await ready(page);
}

function rows(page: Page): Promise<string[]> {
  return page.locator("table[aria-label=suggestions] .row-link").allTextContents();
}

async function openTitle(page: Page): Promise<string> {
  return (await page.locator("#group-title").textContent()) ?? "";
}

async function statuses(daemon: Daemon): Promise<string[]> {
  const found: string[] = (await resultsOf(daemon)).map((result) => result.appliedStatus);
  return found.sort();
}

describe.skipIf(chromiumPath === undefined)("the suggestions in a real browser", () => {
  it("are applied, applied in part, rejected and reverted by keyboard, with the present value beside", async () => {
    const { estate, daemon } = await started();
    const { page, complaints } = await openPage();
    await go(page, daemon, "/suggestions");
    const titles = await rows(page);
    expect(titles).toHaveLength(4);
    expect(await page.locator("tbody tr").first().innerText()).toContain(
      "Correspondent Northwind Water; Document type Invoice; +utilities",
    );
    await page.keyboard.press("Enter");
    await expect.poll(() => openTitle(page), SOON).toBe(titles[0]);
    const fields = page.locator("table[aria-label=fields]");
    expect(await fields.innerText()).toMatch(/Correspondent\s+Other\s+Northwind Water\s+90 %/);
    expect(await fields.innerText()).toMatch(/Document type\s+none\s+Invoice\s+80 %/);
    expect(await fields.innerText()).toMatch(/Tags\s+inbox\s+utilities\s+70 %/);
    expect(await page.locator("blockquote").innerText()).toContain(EVIL);
    // All of the first; without the second field of the next one; the third is rejected.
    await page.keyboard.press("a");
    await expect.poll(() => openTitle(page), SOON).toBe(titles[1]);
    await page.keyboard.press("2");
    expect(await page.locator("[data-field=documentType]").isChecked()).toBe(false);
    await page.keyboard.press("a");
    await expect.poll(() => openTitle(page), SOON).toBe(titles[2]);
    await page.locator("#reason").fill("another sender");
    await page.keyboard.press("Escape");
    await page.keyboard.press("x");
    await expect.poll(() => openTitle(page), SOON).toBe(titles[3]);
    expect(await statuses(daemon)).toEqual(["applied", "partial", "pending", "rejected"]);
    const byTitle = new Map((await resultsOf(daemon)).map((each) => [each.documentTitle, each]));
    const documentOf = (title: string | undefined): any =>
      estate.sim.estate.documents.get(byTitle.get(title)?.paperlessId);
    const names = (kind: "correspondents" | "document_types", id: number | null): string =>
      id === null ? "" : (estate.sim.estate.references[kind].get(id)?.name ?? "");
    expect(names("correspondents", documentOf(titles[0]).correspondent)).toBe("Northwind Water");
    expect(names("document_types", documentOf(titles[0]).documentType)).toBe("Invoice");
    expect(documentOf(titles[1]).documentType).toBeNull();
    const rejected = byTitle.get(titles[2]);
    const detail = (await rest(daemon, "GET", `/api/v1/ai/results/${rejected.id}`)).json.data;
    expect(detail.rejectionReason).toBe("another sender");
    const { json } = await rest(daemon, "GET", "/api/v1/ai/feedback/summary");
    expect(json.data).toMatchObject({ rejections: 1, partialApplied: 1 });
    expect(json.data.topRejectedFields).toEqual([{ field: "documentType", count: 1 }]);
    // u takes the first one back.
    await go(page, daemon, `/suggestions?show=applied`);
    await page.keyboard.press("Enter");
    await expect.poll(() => openTitle(page), SOON).toBe(titles[0]);
    await page.keyboard.press("u");
    await page.getByText("Reverted: the document has its former values again.").waitFor();
    expect(names("correspondents", documentOf(titles[0]).correspondent)).toBe("Other");
    expect(await statuses(daemon)).toEqual(["partial", "pending", "rejected", "reverted"]);
    expect(await page.title()).not.toBe("run");
    expect(complaints).toEqual([]);
  });

  it("are applied all at once after a preview, and the job is followed", async () => {
    const { daemon } = await started(6);
    const { page, complaints } = await openPage();
    await go(page, daemon, "/suggestions?min=0.5");
    await page.getByRole("button", { name: "Apply all listed" }).click();
    const dialog = page.getByRole("dialog", { name: "Apply all listed suggestions?" });
    expect(await dialog.innerText()).toMatch(/Suggestions\s+6/);
    expect(await dialog.innerText()).toContain("Northwind Water, Invoice, utilities");
    await dialog.getByRole("button", { name: "Apply" }).click();
    await page
      .getByText("Every suggestion is reviewed.")
      .or(page.getByText("No suggestion matches."))
      .waitFor();
    expect(new Set(await statuses(daemon))).toEqual(new Set(["applied"]));
    expect(complaints).toEqual([]);
  });

  it("are asked for after their cost was shown", async () => {
    const estate = await startAiEstate(fillPapers(3));
    const daemon = await estate.start();
    await rest(daemon, "PUT", "/api/v1/ai/config", { model: "gpt-5.4-mini" });
    await rest(daemon, "POST", "/api/v1/sync", {});
    await expect
      .poll(async () => (await rest(daemon, "GET", "/api/v1/ai/stats")).json.data.unprocessed, SOON)
      .toBe(3);
    const { page, complaints } = await openPage();
    await go(page, daemon, "/suggestions");
    expect(await page.locator(".empty").innerText()).toContain("3 documents wait");
    await page.getByRole("button", { name: "Ask the model" }).click();
    const dialog = page.getByRole("dialog", { name: "Ask the model?" });
    expect(await dialog.innerText()).toMatch(
      /Title and text of 3 documents are sent to gpt-5\.4-mini at openai\. It costs about \$0\.\d+\./,
    );
    expect(estate.provider.calls).toHaveLength(0);
    await dialog.getByRole("button", { name: "Ask" }).click();
    await expect.poll(async () => (await rows(page)).length, SOON).toBe(3);
    expect(complaints).toEqual([]);
  });

  it("say what is wrong with each: failed ones, gone ones, an archive that refuses", async () => {
    const { estate, daemon } = await started(2);
    const [first, second] = await resultsOf(daemon);
    estate.provider.reply = () => ({ kind: "refusal" });
    await rest(daemon, "POST", "/api/v1/ai/process", { documentIds: [first.documentId] });
    await expect.poll(() => statuses(daemon), SOON).toEqual(["failed", "pending"]);
    const { page } = await openPage();
    await go(page, daemon, "/suggestions?show=failed");
    await page.keyboard.press("Enter");
    await page.getByText("The model refused to answer.").last().waitFor();
    await go(page, daemon, "/suggestions?result=nothing");
    await page.getByText("This suggestion is gone.").waitFor();
    estate.sim.faults.next("patch_document", { kind: "status", status: 403 }, 10);
    await go(page, daemon, `/suggestions?result=${second.id}`);
    await page.getByRole("button", { name: "Apply the ticked fields" }).click();
    await page.locator(".toast").waitFor();
    expect(await page.locator(".toast").innerText()).not.toContain("Applied");
    expect(await statuses(daemon)).toEqual(["failed", "pending"]);
  });

  it("fit a phone: no sideways scrolling, every field with its name", async () => {
    const { daemon } = await started(1);
    const { page } = await openPage({ viewport: PHONE });
    const [result] = await resultsOf(daemon);
    for (const path of ["/suggestions", `/suggestions?result=${result.id}`, "/suggestions/costs"]) {
      await go(page, daemon, path);
      expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path).toBe(
        true,
      );
    }
    await go(page, daemon, `/suggestions?result=${result.id}`);
    expect(await page.locator("table[aria-label=fields]").innerText()).toContain("Correspondent");
  });
});

describe("the pages about suggestions without scripts", () => {
  it("show list, fields and costs, and every choice is a link", async () => {
    const { daemon } = await started(2);
    const [result] = await resultsOf(daemon);
    const list = await rest(daemon, "GET", "/suggestions");
    expect(list.status).toBe(200);
    expect(list.text).toContain("Correspondent Northwind Water; Document type Invoice; +utilities");
    expect(list.text).toContain('href="?show=rejected"');
    const open = await rest(daemon, "GET", `/suggestions?result=${result.id}`);
    expect(open.text).toContain("Northwind Water");
    expect(open.text).not.toContain("<img src=x");
    await rest(daemon, "PUT", "/api/v1/ai/config", { maxCostPerMonthUsd: 0.000001 });
    const costs = await rest(daemon, "GET", "/suggestions/costs");
    expect(costs.text).toMatch(/gpt-5\.4-mini[^]*2,000/);
    for (const path of ["/suggestions", "/suggestions/costs"])
      expect((await rest(daemon, "GET", path)).text).toMatch(/This month.{1,6}s limit is reached/);
    expect((await rest(daemon, "GET", "/duplicates")).text).toContain('href="/suggestions"');
  });

  it("say how to switch AI on where it is off, and no page links there", async () => {
    const daemon = await startDaemon({
      config: "dedup: {}\n",
      env: { STEWARD_GATEWAY__LISTEN: "127.0.0.1:0", STEWARD_STATE__DIRECTORY: temporaryFolder() },
    });
    for (const path of ["/suggestions", "/suggestions/costs"]) {
      const { status, text } = await rest(daemon, "GET", path);
      expect(status).toBe(200);
      expect(text).toContain("AI suggestions are off.");
      expect(text).toContain("AI_ENABLED=true");
    }
    for (const path of ["/", "/duplicates", "/docs"])
      expect((await rest(daemon, "GET", path)).text, path).not.toContain('href="/suggestions"');
    await daemon.stop();
  });
});
