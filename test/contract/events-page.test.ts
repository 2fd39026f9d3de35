/** The page `/events` of running daemons in a real browser. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { Tailscale } from "../../src/demo/tailscale/types.ts";
import { chromiumPath, openPage, ready, useChromium } from "../gateway/web/browser/chromium.ts";
import { pageFaults } from "../gateway/web/browser/faults.ts";
import { ada, auditedConfiguration, changeIn, startAudited } from "./audited-network.ts";
import { removeTemporaryFolders, rest, startDaemon, type Daemon } from "./daemon.ts";

useChromium();

const SOON = { timeout: 60_000, interval: 100 };
const PHONE = { width: 390, height: 844 };
const DESK = { width: 1440, height: 900 };
const CAPACITY = 250;
/** More than one page of the API, so that there are older ones. */
const EVENTS = 230;
/** Who failed: the simulated network has a failed change of its own now and then. */
const REFUSED = "refused@corp.test";

let tailscale: Tailscale;
let daemon: Daemon;
let changes = 0;

function change(given: Parameters<typeof changeIn>[1] = {}): void {
  changes += 1;
  tailscale.estate.audit(changeIn(changes, given));
}

beforeAll(async () => {
  tailscale = await startAudited();
  for (let at = 0; at < EVENTS; at += 1)
    change({ actor: { ...ada, loginName: `person-${at}@corp.test` } });
  change({
    actor: { ...ada, loginName: REFUSED },
    action: "DELETE",
    error: "not allowed",
    old: "<b>before</b>",
    new: "after ".repeat(300),
  });
  daemon = await startDaemon({
    config: auditedConfiguration(tailscale, CAPACITY, {
      admin: { status_refresh_interval: "200ms" },
    }),
  });
  await vi.waitFor(
    async () =>
      expect(
        (await rest(daemon, "GET", `/api/events.json?errors=1&actor=${REFUSED}`)).json.matched,
      ).toBe(1),
    SOON,
  );
});

afterAll(async () => {
  expect(await daemon.stop()).toEqual({ code: 0, signal: null });
  await tailscale.stop();
  removeTemporaryFolders();
});

function rows(page: Page): Promise<number> {
  return page.locator("tbody tr").count();
}

it("is complete without scripts: rows, links to filters and to older events, and markup as text", async () => {
  const page = await rest(daemon, "GET", `/events?errors=1&actor=${REFUSED}`);
  expect([page.status, page.headers.get("content-type")]).toEqual([
    200,
    "text/html; charset=utf-8",
  ]);
  expect(page.text).toContain("old: &lt;b&gt;before&lt;/b&gt;");
  expect(page.text).toContain("not allowed");
  expect(page.text.match(/<tr>/g)?.length).toBe(2);
  const all = await rest(daemon, "GET", "/events");
  const cursor =
    /data-older[^>]*href="\?cursor=([^"]+)"|href="\?cursor=([^"]+)"[^>]*data-older/.exec(all.text);
  const older = await rest(daemon, "GET", `/events?cursor=${cursor?.[1] ?? cursor?.[2] ?? ""}`);
  expect(older.text).toContain("Go to the newest events");
  expect((await rest(daemon, "GET", `/events?actor=${"x".repeat(129)}`)).text).toContain(
    "actor must be at most 128 bytes",
  );
  expect((await rest(daemon, "GET", "/events?actor=nobody")).text).toContain(
    "stored events matches",
  );
});

describe.skipIf(chromiumPath === undefined)("in a browser", () => {
  for (const viewport of [PHONE, DESK])
    it(`has no fault: ${viewport.width} pixels`, async () => {
      const watched = await openPage({ viewport, bypassCSP: true });
      for (const path of ["/events", `/events?errors=1&actor=${REFUSED}`, "/events?actor=nobody"]) {
        await watched.page.goto(`${daemon.url}${path}`);
        await ready(watched.page);
        for (const summary of await watched.page
          .locator("tbody details > summary")
          .all()
          .then((all) => all.slice(0, 2)))
          await summary.click();
        expect([path, await pageFaults(watched)]).toEqual([path, []]);
      }
      expect(
        watched.requests.every((url) => url.startsWith(daemon.url) || url.startsWith("data:")),
      ).toBe(true);
    });

  it("is reached and used by keyboard: filter by typing, errors only, older events", async () => {
    const { page, complaints } = await openPage();
    await page.goto(`${daemon.url}/`);
    await ready(page);
    await page
      .getByRole("navigation", { name: "Pages" })
      .getByRole("link", { name: "Events" })
      .focus();
    await page.keyboard.press("Enter");
    await page.getByRole("table", { name: "events" }).waitFor();
    await ready(page);
    await page.getByRole("link", { name: "Load older events" }).focus();
    await page.keyboard.press("Enter");
    // Newer events may arrive before the older ones.
    await vi.waitFor(async () => expect(await rows(page)).toBeGreaterThanOrEqual(EVENTS), SOON);
    await page.getByRole("searchbox", { name: "Actor" }).fill("person-7@");
    await vi.waitFor(async () => expect(await rows(page)).toBe(1), SOON);
    expect(new URL(page.url()).search).toBe("?actor=person-7%40");
    await page.getByRole("link", { name: "Clear the filters" }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: "Errors only" }).focus();
    await page.keyboard.press("Enter");
    await vi.waitFor(async () => expect(await rows(page)).toBeLessThan(5), SOON);
    expect(new URL(page.url()).search).toBe("?errors=1");
    await page.locator("tbody tr", { hasText: REFUSED }).locator("summary").focus();
    await page.keyboard.press("Enter");
    await page.getByText("old: <b>before</b>").waitFor();
    expect(complaints).toEqual([]);
  });

  it("shows new events by itself, keeps older ones that were loaded, and says when some were dropped", async () => {
    const { page } = await openPage();
    await page.goto(`${daemon.url}/events`);
    await ready(page);
    await page.getByRole("link", { name: "Load older events" }).click();
    await vi.waitFor(async () => expect(await rows(page)).toBeGreaterThanOrEqual(EVENTS), SOON);
    const before = await rows(page);
    change({ actor: { ...ada, loginName: "newest@corp.test" } });
    // The simulated network may have a change of its own meanwhile, also a newer one.
    await page.locator("tbody tr", { hasText: "newest@corp.test" }).waitFor();
    const shown = await page.locator("tbody tr").allInnerTexts();
    const placeOf = (actor: string): number => shown.findIndex((row) => row.includes(actor));
    expect(placeOf("newest@corp.test")).toBeLessThan(placeOf(REFUSED));
    expect(shown.length).toBeGreaterThan(before);
    for (let at = 0; at < CAPACITY; at += 1) change();
    await page.getByText("The store is full.").waitFor();
    await page.getByText(/older entries were dropped and cannot be shown/).waitFor();
    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByText("paused").waitFor();
  });

  it("says that it is old while the server does not answer", async () => {
    const { page } = await openPage();
    await page.goto(`${daemon.url}/events`);
    await ready(page);
    await page.route("**/api/events.json*", (route) => route.abort());
    await page.getByText("The server does not answer.").waitFor();
    expect(await rows(page)).toBeGreaterThan(100);
  });
});
