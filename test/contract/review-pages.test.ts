/**
 * The pages `/duplicates`, `/duplicates/plan` and `/documents` of a running daemon over a folder,
 * used as a reviewer does: in a real browser, by keyboard, by mouse, and without scripts.
 */
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Page, Route } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { parsePlan } from "../../src/dedup/plan/plan-file.ts";
import { edited, prose } from "../dedup/groups/bench.ts";
import { chromiumPath, openPage, ready, useChromium } from "../gateway/web/browser/chromium.ts";
import {
  type Daemon,
  jobEnd,
  removeTemporaryFolders,
  rest,
  runSteward,
  startDaemon,
  temporaryFolder,
} from "./daemon.ts";

useChromium();

const PHONE = { width: 390, height: 844 };
const SOON = { timeout: 60_000 };
const EVIL = `<img src=x onerror="document.title='run'"> & "quoted"`;

let daemon: Daemon;
let folder = "";

function write(name: string, text: string): void {
  writeFileSync(join(folder, name), text);
}

beforeAll(async () => {
  folder = join(temporaryFolder(), "papers");
  mkdirSync(folder);
  // Two groups of exact copies, a group of three with an edited copy, a pair with an edited copy.
  for (const [index, name] of ["apple", "birch"].entries())
    for (const copy of ["", " copy"]) write(`${name}${copy}.txt`, prose(index + 1));
  write("cedar 1.txt", prose(3));
  write("cedar 2.txt", prose(3));
  write("cedar 3.txt", edited(prose(3), 40, "changed"));
  write("daisy.txt", prose(4));
  write("daisy edited.txt", edited(`${prose(4)} ${EVIL}`, 30, "altered"));
  write("elm.txt", prose(5));
  daemon = await startDaemon({
    config: `dedup:\n  archives: [{ name: papers, kind: folder, path: "${folder}" }]\n`,
    env: { STEWARD_GATEWAY__LISTEN: "127.0.0.1:0", STEWARD_STATE__DIRECTORY: temporaryFolder() },
  });
  await syncAndAnalyse();
});

afterAll(async () => {
  await daemon.stop();
  removeTemporaryFolders();
});

async function syncAndAnalyse(): Promise<void> {
  for (const path of ["/api/v1/sync", "/api/v1/analysis"]) {
    const { status, json } = await rest(daemon, "POST", path, {});
    // The analysis that a sync starts may be there already.
    if (status === 202) await jobEnd(daemon, json.data.jobId as string);
    else await settled();
  }
  await settled();
}

async function settled(): Promise<void> {
  await vi.waitFor(async () => {
    const { json } = await rest(daemon, "GET", "/api/v1/jobs");
    expect(json.data.filter(({ status }: any) => /pending|running/.test(status))).toEqual([]);
  }, SOON);
}

interface Listed {
  readonly id: string;
  readonly status: string;
  readonly accepted: boolean;
  readonly memberCount: number;
  readonly primaryDocumentTitle: string;
}

async function groups(query = "status=pending,false_positive,ignored"): Promise<Listed[]> {
  return (await rest(daemon, "GET", `/api/v1/duplicates?${query}`)).json.data;
}

/** Every group as it was found: nothing decided. */
async function undecided(): Promise<void> {
  for (const { id, status, accepted } of await groups()) {
    if (status !== "pending")
      await rest(daemon, "PUT", `/api/v1/duplicates/${id}/status`, { status: "pending" });
    if (accepted) await rest(daemon, "POST", "/api/v1/delete-plan/withdraw", { groupIds: [id] });
  }
}

async function go(page: Page, path: string): Promise<void> {
  await page.goto(`${daemon.url}${path}`);
  await ready(page);
}

/** The notice about a decision on one group. */
function notice(page: Page, title: string) {
  return page.locator(".toast", { hasText: title });
}

