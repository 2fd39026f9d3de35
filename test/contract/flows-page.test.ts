/** The page `/flows` of running daemons in a real browser. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { chromiumPath, openPage, ready, useChromium } from "../gateway/web/browser/chromium.ts";
import { pageFaults } from "../gateway/web/browser/faults.ts";
import { removeTemporaryFolders, rest, startDaemon, temporaryFolder } from "./daemon.ts";
import { post, startReceiving, TOKEN, type Received } from "./receivers.ts";

useChromium();

const SOON = { timeout: 60_000, interval: 100 };
const PHONE = { width: 390, height: 844 };
const DESK = { width: 1440, height: 900 };
const EVIL = "<b>gw</b>";
/** More than the page reads at once. */
const CONNECTIONS = 70;
const alpha = { nodeId: "n-alpha", name: "alpha", addresses: ["100.127.1.1"], tags: ["tag:a"] };
const beta = { nodeId: "n-beta", name: "beta", addresses: ["100.127.1.2"], tags: ["tag:b"] };
const gamma = { nodeId: "n-gamma", name: EVIL, addresses: ["100.127.1.3"], tags: ["tag:c"] };

let receiving: Received;
let port = 5_000;

/** A window of traffic that ended some seconds ago. */
function record(secondsAgo: number, traffic: Readonly<Record<string, unknown>>): object {
  const at = (seconds: number): string => new Date(Date.now() - seconds * 1_000).toISOString();
  return {
    nodeId: "n-alpha",
    start: at(secondsAgo + 5),
    end: at(secondsAgo),
    logged: at(secondsAgo),
    srcNode: alpha,
    dstNodes: [beta, gamma],
    ...traffic,
  };
}

function to(dst: string, txBytes: number): object {
  port += 1;
  return { proto: 6, src: `100.127.1.1:${port}`, dst, txPkts: 1, txBytes, rxPkts: 1, rxBytes: 1 };
}

async function send(...records: object[]): Promise<void> {
  const { status } = await post(receiving.port("stream"), {
    headers: { authorization: `Basic ${Buffer.from(`any:${TOKEN}`).toString("base64")}` },
    body: records.map((each) => JSON.stringify(each)).join("\n"),
  });
  expect(status).toBe(200);
}

beforeAll(async () => {
  receiving = await startReceiving({
    streaming: { enabled: true, listen: "127.0.0.1:0", token: TOKEN },
    admin: { status_refresh_interval: "200ms" },
  });
  await send(
    record(1_200, { virtualTraffic: [to("100.127.1.3:22", 9_000)] }),
    ...Array.from({ length: CONNECTIONS }, (_, at) =>
      record(300 + at, { virtualTraffic: [to("100.127.1.2:443", 1_000)] }),
    ),
    record(60, { physicalTraffic: [{ ...to("127.3.3.40:7", 500), src: "100.127.1.2:0" }] }),
  );
  await vi.waitFor(
    async () =>
      expect(
        (await rest(receiving.daemon, "GET", "/api/flows.json")).json.result.totals.flows,
      ).toBe(CONNECTIONS + 2),
    SOON,
  );
});

afterAll(async () => {
  await receiving[Symbol.asyncDispose]();
  removeTemporaryFolders();
});

function rows(page: Page): Promise<number> {
  return page.locator("table[aria-label=connections] tbody tr").count();
}

it("is complete without scripts: sums, lists, connections, and markup as text", async () => {
  const { status, text, headers } = await rest(receiving.daemon, "GET", "/flows");
  expect([status, headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
  for (const part of ["Timeline", "Topology", "Talkers", "Pairs", "Ports", "Between tags", "Peers"])
    expect(text).toContain(`<h3>${part}</h3>`);
  expect(text).toContain("&lt;b&gt;gw&lt;/b&gt;");
  expect(text).not.toContain(EVIL);
  expect(text).toContain("50 of 72 matching connections");
  const cursor = /href="\?cursor=([^"]+)"/.exec(text)?.[1] ?? "";
  const older = await rest(receiving.daemon, "GET", `/flows?cursor=${cursor}`);
  expect(older.text).toContain("22 of 72 matching connections, from an older page");
  expect((await rest(receiving.daemon, "GET", "/flows?service=ssh")).text).toContain(
    "1 of 1 matching connection",
  );
  expect((await rest(receiving.daemon, "GET", "/flows?device=nobody")).text).toContain(
    "None of the connections within this window matches.",
  );
  expect((await rest(receiving.daemon, "GET", `/flows?device=${"x".repeat(129)}`)).text).toContain(
    "device must be at most 128 bytes",
  );
  expect((await rest(receiving.daemon, "GET", "/flows?network=nowhere")).text).toContain(
    "The flows cannot be read.",
  );
});

