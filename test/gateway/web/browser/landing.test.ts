import { describe, expect, it } from "vitest";
import type { DayFacts } from "../../../../gateway/web/landing/day.ts";
import type { StatusJson } from "../../../../src/gen/status-json.ts";
import { fullStatus, healthyStatus, largeStatus, offStatus } from "../fixtures/status.ts";
import { startLanding } from "../start-landing.ts";
import { chromiumPath, openPage, ready, useChromium } from "./chromium.ts";
import { pageFaults } from "./faults.ts";

useChromium();

const PANELS = [
  "overview",
  "collectors",
  "api",
  "capabilities",
  "cardinality",
  "inventory",
  "config",
];
const SIZES = { phone: { width: 390, height: 844 }, desk: { width: 1440, height: 900 } };

const HOUR = 3_600_000;
const at = (hoursAgo: number): string => new Date(Date.now() - hoursAgo * HOUR).toISOString();
const DAY: DayFacts = {
  devices: { points: [20, 22, 22], yesterday: 20 },
  online: { points: [18, 21, 19], yesterday: 18 },
  documents: { points: [100, 120], yesterday: 100 },
  groups: { points: [3, 3], yesterday: 4 },
  leases: { points: [1, 5, 2], yesterday: undefined },
  came: { count: 2, names: ["oak", "elm"] },
  left: { count: 0, names: [] },
  events: [{ time: at(1), source: "audit", severity: "warn", summary: "Policy changed", seq: 1 }],
};
const REPORT = {
  schema_version: 1,
  generated_at: at(0),
  start: at(24),
  retention_days: 30,
  networks: [
    {
      name: "home",
      observed: [{ from: at(24), to: at(0) }],
      devices: [
        { id: "n1", name: "fig", state: "online", changes: [{ at: at(2), state: "online" }] },
      ],
      truncated: false,
      hours: [],
      days: [],
    },
  ],
  services: { hours: [], days: [] },
};

