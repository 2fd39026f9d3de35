/** The pages and the status document of a running daemon with the limits as shipped, over HTTP. */
import { get } from "node:http";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { applyPatch } from "../../gateway/web/browser/patch.ts";
import { chromiumPath, openPage, ready, useChromium } from "../gateway/web/browser/chromium.ts";
import {
  listenAddress,
  removeTemporaryFolders,
  rest,
  startDaemon,
  temporaryFolder,
  type Daemon,
} from "./daemon.ts";

useChromium();

const BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
let daemon: Daemon;

beforeAll(async () => {
  daemon = await startDaemon({
    args: ["-demo"],
    env: { STEWARD_GATEWAY__LISTEN: "127.0.0.1:0", STEWARD_STATE__DIRECTORY: temporaryFolder() },
  });
  await vi.waitFor(
    async () =>
      expect((await rest(daemon, "GET", "/api/status.json")).json.devices).not.toEqual([]),
    { timeout: 60_000, interval: 200 },
  );
});

afterAll(async () => {
  await daemon.stop();
  removeTemporaryFolders();
});

interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/** As it comes over the wire: nothing is unpacked. */
function raw(path: string, headers: Readonly<Record<string, string>> = {}): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    get(`${daemon.url}${path}`, { headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response
        .on("data", (chunk: Buffer) => chunks.push(chunk))
        .once("error", reject)
        .once("end", () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: Buffer.concat(chunks),
          }),
        );
    }).once("error", reject);
  });
}

describe("a path that nothing is at", () => {
  it("is a page with status 404 for a browser, in the frame of all pages", async () => {
    const answer = await rest(daemon, "GET", "/devicez?x=1", undefined, { accept: BROWSER });
    expect([answer.status, answer.headers.get("content-type")]).toEqual([
      404,
      "text/html; charset=utf-8",
    ]);
    for (const text of [
      "Page not found",
      "<code>/devicez</code>",
      "<h1>Steward</h1>",
      "This is a demo.",
      'href="/docs"',
      "data-theme-switch",
    ])
      expect(answer.text).toContain(text);
    expect(
      (
        await fetch(`${daemon.url}/devicez`, { method: "HEAD", headers: { accept: BROWSER } })
      ).headers.get("content-type"),
    ).toBe("text/html; charset=utf-8");
  });

  it("shows the path as text, and says where what is looked for is", async () => {
    expect(
      (await rest(daemon, "GET", "/%3Cscript%3E'\"&", undefined, { accept: BROWSER })).text,
    ).toContain("<code>/%3Cscript%3E&#39;%22&amp;</code>");
    expect((await rest(daemon, "GET", "/metrics", undefined, { accept: BROWSER })).text).toContain(
      "scrape.listen",
    );
  });

  it("is an error of the API for programs, and below the APIs for everybody", async () => {
    const json = /^application\/json/;
    const text = /^text\/plain/;
    for (const [path, accept, type, status] of [
      ["/devicez", "*/*", text, 404],
      ["/devicez", "application/json", text, 404],
      ["/devicez", "text/html;q=0, */*", text, 404],
      ["/metrics", "text/plain", text, 404],
      ["/api/nothing", BROWSER, text, 404],
      ["/api/v1/nothing", BROWSER, json, 404],
      ["/v1/nothing", BROWSER, json, 403],
      ["/v1", BROWSER, json, 404],
      ["/api", BROWSER, text, 404],
    ] as const) {
      const answer = await rest(daemon, "GET", path, undefined, { accept });
      expect({
        path,
        accept,
        type: type.test(answer.headers.get("content-type") ?? ""),
        status: answer.status,
      }).toEqual({ path, accept, type: true, status });
    }
    expect(
      (
        await rest(daemon, "GET", "/steward.monitor.v1.Nothing/Get", undefined, { accept: BROWSER })
      ).headers.get("content-type") ?? "",
    ).not.toContain("html");
    expect(
      (await rest(daemon, "POST", "/devicez", {}, { accept: BROWSER })).headers.get("content-type"),
    ).toContain("text/plain");
  });
});