/** A proxy that gives the daemon its upstream's name as Host; returns the address for browsers. */
async function startProxy(): Promise<string> {
  const { hostname, port } = new URL(daemon.url);
  const proxy = createServer((incoming, answer) => {
    const { method, url: path, headers } = incoming;
    const passed = request({
      hostname,
      port,
      method,
      path,
      headers: { ...headers, host: "localhost" },
    });
    passed.on("response", (reply) => {
      answer.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.pipe(answer);
    });
    incoming.pipe(passed.on("error", () => answer.destroy()));
  }).listen(0, "127.0.0.1");
  await once(proxy, "listening");
  onTestFinished(() => {
    proxy.close();
    proxy.closeAllConnections();
  });
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
}

function rows(page: Page): Promise<string[]> {
  return page.locator("table[aria-label=groups] .row-link").allTextContents();
}

async function openTitle(page: Page): Promise<string> {
  return (await page.locator("#group-title").textContent()) ?? "";
}

describe.skipIf(chromiumPath === undefined)("the pages of a review in a real browser", () => {
  it("review every group by keyboard alone, and every decision is in the API", async () => {
    await undecided();
    const { page, complaints, requests } = await openPage();
    await go(page, "/duplicates");
    const titles = await rows(page);
    expect(titles.length).toBe(4);
    // j and k move the row; Enter opens it.
    await page.keyboard.press("j");
    await page.keyboard.press("k");
    await page.keyboard.press("Enter");
    await expect.poll(() => openTitle(page), SOON).toBe(titles[0]);
    const first = new URL(page.url()).searchParams.get("group");
    // a accepts and goes on to the next group; x is no duplicate; i ignores.
    await page.keyboard.press("a");
    await expect.poll(() => openTitle(page), SOON).toBe(titles[1]);
    await page.keyboard.press("x");
    await expect.poll(() => openTitle(page), SOON).toBe(titles[2]);
    await page.keyboard.press("i");
    await expect.poll(() => openTitle(page), SOON).toBe(titles[3]);
    expect((await groups()).map(({ status, accepted }) => `${status} ${accepted}`).sort()).toEqual([
      "false_positive false",
      "ignored false",
      "pending false",
      "pending true",
    ]);
    expect((await groups("plan=in")).map(({ id }) => id)).toEqual([first]);
    // The last one: the list is done and leads to the plan.
    await page.keyboard.press("a");
    await page.getByText("Every group is reviewed.").waitFor();
    expect(await page.locator(".list").innerText()).toContain("2 groups are in the delete plan");
    // u undoes one decision after the other and shows what it undid.
    for (const at of [3, 2, 1, 0]) {
      await page.keyboard.press("u");
      await expect.poll(() => rows(page), SOON).toContain(titles[at]);
    }
    await expect.poll(async () => (await rows(page)).length, SOON).toBe(4);
    expect(
      (await groups()).every(({ status, accepted }) => status === "pending" && !accepted),
    ).toBe(true);
    await page.keyboard.press("u");
    await page.getByText("There is nothing to undo.").waitFor();
    expect(complaints).toEqual([]);
    expect(
      requests.filter(
        (each) => !each.startsWith(`${daemon.url}/`) && !each.startsWith("data:image/svg+xml,"),
      ),
    ).toEqual([]);
  });

  it("keys that are pressed faster than the server answers each act on what the one before left", async () => {
    await undecided();
    const { page } = await openPage();
    await go(page, "/duplicates");
    const titles = await rows(page);
    await page.keyboard.press("Enter");
    for (const key of "axa") await page.keyboard.press(key);
    await expect.poll(() => openTitle(page), SOON).toBe(titles[3]);
    const byTitle = new Map(
      (await groups()).map((group) => [group.primaryDocumentTitle, group] as const),
    );
    expect(
      titles.map((title) => [byTitle.get(title)?.status, byTitle.get(title)?.accepted]),
    ).toEqual([
      ["pending", true],
      ["false_positive", false],
      ["pending", true],
      ["pending", false],
    ]);
  });

  it("undo by the button of a notice what that notice is about, whatever was decided after it", async () => {
    await undecided();
    const { page } = await openPage();
    await go(page, "/duplicates");
    const [a = "", b = ""] = await rows(page);
    const inPlan = async (): Promise<string[]> =>
      (await groups("plan=in")).map(({ primaryDocumentTitle }) => primaryDocumentTitle);
    for (const title of [a, b]) {
      await page.keyboard.press("a");
      await notice(page, `In the delete plan: ${title}`).waitFor();
    }
    await notice(page, `In the delete plan: ${a}`).getByRole("button", { name: "Undo" }).click();
    await page.getByText(`Undone. In the delete plan: ${a}`).waitFor();
    expect(await inPlan()).toEqual([b]);
    // The key has undone it already: the button takes back nothing else.
    await page.locator(".row-link", { hasText: a }).click();
    await expect.poll(() => openTitle(page), SOON).toBe(a);
    await page.keyboard.press("a");
    await notice(page, `In the delete plan: ${a}`).last().getByRole("button").waitFor();
    await page.keyboard.press("u");
    await expect.poll(inPlan, SOON).toEqual([b]);
    await page.getByRole("button", { name: "Undo" }).last().click();
    await page.getByText("That is undone already.").waitFor();
    expect(await inPlan()).toEqual([b]);
  });

  it("undo the decision before one whose group is gone, and say that it is", async () => {
    await undecided();
    const { page } = await openPage();
    await go(page, "/duplicates");
    const titles = (await rows(page)).slice(0, 2);
    for (const title of titles) {
      await page.keyboard.press("x");
      await notice(page, title).waitFor();
    }
    const rejected = await groups("status=false_positive");
    const [a, b] = titles.map(
      (title) => rejected.find((each) => each.primaryDocumentTitle === title)?.id,
    );
    await rest(daemon, "DELETE", `/api/v1/duplicates/${b}`);
    await page.keyboard.press("u");
    await notice(page, "there is no duplicate group").waitFor();
    await page.keyboard.press("u");
    await page.getByText("Undone. Marked as not duplicates").waitFor();
    expect((await groups("status=pending")).map(({ id }) => id)).toContain(a);
    await page.keyboard.press("u");
    await page.getByText("There is nothing to undo.").waitFor();
    await rest(daemon, "POST", "/api/v1/analysis", { force: true });
    await settled();
  });

  it("say that a proxy in front changes the Host, which makes every decision one of another site", async () => {
    await undecided();
    const { page } = await openPage();
    await page.goto(`${await startProxy()}/duplicates`);
    await ready(page);
    expect(await rows(page)).toHaveLength(4);
    await page.keyboard.press("a");
    await notice(page, "must pass on the Host header").waitFor();
    expect(await notice(page, "must pass on the Host header").innerText()).toContain(
      'Host is "localhost"',
    );
    expect((await groups("plan=in")).length).toBe(0);
  });

  it("show the texts side by side, compare each document, and keep another one by key p", async () => {
    await undecided();
    const three = (await groups()).find(({ memberCount }) => memberCount === 3);
    const { page, complaints } = await openPage();
    await go(page, `/duplicates?group=${three?.id}`);
    const compared = (): Promise<string> => page.locator(".members tr.selected").innerText();
    const before = await compared();
    await page.keyboard.press("ArrowRight");
    await expect.poll(compared, SOON).not.toBe(before);
    await page.keyboard.press("ArrowLeft");
    await expect.poll(compared, SOON).toBe(before);
    await page.locator(".members").getByRole("link", { name: "Compare cedar 3" }).click();
    await page.locator("ins", { hasText: "changed" }).first().waitFor();
    expect(await page.locator("del").count()).toBeGreaterThan(0);
    expect(await page.locator(".chips").innerText()).toContain("phrases shared");
    const stays = async (): Promise<string> =>
      await page.locator(".members tr", { hasText: "stays" }).innerText();
    const former = await stays();
    await page.keyboard.press("p");
    await expect.poll(stays, SOON).toContain("cedar 3");
    const group = (await rest(daemon, "GET", `/api/v1/duplicates/${three?.id}`)).json.data;
    expect(group.members.find(({ isPrimary }: any) => isPrimary).title).toBe("cedar 3");
    await page.keyboard.press("u");
    await expect.poll(stays, SOON).toBe(former);
    expect(complaints).toEqual([]);
  });

  it("show text from documents as text, whatever it holds", async () => {
    await undecided();
    const pair = (await groups()).find(
      ({ primaryDocumentTitle: title, memberCount }) =>
        title.startsWith("daisy") && memberCount === 2,
    );
    for (const javaScriptEnabled of [true, false]) {
      const { page, complaints } = await openPage({ javaScriptEnabled });
      await page.goto(`${daemon.url}/duplicates?group=${pair?.id}`);
      if (javaScriptEnabled) await ready(page);
      await page.getByText("onerror=").first().waitFor();
      expect(await page.title()).toBe("Duplicates – Steward");
      expect(await page.locator("main img").count()).toBe(0);
      expect(complaints).toEqual([]);
    }
  });

  it("explain the keys, and leave them to fields, dialogs and those who switch them off", async () => {
    await undecided();
    const { page } = await openPage();
    await go(page, "/duplicates");
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard" }).waitFor();
    await page.keyboard.press("a");
    await page.keyboard.press("Escape");
    await page.getByRole("dialog", { name: "Keyboard" }).waitFor({ state: "hidden" });
    await page.keyboard.press("/");
    await page.keyboard.type("ax cedar");
    await expect.poll(() => new URL(page.url()).searchParams.get("q")).toBe("ax cedar");
    await page.keyboard.press("Escape");
    await page.keyboard.press("?");
    await page.getByRole("button", { name: "Switch single keys off" }).click();
    await page.getByRole("button", { name: "Close" }).click();
    await go(page, "/duplicates");
    await page.keyboard.press("a");
    await page.keyboard.press("Enter");
    expect(new URL(page.url()).searchParams.get("group")).toBe(null);
    expect((await groups("plan=in")).length).toBe(0);
  });

  it("have every filter in the address: the same list without scripts, and by the back key", async () => {
    await undecided();
    const { page } = await openPage();
    await go(page, "/duplicates");
    await page.getByRole("searchbox", { name: "Search titles" }).fill("edited");
    await expect.poll(() => rows(page), SOON).toHaveLength(1);
    await page.getByRole("searchbox", { name: "Search titles" }).fill("");
    await expect.poll(() => rows(page), SOON).toHaveLength(4);
    await page.getByRole("link", { name: "100 %" }).click();
    await expect.poll(() => rows(page), SOON).toHaveLength(2);
    await page.getByRole("link", { name: "Any" }).click();
    await expect.poll(() => rows(page), SOON).toHaveLength(4);
    await page.getByRole("link", { name: "Documents", exact: true }).last().click();
    await expect.poll(async () => (await rows(page))[0], SOON).toMatch(/^cedar/);
    const address = page.url();
    const sorted = await rows(page);
    await page.locator(".row-link").nth(1).click();
    await page.locator("#group-title").waitFor();
    await page.goBack();
    await expect.poll(() => page.locator("#group-title").count(), SOON).toBe(0);
    const without = await openPage({ javaScriptEnabled: false });
    await without.page.goto(address);
    expect(await rows(without.page)).toEqual(sorted);
    await without.page.locator(".row-link").nth(0).click();
    expect(await without.page.locator(".difference del").count()).toBeGreaterThanOrEqual(0);
    expect(await openTitle(without.page)).toBe(sorted[0]);
    // What needs scripts is not offered without them.
    expect(await without.page.locator("main button:visible").count()).toBe(0);
  });

  it("accept exact copies at once on a phone, by touch, and undo it at once", async () => {
    await undecided();
    const { page, complaints } = await openPage({ viewport: PHONE, hasTouch: true });
    await go(page, "/duplicates");
    await page.getByRole("button", { name: "Accept exact copies" }).tap();
    await page.getByRole("dialog").getByRole("button", { name: "Accept exact copies" }).tap();
    await page.getByText("2 groups of exact copies in the delete plan").waitFor();
    await expect.poll(() => rows(page), SOON).toHaveLength(2);
    expect((await groups("plan=in")).length).toBe(2);
    await page.getByRole("button", { name: "Undo" }).tap();
    await expect.poll(() => rows(page), SOON).toHaveLength(4);
    expect((await groups("plan=in")).length).toBe(0);
    await page.locator(".row-link").first().tap();
    await page.getByRole("button", { name: "Accept", exact: true }).waitFor();
    expect(await page.locator(".list").isVisible()).toBe(false);
    await page.getByRole("link", { name: "Back to the list" }).tap();
    await expect.poll(() => page.locator(".list").isVisible(), SOON).toBe(true);
    expect(complaints).toEqual([]);
  });

  it("follow a sync that a button starts to its end, and show what it found without being loaded again", async () => {
    await undecided();
    const { page, requests, complaints } = await openPage();
    await go(page, "/duplicates");
    for (const name of ["fir.txt", "fir copy.txt"]) write(name, prose(6));
    await page.getByRole("button", { name: "Sync", exact: true }).click();
    await expect
      .poll(() => rows(page), { timeout: 60_000 })
      .toContainEqual(expect.stringMatching(/^fir/));
    expect(requests.some((each) => /\/api\/v1\/jobs\/[\w-]+\/progress$/.test(each))).toBe(true);
    await settled();
    await expect
      .poll(() => page.getByRole("button", { name: "Sync", exact: true }).isEnabled(), {
        timeout: 60_000,
      })
      .toBe(true);
    expect(complaints).toEqual([]);
  });

  it("say that the groups are from other settings, and analyse again", async () => {
    await undecided();
    const { page } = await openPage();
    const set = async (similarityThreshold: number): Promise<void> => {
      const body = { similarityThreshold };
      expect((await rest(daemon, "PUT", "/api/v1/config/dedup", body)).status).toBe(200);
    };
    await set(0.6);
    await go(page, "/duplicates");
    await page.getByText("The groups are from other settings.").waitFor();
    await page.getByRole("button", { name: "Analyse now" }).click();
    await expect
      .poll(() => page.getByText("The groups are from other settings.").count(), {
        timeout: 60_000,
      })
      .toBe(0);
    // The notice goes when the analysis begins.
    await settled();
    await set(0.75);
    await rest(daemon, "POST", "/api/v1/analysis", {});
    await settled();
  });

  it("say that a sync failed and why, keep the groups, and try it again", async () => {
    await undecided();
    const { page } = await openPage();
    await go(page, "/duplicates");
    const before = await rows(page);
    renameSync(folder, `${folder}-away`);
    try {
      await page.getByRole("button", { name: "Sync", exact: true }).click();
      await page.getByText("The last sync failed").waitFor();
      expect(await page.locator(".banner.bad").innerText()).toContain("papers");
      expect(await rows(page)).toEqual(before);
    } finally {
      renameSync(`${folder}-away`, folder);
    }
    await page.getByRole("button", { name: "Try again" }).click();
    await expect.poll(() => page.locator(".banner.bad").count(), { timeout: 60_000 }).toBe(0);
    await settled();
  });

  it("say that the server does not answer, or refuses, and change nothing", async () => {
    await undecided();
    const { page } = await openPage();
    // Chromium lets a request through that is sent just after its page was told to hold requests:
    // they are held from the start.
    let act = (route: Route): Promise<void> => route.continue();
    await page.route("**/api/v1/**", (route) => act(route));
    await go(page, "/duplicates");
    const before = await rows(page);
    for (const [answer, text] of [
      [undefined, "The server does not answer."],
      [
        {
          status: 401,
          headers: { "www-authenticate": 'Bearer realm="x", Basic realm="x"' },
          json: { error: { code: "UNAUTHORIZED", message: "no" } },
        },
        "sign in",
      ],
      [{ status: 403, body: "the login has ended" }, "sign in"],
      [
        {
          status: 401,
          headers: { "www-authenticate": 'Bearer realm="x"' },
          json: { error: { code: "UNAUTHORIZED", message: "another site" } },
        },
        "another site",
      ],
      [{ status: 503, json: { error: { code: "X", message: "the store is full" } } }, "store is"],
    ] as const) {
      act = (route) => (answer === undefined ? route.abort() : route.fulfill(answer));
      // A key that comes while the list is still loading acts on nothing.
      await expect
        .poll(
          async () => {
            await page.keyboard.press("a");
            return await page.locator(".toast", { hasText: text }).count();
          },
          { ...SOON, interval: 500 },
        )
        .toBeGreaterThan(0);
      // Keys act one after the other: now all have acted.
      await page.keyboard.press("j");
      await expect
        .poll(() => page.locator("tr.selected .row-link").allTextContents(), SOON)
        .toEqual([before[1]]);
      expect(await rows(page)).toEqual(before);
      await page.reload();
      await page.locator(".banner.bad", { hasText: text }).first().waitFor();
      expect((await groups("plan=in")).length).toBe(0);
      act = (route) => route.continue();
      await page.getByRole("button", { name: "Try again" }).first().click();
      await expect.poll(() => rows(page), SOON).toEqual(before);
    }
    expect((await groups("plan=in")).length).toBe(0);
  });

  it("say that a group is gone, whether by its address or while it is open", async () => {
    await undecided();
    const { page } = await openPage();
    await go(page, "/duplicates?group=nowhere");
    await page.getByText("This group is gone.").waitFor();
    await go(page, "/duplicates?group=%00%22%3E");
    await page.getByText("This group is gone.").waitFor();
    await page.goto(`${daemon.url}/documents/nowhere`);
    await page.getByText("This document is gone.").waitFor();
    const [first] = await groups("status=pending");
    await go(page, `/duplicates?group=${first?.id}`);
    await rest(daemon, "DELETE", `/api/v1/duplicates/${first?.id}`);
    await page.keyboard.press("a");
    await page.locator(".toast", { hasText: "was not accepted" }).waitFor();
    await rest(daemon, "POST", "/api/v1/analysis", { force: true });
    await settled();
  });

  it("search the documents and open one with its text and its groups", async () => {
    await undecided();
    const { page, complaints } = await openPage();
    await go(page, "/documents");
    const listed = page.locator("table[aria-label=documents] .row-link");
    await page.getByRole("searchbox", { name: "Search titles" }).fill("elm");
    await expect.poll(() => listed.allTextContents(), SOON).toEqual(["elm"]);
    await listed.click();
    await page.getByText("It is in no group of near-duplicates.").waitFor();
    expect(await page.locator("pre.text").innerText()).toContain(prose(5).slice(0, 40));
    await go(page, "/documents?q=cedar+1");
    await listed.click();
    await page.getByRole("link", { name: /^Group with a confidence/ }).click();
    await expect.poll(() => openTitle(page), SOON).toMatch(/^cedar/);
    await go(page, "/documents?q=nothing+like+it");
    await page.getByText("No document matches.").waitFor();
    expect(complaints).toEqual([]);
  });

  it("accept a group again, with a text that has changed since", async () => {
    await undecided();
    const daisy = (await groups()).find(({ primaryDocumentTitle: title }) => /daisy/.test(title));
    await rest(daemon, "POST", "/api/v1/delete-plan/accept", { groupIds: [daisy?.id] });
    write("daisy edited.txt", edited(`${prose(4)} ${EVIL}`, 40, "changed"));
    await syncAndAnalyse();
    const { page, complaints } = await openPage();
    await go(page, "/duplicates/plan");
    await page.getByText("with another text than when the group was accepted").waitFor();
    await go(page, "/duplicates?show=accepted");
    await page.locator(".row-link", { hasText: "daisy" }).click();
    await page.getByRole("button", { name: "Accept again" }).click();
    await notice(page, "Accepted with its present texts: daisy").waitFor();
    await page.keyboard.press("a");
    await notice(page, "No text has changed since it was accepted: daisy").waitFor();
    await go(page, "/duplicates/plan");
    expect(await page.locator(".totals dd").first().textContent()).toBe("1document");
    expect(complaints).toEqual([]);
  });

  it("show the plan as a whole, and its download is carried out by the command", async () => {
    await undecided();
    await rest(daemon, "POST", "/api/v1/delete-plan/accept", {
      groupIds: (await groups()).map(({ id }) => id),
    });
    const { page, complaints } = await openPage();
    await go(page, "/duplicates/plan");
    expect(await page.locator(".totals dd").allTextContents()).toEqual([
      "6documents",
      "5one of each group",
      "0each with its reason",
      "5accepted",
    ]);
    expect(await page.locator(".planned-documents li").count()).toBe(6);
    // Taking a group out takes its documents out; undo puts them back.
    const cedar = page.locator(".planned", { hasText: "cedar" });
    await cedar.getByRole("button", { name: /out of the plan/ }).click();
    await expect.poll(() => page.locator(".planned").count(), SOON).toBe(4);
    await page.getByRole("button", { name: "Undo" }).click();
    await expect.poll(() => page.locator(".planned").count(), SOON).toBe(5);
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("link", { name: "Download the plan" }).click(),
    ]);
    const file = join(temporaryFolder(), download.suggestedFilename());
    await download.saveAs(file);
    const plan = parsePlan(readFileSync(file, "utf8"), file);
    expect([plan.entries.length, plan.summary.groups, plan.retained]).toEqual([6, 5, []]);
    for (const { path, keep } of plan.entries)
      expect([existsSync(path), existsSync(keep.path), path === keep.path]).toEqual([
        true,
        true,
        false,
      ]);
    const home = temporaryFolder();
    const run = await runSteward(["dedup", "--apply-plan", file], {
      env: { HOME: home, XDG_DATA_HOME: join(home, "data") },
    });
    expect([run.code, run.stderr]).toEqual([0, expect.anything()]);
    for (const { path, keep } of plan.entries)
      expect([existsSync(path), existsSync(keep.path)]).toEqual([false, true]);
    // The plan of the daemon knows at once that the files are gone.
    const again = await rest(daemon, "GET", "/api/v1/export/delete-plan.json");
    expect(again.json.entries).toEqual([]);
    for (const { path } of plan.entries) write(path.slice(folder.length + 1), "");
    expect(complaints).toEqual([]);
  });
});