describe.skipIf(chromiumPath === undefined)("in a browser", () => {
  for (const viewport of [PHONE, DESK])
    it(`has no fault: ${viewport.width} pixels`, async () => {
      const watched = await openPage({ viewport, bypassCSP: true });
      for (const path of ["/flows", "/flows?window=15m&type=virtual", "/flows?device=nobody"]) {
        await watched.page.goto(`${receiving.daemon.url}${path}`);
        await ready(watched.page);
        expect([path, await pageFaults(watched)]).toEqual([path, []]);
      }
    });

  it("is reached and used by keyboard: window, filters, a device's own connections, older ones", async () => {
    const { page, complaints } = await openPage();
    await page.goto(`${receiving.daemon.url}/`);
    await ready(page);
    await page
      .getByRole("navigation", { name: "Pages" })
      .getByRole("link", { name: "Flows" })
      .focus();
    await page.keyboard.press("Enter");
    await page.getByRole("table", { name: "connections" }).waitFor();
    await ready(page);
    await page.getByRole("link", { name: "Load older connections" }).focus();
    await page.keyboard.press("Enter");
    await vi.waitFor(async () => expect(await rows(page)).toBe(CONNECTIONS + 2), SOON);
    await page.getByRole("link", { name: "15 minutes" }).focus();
    await page.keyboard.press("Enter");
    await expect
      .poll(() => page.getByText("matching connections").innerText(), SOON)
      .toBe("50 of 71 matching connections");
    await page.getByRole("link", { name: "1 hour" }).click();
    await page.getByRole("searchbox", { name: "Service" }).fill("ssh");
    await vi.waitFor(async () => expect(await rows(page)).toBe(1), SOON);
    expect(new URL(page.url()).search).toBe("?service=ssh");
    await page.getByRole("link", { name: "Clear the filters" }).click();
    await page.getByRole("table", { name: "talkers" }).getByRole("link", { name: EVIL }).click();
    await vi.waitFor(async () => expect(await rows(page)).toBe(1), SOON);
    expect(complaints).toEqual([]);
  });

  it("loads older connections also when newer ones arrive before them", async () => {
    const { page } = await openPage();
    const released = Promise.withResolvers<void>();
    let held = 0;
    await page.route(/flows\.json\?.*cursor=/, async (route) => {
      held += 1;
      await released.promise;
      await route.continue();
    });
    await page.goto(`${receiving.daemon.url}/flows`);
    await ready(page);
    await page.getByRole("link", { name: "Load older connections" }).click();
    await vi.waitFor(() => expect(held).toBe(1), SOON);
    await send(record(1, { virtualTraffic: [to("100.127.1.2:443", 1_000)] }));
    await page.getByText(`50 of ${CONNECTIONS + 3} matching connections`).waitFor();
    released.resolve();
    await vi.waitFor(async () => expect(await rows(page)).toBe(CONNECTIONS + 3), SOON);
  });

  it("shows new traffic by itself, and says that it is old while the server does not answer", async () => {
    const { page } = await openPage();
    await page.goto(`${receiving.daemon.url}/flows?service=postgresql`);
    await ready(page);
    expect(await rows(page)).toBe(0);
    await send(record(1, { virtualTraffic: [to("100.127.1.2:5432", 77)] }));
    await vi.waitFor(async () => expect(await rows(page)).toBe(1), SOON);
    await page.route("**/api/flows.json*", (route) => route.abort());
    await page.getByText("The server does not answer.").waitFor();
    expect(await rows(page)).toBe(1);
  });
});

it.each([
  ["flows.enabled: false", { STEWARD_FLOWS__ENABLED: "false" }],
  ["admin.landing_page: false", { STEWARD_ADMIN__LANDING_PAGE: "false" }],
  ["admin.enabled: false", { STEWARD_ADMIN__ENABLED: "false" }],
])("is gone with %s, and no page leads there", async (_name, env) => {
  const daemon = await startDaemon({
    args: ["-demo"],
    env: {
      STEWARD_GATEWAY__LISTEN: "127.0.0.1:0",
      STEWARD_STATE__DIRECTORY: temporaryFolder(),
      ...env,
    },
  });
  onTestFinished(async () => void (await daemon.stop()));
  expect((await rest(daemon, "GET", "/flows")).status).toBe(404);
  expect((await rest(daemon, "GET", "/duplicates")).text).not.toContain('href="/flows"');
});