describe("the bar of pages", () => {
  const barAt = async (url: string, path: string): Promise<string[]> => {
    const { text } = await rest({ url }, "GET", path, undefined, { accept: BROWSER });
    const bar = /<nav aria-label="Pages">(.*?)<\/nav>/s.exec(text)?.[1] ?? "";
    return [...bar.matchAll(/href="([^"]+)"[^>]*>([^<]+)</g)].map(
      ([, to, name]) => `${to} ${name}`,
    );
  };

  it("is the same on every page: the reference and the page for a wrong address have all links", async () => {
    const bar = await barAt(daemon.url, "/");
    expect(bar).toEqual([
      "/ Status",
      "/monitor Monitor",
      "/devices Devices",
      "/flows Flows",
      "/events Events",
      "/duplicates Duplicates",
      "/documents Documents",
      "/suggestions Suggestions",
      "/tokens Tokens",
      "/docs API",
    ]);
    for (const path of ["/docs", "/nowhere", "/monitor", "/duplicates", "/tokens"])
      expect([path, await barAt(daemon.url, path)]).toEqual([path, bar]);
  });

  it("is the same on every page of a listener where the monitor has its own", async () => {
    const split = await startDaemon({
      args: ["-demo"],
      env: {
        STEWARD_GATEWAY__LISTEN: "127.0.0.1:0",
        STEWARD_ADMIN__LISTEN: "127.0.0.1:0",
        STEWARD_STATE__DIRECTORY: temporaryFolder(),
      },
    });
    onTestFinished(async () => void (await split.stop()));
    for (const path of ["/", "/duplicates", "/suggestions", "/docs", "/nowhere"])
      expect([path, await barAt(split.url, path)]).toEqual([
        path,
        [
          "/ Overview",
          "/duplicates Duplicates",
          "/documents Documents",
          "/suggestions Suggestions",
          "/docs API",
        ],
      ]);
    const overview = (await rest(split, "GET", "/")).text;
    expect(overview).toContain('<a href="/suggestions"><code>');
    const address = listenAddress(split, "admin");
    for (const path of ["/", "/devices", "/tokens", "/nowhere"])
      expect([path, await barAt(`http://${address}`, path)]).toEqual([
        path,
        ["/ Monitor", "/devices Devices", "/flows Flows", "/events Events", "/tokens Tokens"],
      ]);
  });

  it("leaves out a start page that is switched off", async () => {
    const closed = await startDaemon({
      env: {
        STEWARD_GATEWAY__LISTEN: "127.0.0.1:0",
        STEWARD_STATE__DIRECTORY: temporaryFolder(),
        STEWARD_ADMIN__LANDING_PAGE: "false",
      },
    });
    onTestFinished(async () => void (await closed.stop()));
    for (const path of ["/duplicates", "/docs"])
      expect(await barAt(closed.url, path)).toEqual([
        "/duplicates Duplicates",
        "/documents Documents",
        "/docs API",
      ]);
  });
});

