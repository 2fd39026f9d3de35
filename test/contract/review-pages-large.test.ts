/** The page `/duplicates` of a daemon with 10,000 groups: it draws a page of them and stays quick. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { prose } from "../dedup/groups/bench.ts";
import { chromiumPath, openPage, ready, useChromium } from "../gateway/web/browser/chromium.ts";
import {
  type Daemon,
  jobEnd,
  removeTemporaryFolders,
  rest,
  runJob,
  startDaemon,
  temporaryFolder,
} from "./daemon.ts";

useChromium();

const GROUPS = 10_000;
let daemon: Daemon;

beforeAll(async () => {
  if (chromiumPath === undefined) return;
  const file = join(temporaryFolder(), "lines.jsonl");
  const lines = Array.from({ length: 2 * GROUPS }, (_, line) =>
    JSON.stringify({ id: `d${line}`, title: `Document ${line}`, content: prose(line >> 1) }),
  );
  writeFileSync(file, `${lines.join("\n")}\n`);
  daemon = await startDaemon({
    config: `dedup:\n  archives: [{ name: lines, kind: jsonl, path: "${file}" }]\n`,
    env: { STEWARD_GATEWAY__LISTEN: "127.0.0.1:0", STEWARD_STATE__DIRECTORY: temporaryFolder() },
  });
  await runJob(daemon, "/api/v1/sync", {});
  const started = await rest(daemon, "POST", "/api/v1/analysis", {});
  const running = (await rest(daemon, "GET", "/api/v1/analysis/status")).json.data.currentJobId;
  const id = started.json.data?.jobId ?? running;
  if (typeof id === "string") await jobEnd(daemon, id);
});

afterAll(async () => {
  await daemon?.stop();
  removeTemporaryFolders();
});

/** Requests of the activity line, which the page repeats every 15 seconds. */
const PERIODIC =
  /\/api\/v1\/(?:sync\/status|analysis\/status|jobs\?|documents\?|duplicates\?.*limit=1(?:&|$))/;

describe.skipIf(chromiumPath === undefined)("ten thousand groups", () => {
  it("are drawn a page at a time, and a step costs two requests however many there are", async () => {
    expect((await rest(daemon, "GET", "/api/v1/duplicates")).json.meta.total).toBe(GROUPS);
    const { page, requests, complaints } = await openPage();
    await page.goto(`${daemon.url}/duplicates`);
    await ready(page);
    expect(await page.locator("table[aria-label=groups] tbody tr").count()).toBe(50);
    expect(await page.locator(".list .count").textContent()).toBe(
      "1 to 50 of 10,000 groups of 20,000 documents",
    );
    await page.keyboard.press("Enter");
    await page.locator("#group-title").waitFor();
    const tookMs: number[] = [];
    for (let step = 0; step < 20; step++) {
      const before = await page.locator("#group-title").textContent();
      requests.length = 0;
      // From the key to the next frame that shows the next group, in the browser itself.
      const ms = (await page.evaluate(`new Promise((resolve) => {
        const title = () => document.getElementById("group-title")?.textContent;
        const [before, from] = [title(), performance.now()];
        const look = () => title() === before ? requestAnimationFrame(look) : resolve(performance.now() - from);
        document.dispatchEvent(new KeyboardEvent("keydown", { key: "j" }));
        look();
      })`)) as number;
      tookMs.push(ms);
      expect(await page.locator("#group-title").textContent()).not.toBe(before);
      expect(requests.filter((each) => !PERIODIC.test(each)).length).toBe(2);
    }
    tookMs.sort((a, b) => a - b);
    process.stderr.write(
      `${GROUPS} groups: the next group is shown ${tookMs[10]?.toFixed(0)} ms after the key (median of 20), at most ${tookMs.at(-1)?.toFixed(0)} ms\n`,
    );
    expect(tookMs[10]).toBeLessThan(500);
    expect(complaints).toEqual([]);
  });

  it("are accepted at once, planned as a whole, and taken out again by one undo", async () => {
    const { page, complaints } = await openPage();
    await page.goto(`${daemon.url}/duplicates`);
    await ready(page);
    await page.getByRole("button", { name: "Accept exact copies" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Accept exact copies" }).click();
    await page.getByText("Every group is reviewed.").waitFor({ timeout: 60_000 });
    const from = performance.now();
    const plan = (await rest(daemon, "GET", "/api/v1/delete-plan?limit=1")).json;
    process.stderr.write(
      `${GROUPS} accepted groups: the plan takes ${(performance.now() - from).toFixed(0)} ms\n`,
    );
    expect(plan.meta).toMatchObject({ total: GROUPS, deletedCount: GROUPS, leftOutCount: 0 });
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByText("1 to 50 of 10,000 groups").waitFor({ timeout: 60_000 });
    expect((await rest(daemon, "GET", "/api/v1/delete-plan")).json.meta.total).toBe(0);
    expect(complaints).toEqual([]);
  });
});
