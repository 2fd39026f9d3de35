/** The pages `/devices` and `/devices/{id}` of a running daemon in a real browser. */
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { chromiumPath, openPage, ready, useChromium } from "../gateway/web/browser/chromium.ts";
import { pageFaults } from "../gateway/web/browser/faults.ts";
import {
  removeTemporaryFolders,
  rest,
  startDaemon,
  temporaryFolder,
  type Daemon,
} from "./daemon.ts";

useChromium();

const SOON = { timeout: 60_000, interval: 100 };
const PHONE = { width: 390, height: 844 };
const DESK = { width: 1440, height: 900 };

let daemon: Daemon;
let devices: { readonly name: string; readonly online: boolean }[] = [];

beforeAll(async () => {
  daemon = await startDaemon({
    args: ["-demo"],
    env: { STEWARD_GATEWAY__LISTEN: "127.0.0.1:0", STEWARD_STATE__DIRECTORY: temporaryFolder() },
  });
  await vi.waitFor(async () => {
    devices = (await rest(daemon, "GET", "/api/status.json")).json.devices;
    expect(devices.length).toBeGreaterThan(10);
  }, SOON);
});

afterAll(async () => {
  await daemon.stop();
  removeTemporaryFolders();
});

it("are complete without scripts, and say what they do not know", async () => {
  const list = await rest(daemon, "GET", "/devices");
  expect(list.status).toBe(200);
  for (const { name } of devices)
    expect(list.text).toContain(`href="/devices/${encodeURIComponent(name)}"`);
  const name = devices[0]?.name ?? "";
  const one = await rest(daemon, "GET", `/devices/${encodeURIComponent(name)}`);
  for (const text of [name, "Key expires", "Version", "Routes", "Tags"])
    expect(one.text).toContain(text);
  const none = await rest(daemon, "GET", "/devices/%3Cnowhere%3E");
  expect(none.text).toContain("This device is not known.");
  expect(none.text).toContain("<h2>&lt;nowhere&gt;</h2>");
});

describe.skipIf(chromiumPath === undefined)("in a browser", () => {
  for (const viewport of [PHONE, DESK])
    it(`have no fault: ${viewport.width} pixels`, async () => {
      const watched = await openPage({ viewport, bypassCSP: true });
      const name = encodeURIComponent(devices[0]?.name ?? "");
      for (const path of ["/devices", `/devices/${name}`, "/devices/nowhere"]) {
        await watched.page.goto(`${daemon.url}${path}`);
        await ready(watched.page);
        expect([path, await pageFaults(watched)]).toEqual([path, []]);
      }
    });

  it("are searched and sorted by keyboard, and lead to a device and its changes", async () => {
    const { page, complaints } = await openPage();
    await page.goto(`${daemon.url}/`);
    await ready(page);
    await page
      .getByRole("navigation", { name: "Pages" })
      .getByRole("link", { name: "Devices" })
      .focus();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Devices" }).waitFor();
    await ready(page);
    // Devices come and go, and the page follows.
    const known = async (): Promise<typeof devices> =>
      (devices = (await rest(daemon, "GET", "/api/status.json")).json.devices);
    await vi.waitFor(
      async () => expect(await page.locator("tbody tr").count()).toBe((await known()).length),
      SOON,
    );
    await page.getByRole("button", { name: "State" }).focus();
    await page.keyboard.press("Enter");
    await vi.waitFor(
      async () => expect(await page.locator("tbody tr").first().innerText()).toContain("offline"),
      SOON,
    );
    await page.getByRole("searchbox", { name: "Filter devices" }).fill("offline");
    await vi.waitFor(
      async () =>
        expect(await page.locator("tbody tr").count()).toBe(
          (await known()).filter(({ online }) => !online).length,
        ),
      SOON,
    );
    const link = page.locator("tbody a").first();
    const name = await vi.waitFor(async () => {
      const shown = decodeURIComponent((await link.getAttribute("href"))?.split("/").at(-1) ?? "");
      const offline = (await known()).filter(({ online }) => !online);
      expect(offline.map((device) => device.name)).toContain(shown);
      return shown;
    }, SOON);
    await link.click();
    await page.getByRole("heading", { name }).waitFor();
    await ready(page);
    await page.getByRole("link", { name: "Changes of this device" }).click();
    await page.getByRole("heading", { name: "Events" }).waitFor();
    expect(new URL(page.url()).searchParams.get("target")).toBe(name);
    expect(complaints).toEqual([]);
  });
});