describe("what a browser fetches", () => {
  it("comes packed for who takes it so, with a tag, and is asked for each time", async () => {
    for (const path of ["/", "/docs", "/api/status.json"]) {
      const [plain, packed] = [
        await raw(path),
        await raw(path, { "accept-encoding": "gzip, deflate" }),
      ];
      expect([path, plain.headers["content-encoding"], packed.headers["content-encoding"]]).toEqual(
        [path, undefined, "gzip"],
      );
      expect(packed.body.length).toBeLessThan(plain.body.length / 3);
      expect(gunzipSync(packed.body).length).toBeGreaterThan(plain.body.length / 2);
      for (const { headers } of [plain, packed]) {
        expect([headers["cache-control"], headers["vary"]?.includes("accept-encoding")]).toEqual([
          "private, no-cache",
          true,
        ]);
        expect(headers["etag"]).toMatch(/^W\/"[^"]+"$/);
      }
    }
  });

  it("is 304 without a body for who has it already", async () => {
    for (const path of ["/", "/docs", "/api/status.json"]) {
      // The status is another one every moment, and the page with it: a question that comes in the
      // same moment shows it.
      await expect
        .poll(
          async () => {
            const { headers } = await raw(path);
            const { status, body } = await raw(path, { "if-none-match": String(headers["etag"]) });
            return [status, body.length];
          },
          { timeout: 60_000 },
        )
        .toEqual([304, 0]);
    }
  });

  it("has the reader's address in the examples of the reference, whatever host was asked", async () => {
    expect((await rest(daemon, "GET", "/docs")).text).toContain(
      `<span data-origin="true">${daemon.url}</span>/api/v1/documents`,
    );
    const odd = await raw("/docs", { host: "$(id).localhost" });
    expect([odd.status, odd.headers["content-type"]]).toEqual([403, "text/plain; charset=utf-8"]);
  });
});

describe("the status for a page that stays open", () => {
  it("is what changed since the document it has, which gives the newest one", async () => {
    let [tag, status] = ["", {} as Record<string, unknown>];
    let patches = 0;
    for (let round = 0; round < 5; round += 1) {
      const answer = await raw("/api/status.json", {
        "a-im": "json-patch",
        "accept-encoding": "gzip",
        ...(tag === "" ? {} : { "if-none-match": tag }),
      });
      if (answer.status === 304) continue;
      const body = JSON.parse(
        (answer.headers["content-encoding"] === "gzip"
          ? gunzipSync(answer.body)
          : answer.body
        ).toString(),
      ) as never;
      if (answer.status === 226) {
        expect([
          answer.headers["im"],
          answer.headers["delta-base"],
          answer.headers["cache-control"],
        ]).toEqual(["json-patch", tag, "no-store"]);
        patches += 1;
      }
      status = answer.status === 226 ? applyPatch(status, body) : body;
      tag = String(answer.headers["etag"]);
      // The newest document in full, if it is still the same edition.
      const whole = await raw("/api/status.json");
      if (whole.headers["etag"] === tag) expect(status).toEqual(JSON.parse(whole.body.toString()));
      const seen = status["generated_at"];
      await expect
        .poll(async () => (await rest(daemon, "GET", "/api/status.json")).json.generated_at, {
          timeout: 60_000,
        })
        .not.toBe(seen);
    }
    expect(patches).toBeGreaterThan(1);
  });

  it("has what a person asks of a device, in fields that schema version 1 may have", async () => {
    const { devices, schema_version } = (await rest(daemon, "GET", "/api/status.json")).json;
    expect(schema_version).toBe(1);
    for (const device of devices)
      expect([typeof device.online, typeof device.user]).toEqual(["boolean", "string"]);
    expect(devices.some((each: any) => /^1\.\d+/.test(each.client_version))).toBe(true);
    expect(
      devices.some(
        (each: any) => Date.parse(each.last_seen) > 0 && Date.parse(each.key_expires_at) > 0,
      ),
    ).toBe(true);
    expect(devices.some((each: any) => each.enabled_routes?.length > 0)).toBe(true);
    // The control plane says when a device was seen only once it is gone.
    const unseen = devices.filter((each: any) => each.online && each.last_seen === undefined);
    expect(unseen).toEqual([]);
  });
});