describe.skipIf(chromiumPath === undefined)("the pages of a review behind a token", () => {
  it("ask a fresh browser for it, wherever it enters, and one login opens them all", async () => {
    const token = "operator-0123456789abcdef";
    const guarded = await startDaemon({
      env: {
        STEWARD_GATEWAY__LISTEN: "127.0.0.1:0",
        STEWARD_STATE__DIRECTORY: temporaryFolder(),
        STEWARD_AUTH__TOKEN: token,
        STEWARD_ADMIN__AUTH__TOKEN: "admin-0123456789abcdef",
      },
    });
    onTestFinished(async () => void (await guarded.stop()));
    for (const path of ["/duplicates", "/documents", "/settings/dedup", "/docs"]) {
      const { page } = await openPage({ httpCredentials: { username: "me", password: token } });
      for (const each of [path, "/duplicates", "/docs"])
        expect([path, each, (await page.goto(`${guarded.url}${each}`))?.status()]).toEqual([
          path,
          each,
          200,
        ]);
    }
  });
});

describe("groups in the delete plan", () => {
  it("wait for no review, on / and in steward status", async () => {
    await undecided();
    const all = await groups();
    const waiting = async (): Promise<(string | undefined)[]> => {
      const { stdout } = await runSteward(["status", "--address", daemon.url]);
      const page = (await rest(daemon, "GET", "/")).text;
      return [
        /(\d+) groups? of near-duplicates to review/.exec(page)?.[1],
        /To review<\/dt>\s*<dd[^>]*>(\d+)/.exec(page)?.[1],
        /(\d+) groups? to review/.exec(stdout)?.[1],
      ];
    };
    expect(await waiting()).toEqual([all.length, all.length, all.length].map(String));
    await rest(daemon, "POST", "/api/v1/delete-plan/accept", { groupIds: [all[0]?.id] });
    expect(await waiting()).toEqual([1, 1, 1].map((one) => String(all.length - one)));
    await rest(daemon, "POST", "/api/v1/delete-plan/accept", {
      groupIds: all.map(({ id }) => id),
    });
    expect(await waiting()).toEqual([undefined, "0", "0"]);
    await undecided();
  });
});