describe.skipIf(chromiumPath === undefined)("the pages over the status in a real browser", () => {
  for (const [size, viewport] of Object.entries(SIZES)) {
    it(`breaks no rule of axe and never scrolls sideways, ${size}`, async () => {
      let status: StatusJson = fullStatus();
      const url = await startLanding({ status: () => status, demo: true });
      const watched = await openPage({ viewport, bypassCSP: true });
      const { page } = watched;
      for (const make of [fullStatus, offStatus]) {
        status = make();
        await page.goto(`${url}/monitor`);
        await ready(page);
        for (const panel of PANELS) {
          await page.locator(`#tab-${panel}`).click();
          await page.locator(`#${panel}:not([hidden])`).waitFor();
          expect([panel, await pageFaults(watched)]).toEqual([panel, []]);
        }
      }
    });
  }

  it("says on / what waits for the reader and what changed, within the rules of axe, and follows both", async () => {
    const status = (): StatusJson => ({ ...fullStatus(), refresh_ms: 100 });
    const url = await startLanding({ status, day: () => DAY });
    for (const viewport of Object.values(SIZES)) {
      const watched = await openPage({ viewport, bypassCSP: true });
      // Asked for after a second, and not served here: the console would show the 404.
      await watched.page.route("**/api/presence.json", (route) => route.fulfill({ json: REPORT }));
      await watched.page.route("**/api/events.json?limit=5", (route) =>
        route.fulfill({ json: { rows: [] } }),
      );
      await watched.page.goto(url);
      await ready(watched.page);
      expect(await pageFaults(watched)).toEqual([]);
    }
    const { page } = await openPage();
    const seen = Promise.withResolvers<void>();
    await page.route("**/api/presence.json", async (route) => {
      await seen.promise;
      await route.fulfill({ status: 200, json: REPORT });
    });
    await page.route("**/api/events.json?limit=5", (route) =>
      route.fulfill({ status: 200, json: { rows: [] } }),
    );
    await page.goto(url);
    await page.getByText("2 devices joined: oak, elm.").waitFor();
    seen.resolve();
    await ready(page);
    await page.getByText("1 device joined: fig.").waitFor();
    expect(await page.getByText("Nothing waits for you.").count()).toBe(0);
    await page.getByRole("link", { name: /^1 group of near-duplicates|groups of near-/ }).count();
    expect(await page.locator('a[href="/monitor#collectors"]').count()).toBeGreaterThan(0);
  });

  it("asks nobody but its own origin, and its policy is never broken", async () => {
    const url = await startLanding({ status: fullStatus });
    const { page, complaints, requests } = await openPage();
    for (const panel of PANELS) {
      await page.goto(`${url}/monitor#${panel}`);
      await ready(page);
    }
    await page.getByRole("button", { name: "Refresh now" }).click();
    expect(complaints).toEqual([]);
    expect(
      requests.filter(
        (each) => !each.startsWith(`${url}/`) && !each.startsWith("data:image/svg+xml,"),
      ),
    ).toEqual([]);
  });

  it("shows text from elsewhere as text, whatever it holds", async () => {
    const evil = '"><img src=x onerror="document.title=1"><script>document.title=2</script>';
    const poisoned = JSON.parse(JSON.stringify(fullStatus()), (key, value: unknown) =>
      typeof value === "string" &&
      !/_at$|^health$|state|^level$|^high_water|^not_|^last_(probe|seen|discovery|purge)$|time$/.test(
        key,
      )
        ? `${value}${evil}`
        : value,
    ) as StatusJson;
    const url = await startLanding({ status: () => poisoned });
    for (const javaScriptEnabled of [true, false]) {
      const { page, complaints } = await openPage({ javaScriptEnabled });
      for (const panel of PANELS) {
        await page.goto(`${url}/monitor#${panel}`);
        if (javaScriptEnabled) await ready(page);
        expect([
          await page.locator("img, #app script, #app [onerror]").count(),
          await page.title(),
        ]).toEqual([0, "Monitor – Steward"]);
      }
      expect(complaints).toEqual([]);
    }
  });

  it("is read whole without scripts: every panel, one below the other", async () => {
    const { page } = await openPage({ javaScriptEnabled: false });
    await page.goto(`${await startLanding({ status: fullStatus })}/monitor`);
    for (const panel of PANELS) expect(await page.locator(`#${panel}`).isVisible()).toBe(true);
    expect(await page.getByRole("searchbox").count()).toBe(0);
    await page.locator('nav a[href="#config"]').click();
    expect(new URL(page.url()).hash).toBe("#config");
    await page.getByRole("link", { name: "lab", exact: true }).click();
    expect(new URL(page.url()).search).toBe("?network=lab");
  });

  it("has tabs that the keyboard reaches, goes through and opens", async () => {
    const { page } = await openPage();
    await page.goto(`${await startLanding({ status: healthyStatus })}/monitor`);
    await ready(page);
    for (
      let presses = 0;
      presses < 30 && (await page.locator("[role=tab]:focus").count()) === 0;
      presses += 1
    )
      await page.keyboard.press("Tab");
    const selected = (): Promise<string | null> =>
      page.locator('[role=tab][aria-selected="true"]:focus').textContent();
    expect(await selected()).toBe("Overview");
    for (const [key, tab] of [
      ["ArrowRight", "Collectors"],
      ["End", "Config"],
      ["ArrowRight", "Overview"],
      ["ArrowLeft", "Config"],
      ["Home", "Overview"],
    ] as const) {
      await page.keyboard.press(key);
      expect(await selected()).toContain(tab);
      expect(await page.getByRole("tabpanel").getAttribute("aria-labelledby")).toBe(
        await page.locator("[role=tab]:focus").getAttribute("id"),
      );
    }
    await page.keyboard.press("Tab");
    expect(await page.locator("[role=tabpanel]:focus").count()).toBe(1);
  });

  it("keeps tab, filter, order and network in the address, and the focus where it was", async () => {
    const url = await startLanding({
      status: () => ({ ...fullStatus(), devices: largeStatus(40).devices }),
    });
    const { page } = await openPage();
    await page.goto(`${url}/monitor#inventory`);
    await ready(page);
    const filter = page.getByRole("searchbox", { name: "Filter devices" });
    await filter.fill("atlas");
    expect(await page.getByRole("table", { name: "devices" }).locator("tbody tr").count()).toBe(7);
    expect(new URL(page.url()).searchParams.get("devices.q")).toBe("atlas");
    await page.getByRole("button", { name: "Refresh now" }).click();
    await filter.press("End");
    await filter.pressSequentially("-12");
    expect(await page.getByRole("table", { name: "devices" }).locator("tbody tr").count()).toBe(1);
    await filter.fill("");
    const head = page
      .getByRole("table", { name: "devices" })
      .getByRole("button", { name: "System" });
    await head.click();
    await head.click();
    expect(
      await page.getByRole("columnheader", { name: "System" }).first().getAttribute("aria-sort"),
    ).toBe("descending");
    await page.reload();
    await ready(page);
    expect(
      await page.getByRole("columnheader", { name: "System" }).first().getAttribute("aria-sort"),
    ).toBe("descending");
    await page.getByRole("tab", { name: "API" }).click();
    await page.goBack();
    expect(await page.locator('[role=tab][aria-selected="true"]').textContent()).toContain(
      "Inventory",
    );
  });

  it("follows the status, says so when it cannot, and goes on when it can again", async () => {
    let [status, broken]: [StatusJson, boolean] = [{ ...healthyStatus(), refresh_ms: 100 }, false];
    const url = await startLanding({ status: () => status });
    const { page } = await openPage();
    await page.route("**/api/status.json", (route) => (broken ? route.abort() : route.continue()));
    await page.goto(url);
    await ready(page);
    status = { ...fullStatus(), refresh_ms: 100 };
    await page.getByText("Degraded").waitFor();
    broken = true;
    await page.getByText("The server does not answer.").waitFor();
    [broken, status] = [false, { ...healthyStatus(), refresh_ms: 100 }];
    await page.getByText("Healthy").waitFor();
    await page.getByText("The server does not answer.").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByText(/, paused/).waitFor();
    expect(await page.getByRole("button", { name: "Resume" }).count()).toBe(1);
  });

  it("shows nothing as good once the server no longer answers: headline, cards and tables say what was so, and ages go on", async () => {
    let broken = false;
    const url = await startLanding({ status: () => ({ ...healthyStatus(), refresh_ms: 100 }) });
    const { page } = await openPage();
    await page.route("**/api/status.json", (route) => (broken ? route.abort() : route.continue()));
    await page.goto(url);
    await ready(page);
    const good = (): Promise<unknown> =>
      page.evaluate(
        "(() => { const probe = document.createElement('i'); probe.style.color = 'var(--good)'; document.body.append(probe); const green = getComputedStyle(probe).color; probe.remove(); return [...document.querySelectorAll('#app *')].filter((each) => getComputedStyle(each).color === green || getComputedStyle(each).fill === green).length; })()",
      );
    await page.getByText("Healthy", { exact: true }).waitFor();
    expect(await good()).toBeGreaterThan(3);
    broken = true;
    await page.getByText("Not known", { exact: true }).waitFor();
    for (const text of [
      "was collecting",
      "was ready",
      "was open",
      "was healthy; home.example, tailscale",
    ])
      expect(await page.getByText(text, { exact: true }).count()).toBe(1);
    expect(await good()).toBe(0);
    broken = false;
    await page.getByText("Healthy", { exact: true }).waitFor();
    expect(await good()).toBeGreaterThan(3);
  });

  it("has no figure of what is off, unread or not counted, and no state of a store that is off", async () => {
    const { page } = await openPage();
    const unread = { age: "", age_seconds: 0, devices: 0 };
    const off = offStatus();
    const network = {
      name: "home",
      auth_method: "apikey",
      failing: 1,
      api: off.api,
      cardinality: off.cardinality,
      collectors: [],
      device_cache: unread,
      devices: [],
    };
    const url = await startLanding({
      status: () => ({
        ...off,
        networks: [network],
        cardinality: { ...off.cardinality, total_series: [9] },
        flow_store: {
          ...off.flow_store,
          backend: { healthy: false, kind: "", persistent: false },
        },
      }),
    });
    await page.goto(url);
    await ready(page);
    expect(await page.locator(".cards").innerText()).toMatch(/Devices\s+–[^]*Series\s+–/);
    await page.goto(`${url}/monitor`);
    await ready(page);
    const text = async (panel: string): Promise<string> => {
      await page.locator(`#tab-${panel}`).click();
      return (await page.locator(`#${panel}`).innerText()).replaceAll(/\s+/g, " ");
    };
    expect(await text("overview")).toMatch(
      /Devices – not read yet Last export – nothing is pushed .*Active series – not counted yet .*home API key 1 of 0 collectors – not read yet 0 0 answered 429 –/,
    );
    expect(await text("cardinality")).toMatch(
      /Active series – not counted yet .*Series are counted once/,
    );
    const inventory = await text("inventory");
    for (const part of [
      "Flows Store off",
      "Events Store off",
      "Reverse DNS Cache off",
      "GeoIP Lookup off",
      "No devices are known yet.",
    ])
      expect(inventory).toContain(part);
    expect(inventory).not.toMatch(/Backend|unhealthy|Minutes stored|Hit rate/);
    expect(await text("config")).not.toMatch(/never, 0 ms|Scrapes|Uploads/);
  });

  it("shows an answer 404 without alarm, and one refused in red", async () => {
    const { page } = await openPage();
    const full = fullStatus();
    const endpoint = (name: string, code: number) => ({
      ...full.api.endpoints[0],
      endpoint: name,
      requests: 1,
      errors: 1,
      retries: 0,
      rate_limited: 0,
      last_status: code,
    });
    await page.goto(
      `${await startLanding({ status: () => ({ ...full, api: { ...full.api, endpoints: [endpoint("gone", 404), endpoint("refused", 403)] } }) })}/monitor#api`,
    );
    await ready(page);
    const state = (name: string): Promise<string | null> =>
      page.getByRole("row", { name }).locator(".state").first().getAttribute("class");
    expect([await state("gone"), await state("refused")]).toEqual(["state unknown", "state bad"]);
  });

  it("writes each length of time in one way", async () => {
    const { page } = await openPage();
    await page.goto(`${await startLanding({ status: fullStatus })}/monitor`);
    await ready(page);
    for (const panel of ["overview", "collectors", "api", "inventory"]) {
      await page.locator(`#tab-${panel}`).click();
      expect(
        (await page.locator(`#${panel}`).innerText()).match(
          /(?<![:\w])\d+(?:d|h|m|s)(?:\d+(?:h|m|s))*\b/g,
        ),
      ).toBeNull();
    }
  });

  it("ends the head of a column of figures where the figures end", async () => {
    const { page } = await openPage();
    await page.goto(`${await startLanding({ status: fullStatus })}/monitor#collectors`);
    await ready(page);
    // Right edges of the text of each head and of the first line of its first cell, in whole
    // pixels.
    const edges = (await page.evaluate(
      "(() => { const right = (node) => { const range = document.createRange(); range.selectNodeContents(node); const walker = document.createTreeWalker(node, NodeFilter.SHOW_TEXT); let last = 0; for (let text = walker.nextNode(); text; text = walker.nextNode()) { if (text.data.trim() === '') continue; range.selectNodeContents(text); last = Math.max(last, range.getBoundingClientRect().right); } return Math.round(last); }; const table = document.querySelector('#collectors-table table'); return [...table.querySelectorAll('th.figure')].map((head) => [right(head), right(table.querySelector('tbody tr').cells[head.cellIndex])]); })()",
    )) as readonly (readonly [number, number])[];
    expect(edges.length).toBe(3);
    for (const [head, cell] of edges) expect(Math.abs(head - cell)).toBeLessThanOrEqual(1);
  });

  it("remembers the colours that were chosen, from the first paint on", async () => {
    const { page } = await openPage({ colorScheme: "light" });
    await page.goto(await startLanding({ status: healthyStatus }));
    await ready(page);
    const background = (): Promise<unknown> =>
      page.evaluate("getComputedStyle(document.documentElement).backgroundColor");
    const light = await background();
    await page.getByRole("button", { name: "Colours: System" }).click();
    await page.getByRole("button", { name: "Colours: Light" }).click();
    const dark = await background();
    expect(dark).not.toBe(light);
    await page.reload();
    expect(await background()).toBe(dark);
  });

  it("switches the colours on a page whose monitor is off, too", async () => {
    const { page, complaints } = await openPage();
    await page.goto(await startLanding({}));
    await page.getByRole("button", { name: "Colours: System" }).click();
    expect(await page.locator("html").getAttribute("data-theme")).toBe("light");
    expect(complaints).toEqual([]);
  });

  it("asks before it purges, with the way out in focus, and tells the outcome", async () => {
    const { page } = await openPage();
    let posts = 0;
    await page.route("**/api/rdns/purge", (route) => {
      posts += 1;
      return route.fulfill({ status: 200, body: '{"purged":812}' });
    });
    await page.goto(`${await startLanding({ status: fullStatus })}/monitor#inventory`);
    await ready(page);
    const open = page.getByRole("button", { name: "Purge the names…" });
    await open.click();
    await page.keyboard.press("Enter");
    expect([posts, await page.getByRole("dialog").count()]).toEqual([0, 0]);
    await open.click();
    await page.getByRole("dialog").getByRole("button", { name: "Purge" }).click();
    await page.getByText("The names were purged.").waitFor();
    expect(posts).toBe(1);
  });

  it("says why nothing was purged, in the server's words", async () => {
    const { page } = await openPage();
    await page.route("**/api/rdns/purge", (route) =>
      route.fulfill({ status: 403, contentType: "text/plain", body: "a page of another site\n" }),
    );
    await page.goto(`${await startLanding({ status: fullStatus })}/monitor#inventory`);
    await ready(page);
    await page.getByRole("button", { name: "Purge the names…" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Purge" }).click();
    await page.getByText("The names were not purged: a page of another site.").waitFor();
  });
});