describe.skipIf(chromiumPath === undefined)("the daemon's pages in a real browser", () => {
  it("fetch little while they stay open: a minute's refreshes of a page of 25 devices", async () => {
    const { page, complaints } = await openPage();
    const session = await page.context().newCDPSession(page);
    await session.send("Network.enable");
    const isRead = new Map<string, string>();
    const answers: number[] = [];
    session.on(
      "Network.requestWillBeSent",
      ({ requestId, request }) => void isRead.set(requestId, request.url),
    );
    session.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
      if (isRead.get(requestId)?.endsWith("/api/status.json") === true)
        answers.push(encodedDataLength);
    });
    await page.goto(daemon.url);
    await ready(page);
    const { json, text } = await rest(daemon, "GET", "/api/status.json");
    let shown = json.generated_at as string;
    const newer = async (): Promise<string> =>
      (await rest(daemon, "GET", "/api/status.json")).json.generated_at;
    const refreshes = 60_000 / json.refresh_ms;
    await expect.poll(() => answers.length).toBeGreaterThan(0);
    // By hand rather than a minute long: each asks as the page's own timer does, and finds a
    // newer document.
    for (let round = 1; round <= refreshes; round += 1) {
      await expect.poll(newer, { timeout: 60_000 }).not.toBe(shown);
      shown = await newer();
      await page.getByRole("button", { name: "Refresh now" }).click();
      await expect.poll(() => answers.length, { timeout: 60_000 }).toBeGreaterThan(round);
    }
    const [first = 0, ...later] = answers;
    const bytes = later.slice(0, refreshes).reduce((sum, each) => sum + each, 0);
    process.stderr.write(
      `an open page of ${json.devices.length} devices: ${first} bytes at first, then ${bytes} bytes for ${refreshes} refreshes (a minute); ${refreshes} times the whole document are ${refreshes * text.length}\n`,
    );
    expect(bytes).toBeLessThan((refreshes * text.length) / 50);
    expect(complaints).toEqual([]);
  });

  it("are reached from one another: a card opens the devices, the bar the reference, a wrong address the page for that", async () => {
    const { page, complaints } = await openPage({ viewport: { width: 390, height: 844 } });
    await page.goto(daemon.url);
    await ready(page);
    await page
      .locator(".card")
      .first()
      .click({ position: { x: 30, y: 100 } });
    await page.getByRole("table", { name: "devices" }).waitFor();
    expect(new URL(page.url()).pathname).toBe("/devices");
    await page
      .getByRole("navigation", { name: "Pages" })
      .getByRole("link", { name: "API" })
      .click();
    await page.getByRole("searchbox", { name: "Search the reference" }).waitFor();
    expect(complaints).toEqual([]);
    expect((await page.goto(`${daemon.url}/nowhere`))?.status()).toBe(404);
    await page.getByRole("button", { name: "Colours: System" }).click();
    await page.getByRole("link", { name: "start page" }).click();
    await page.getByRole("heading", { name: "Archive" }).waitFor();
  });

  it("search the reference by keyboard, keep the search in the address, and show this page's address", async () => {
    const { page, complaints } = await openPage();
    await page.goto(`${daemon.url}/docs`);
    await ready(page);
    const all = await page.locator("section.operation:visible").count();
    await page.getByRole("searchbox", { name: "Search the reference" }).focus();
    await page.keyboard.type("sync status");
    const found = await page.locator("section.operation:visible h3").allTextContents();
    expect([
      found.length > 0,
      found.length < all / 2,
      found.some((each) => each.includes("/api/v1/sync/status")),
    ]).toEqual([true, true, true]);
    expect(await page.locator("[data-search-count]").textContent()).toBe(
      `${found.length} of ${all} operations`,
    );
    await page.reload();
    await ready(page);
    expect(await page.locator("section.operation:visible").count()).toBe(found.length);
    await page.getByRole("searchbox").fill("nothing that is there");
    await page.getByText("No operation matches.").waitFor();
    await page.evaluate("location.hash = '#listJobs'");
    await page.locator("#listJobs:visible").waitFor();
    expect(await page.locator("#listJobs pre").textContent()).toBe(
      `curl -s "${daemon.url}/api/v1/jobs"`,
    );
    expect(complaints).toEqual([]);
  });
});
