/** What the first drawing of an island keeps of the page that the server wrote. */
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { pageAssets } from "../../../../gateway/web/assets.ts";
import { devicesRoutes } from "../../../../gateway/web/devices/route.ts";
import { eventsRoute } from "../../../../gateway/web/events/route.ts";
import { monitorRoutes } from "../../../../gateway/web/landing/route.ts";
import type { EventList } from "../../../../src/gen/events-json.ts";
import type { PresenceReport } from "../../../../src/gen/presence-json.ts";
import { systemClock } from "../../../../src/kernel/base/clock.ts";
import { startGateway } from "../../start-gateway.ts";
import { fullStatus, summary } from "../fixtures/status.ts";
import { chromiumPath, openPage, ready, useChromium } from "./chromium.ts";

useChromium();

const HOUR_MS = 3_600_000;
const at = (hoursAgo: number): string => new Date(Date.now() - hoursAgo * HOUR_MS).toISOString();
const events = {
  rows: [],
  stats: {},
  matched: 0,
  returned: 0,
  retained: 0,
  truncated: false,
} as unknown as EventList;

/** Everybody was online for an hour of 24. */
function presence(): PresenceReport {
  const networks = fullStatus().networks.map(({ name, devices }) => ({
    name,
    observed: [{ from: at(1), to: at(0) }],
    devices: devices.map((device) => ({
      id: device.name,
      name: device.name,
      state: "online" as const,
      changes: [{ at: at(1), state: "online" as const }],
    })),
    truncated: false,
    hours: [],
    days: [],
  }));
  return {
    schema_version: 1,
    generated_at: at(0),
    start: at(24),
    retention_days: 30,
    networks,
    services: { hours: [], days: [] },
  };
}

/** A page whose island waits for its data until `answer` is called. */
async function openHeld(path: string): Promise<{ page: Page; answer: () => Promise<void> }> {
  const deps = {
    assets: pageAssets(),
    clock: systemClock,
    status: () => Promise.resolve(fullStatus()),
    presence: () => Promise.resolve(presence()),
    read: () => Promise.resolve(events),
    summary: () => summary,
  };
  const options = { demo: false, version: "0.1.0", links: [], refreshMs: 0, alone: false };
  const plain = [
    ...devicesRoutes(deps, options),
    eventsRoute(deps, options),
    ...monitorRoutes(deps, options),
  ];
  const { url } = await startGateway({ plain, services: [] });
  const { page } = await openPage();
  page.setDefaultTimeout(15_000);
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => void (release = resolve));
  await page.route("**/api/presence.json*", (route) => route.fulfill({ status: 503 }));
  await page.route("**/api/status.json", async (route) => {
    await held;
    await route.fulfill({ json: fullStatus() });
  });
  await page.route("**/api/events.json*", async (route) => {
    await held;
    await route.fulfill({ json: events });
  });
  await page.goto(`${url}${path}`);
  return {
    page,
    async answer() {
      release();
      await ready(page);
    },
  };
}

/** The focused element, and the selection in it. */
async function focused(page: Page): Promise<unknown> {
  return await page.evaluate(() => {
    const element = document.activeElement;
    if (element instanceof HTMLInputElement)
      return [element.dataset["param"], element.value, element.selectionStart];
    return element?.getAttribute("href") ?? element?.tagName;
  });
}

describe.skipIf(chromiumPath === undefined)("the first drawing in a browser", () => {
  it("leaves the reader in the field, with what was typed and where", async () => {
    for (const [path, param] of [
      ["/events", "actor"],
      ["/devices", "devices.q"],
    ] as const) {
      const { page, answer } = await openHeld(path);
      const field = page.locator(`[data-param="${param}"]`);
      await field.focus();
      await page.keyboard.type("fig");
      await page.keyboard.press("ArrowLeft");
      await answer();
      expect([path, await focused(page)]).toEqual([path, [param, "fig", 2]]);
      expect(new URL(page.url()).searchParams.get(param)).toBe("fig");
    }
  });

  it("leaves the reader on the link", async () => {
    for (const [path, link] of [
      ["/events", "/api/events.json"],
      ["/devices", "/devices/"],
      ["/monitor", "/api/status.json"],
    ] as const) {
      const { page, answer } = await openHeld(path);
      await page.locator(`a[href^="${link}"]`).last().focus();
      const before = await focused(page);
      await answer();
      expect([path, await focused(page)]).toEqual([path, before]);
    }
  });

  it("leaves the strips that the server drew while presence cannot be read", async () => {
    for (const path of [
      "/devices",
      `/devices/${fullStatus().networks[0]?.devices[0]?.name ?? ""}`,
    ]) {
      const { page, answer } = await openHeld(path);
      const strips = (): Promise<string[]> =>
        page.locator("svg.strip").evaluateAll((all) => all.map((each) => each.outerHTML));
      const before = await strips();
      expect(before.length).toBeGreaterThan(0);
      await answer();
      expect([path, await strips()]).toEqual([path, before]);
    }
  });
});
