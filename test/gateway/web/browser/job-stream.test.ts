import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { activity, job } from "../review/fixtures.ts";
import { chromiumPath, openPage, ready, useChromium } from "./chromium.ts";
import {
  data,
  jobEvent,
  notFound,
  startDocumentPages,
  stubApi,
  type Answers,
  type Reply,
} from "./document-pages.ts";

useChromium();

const ID = "j1";
const STREAM = `GET /jobs/${ID}/progress`;
const JOB = `GET /jobs/${ID}`;
/** Longer than any wait between two attempts. */
const MAX_WAIT_MS = 60_000;

const { sync, analysis } = activity();
const batch = { ...job("batch_operation", "running", { id: ID }), operation: "ai_apply" } as const;

/** Each page that follows a job: what names the job while it runs, and what it loads again after. */
const PAGES: Readonly<Record<string, { readonly running: Answers; readonly reloads: string }>> = {
  "/duplicates": {
    running: { "GET /sync/status": () => data({ ...sync, isSyncing: true, currentJobId: ID }) },
    reloads: "GET /duplicates",
  },
  "/suggestions": {
    running: { "GET /jobs": () => data([batch]) },
    reloads: "GET /ai/results",
  },
  "/settings/dedup": {
    running: {
      "GET /analysis/status": () => data({ ...analysis, isAnalyzing: true, currentJobId: ID }),
    },
    reloads: "GET /archives",
  },
};

/** What a test lets the server answer; it may be replaced at any time. */
interface Server {
  stream: () => Reply;
  job: () => Reply;
  /** Whether the status of the page names the job. */
  isNamed: boolean;
}

const running = (message: string) => (): Reply =>
  jobEvent("progress", { progress: 0.5, message, status: "running" });
const refused = (status: number) => (): Reply => ({ status, body: "<h1>proxy</h1>" });
const jobData = (status: "running" | "failed") => (): Reply =>
  data(job("analysis", status, { id: ID }));

/** A page that follows the job. Its clock stands still. */
interface Followed {
  readonly page: Page;
  readonly server: Server;
  /** How many requests came. */
  readonly count: (line: string) => number;
  /** Lets the longest wait pass again and again until `done`; resolves to how often. */
  readonly pass: (done: () => boolean | Promise<boolean>) => Promise<number>;
  /** How often the page was loaded, without the counts that `/duplicates` reads. */
  readonly reloads: () => number;
}

async function follow(path: string, server: Server): Promise<Followed> {
  const { page } = await openPage();
  await page.clock.install({ time: 0 });
  const { running: named, reloads } = PAGES[path] ?? { running: {}, reloads: "" };
  const paused = Promise.withResolvers<void>();
  const requests = await stubApi(page, {
    ...Object.fromEntries(
      Object.entries(named).map(([line, answer]) => [
        line,
        async (request) => (server.isNamed ? await answer(request) : data(RESTING[line] ?? [])),
      ]),
    ),
    // Pausing moves the clock: it would end a request for the job that is under way.
    [STREAM]: async () => {
      await paused.promise;
      return server.stream();
    },
    [JOB]: () => server.job(),
  } satisfies Answers);
  await page.goto(`${await startDocumentPages()}${path}`);
  await ready(page);
  // From here on time passes only by the test.
  await page.clock.pauseAt(MAX_WAIT_MS);
  paused.resolve();
  const count = (line: string): number => requests.filter((each) => each.line === line).length;
  return {
    page,
    server,
    count,
    reloads: () =>
      requests.filter(({ line, query }) => line === reloads && query.get("limit") !== "1").length,
    async pass(done) {
      let passed = 0;
      await expect
        .poll(async () => {
          if (await done()) return true;
          passed += 1;
          await page.clock.fastForward(MAX_WAIT_MS);
          return await done();
        })
        .toBe(true);
      return passed;
    },
  };
}

const RESTING: Readonly<Record<string, unknown>> = {
  "GET /sync/status": sync,
  "GET /analysis/status": analysis,
};

const banner = (page: Page) => page.locator(".banner.job");

describe.skipIf(chromiumPath === undefined).each(Object.keys(PAGES))("a job on %s", (path) => {
  it("is followed on after a restart behind a proxy, and its end loads the page once", async () => {
    const { page, server, count, pass, reloads } = await follow(path, {
      stream: running("reading"),
      job: jobData("running"),
      isNamed: true,
    });
    await page.getByText("reading").waitFor();
    Object.assign(server, { stream: refused(502), job: refused(502) });
    await expect.poll(() => count(JOB)).toBe(1);
    await page.getByText("no news at the moment").waitFor();
    // Some proxies answer so while the service behind them restarts.
    server.job = refused(404);
    await pass(() => count(JOB) > 1);
    server.stream = running("writing");
    await pass(() => page.getByText("writing").isVisible());
    const loaded = reloads();
    server.stream = () =>
      jobEvent("complete", { progress: 1, message: "", status: "failed", errorMessage: "no disk" });
    server.isNamed = false;
    await banner(page).waitFor({ state: "detached" });
    await page.getByText("no disk").waitFor();
    await expect.poll(reloads).toBe(loaded + 1);
  });

  it("whose stream is refused each time is asked for again at intervals, until the job itself has ended", async () => {
    const { page, server, count, pass, reloads } = await follow(path, {
      stream: refused(429),
      job: jobData("running"),
      isNamed: true,
    });
    const passed = await pass(() => count(STREAM) > 4);
    // One attempt at once, then at most one each time.
    expect(count(STREAM)).toBeLessThanOrEqual(passed + 1);
    expect(await banner(page).count()).toBe(1);
    const loaded = reloads();
    Object.assign(server, { job: jobData("failed"), isNamed: false });
    await pass(async () => (await banner(page).count()) === 0);
    await expect.poll(reloads).toBe(loaded + 1);
    const all = count(STREAM);
    await page.clock.fastForward(MAX_WAIT_MS);
    expect(count(STREAM)).toBe(all);
  });

  it("that the API does not know has ended, and is not followed again", async () => {
    const { page, count, reloads } = await follow(path, {
      stream: notFound,
      job: notFound,
      isNamed: true,
    });
    await expect.poll(reloads).toBe(2);
    await page.locator("#app:not([aria-busy])").waitFor();
    await page.clock.fastForward(MAX_WAIT_MS);
    // More round trips than it takes to load the page and to open the stream again.
    for (let trip = 0; trip < 6; trip += 1) await page.evaluate("fetch('/api/v1/archives')");
    expect([count(STREAM), count(JOB)]).toEqual([1, 1]);
  });
});
