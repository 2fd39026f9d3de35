/** `/duplicates` while jobs end and answers overtake one another. */
import { describe, expect, it } from "vitest";
import { activity, group, member, summary } from "../review/fixtures.ts";
import { chromiumPath, openPage, ready, useChromium } from "./chromium.ts";
import { brokenRules } from "./faults.ts";
import {
  data,
  jobEvent,
  list,
  startDocumentPages,
  stubApi,
  type ApiRequest,
  type Reply,
} from "./document-pages.ts";

useChromium();

const { sync, analysis } = activity();
const ACCEPT = "POST /delete-plan/accept";
/** More than the page waits between two looks at what the archives do. */
const LATER_MS = 20_000;

/** The list, and not one of the counts. */
const isList = ({ line, query }: ApiRequest): boolean =>
  line === "GET /duplicates" && query.get("limit") !== "1";
const titles = (ids: readonly string[]): string[] => ids.map((id) => `Title ${id}`);

describe.skipIf(chromiumPath === undefined)("the list of groups in a browser", () => {
  it("has what an analysis found that ended while the page was loaded", async () => {
    const { page } = await openPage();
    let found = ["a"];
    await stubApi(page, {
      "GET /duplicates": () => list(found.map((id) => summary(id))),
      "GET /analysis/status": () => {
        found = ["a", "b"];
        return data({ ...analysis, lastAnalysisAt: "2026-01-01T23:40:00.000Z" });
      },
    });
    await page.goto(`${await startDocumentPages()}/duplicates`);
    await ready(page);
    await expect.poll(() => page.locator(".row-link").allTextContents()).toEqual(titles(found));
  });

  it("stays readable while it is loaded again, however long that takes", async () => {
    const { page } = await openPage({ bypassCSP: true });
    let lists = 0;
    await stubApi(page, {
      async "GET /duplicates"(request) {
        if (isList(request) && (lists += 1) > 1) await new Promise(() => undefined);
        return list([summary("a"), summary("b")]);
      },
    });
    await page.goto(`${await startDocumentPages()}/duplicates`);
    await ready(page);
    await page.getByRole("link", { name: "Documents", exact: true }).last().click();
    await expect.poll(() => lists).toBe(2);
    await page.locator("main[aria-busy=true]").waitFor();
    // Longer than the page waits before it shows that it is busy.
    await page.evaluate("new Promise((resolve) => setTimeout(resolve, 600))");
    expect(await brokenRules(page)).toEqual([]);
  });

  it("is read again after an analysis that began and ended while nobody looked", async () => {
    const { page } = await openPage();
    await page.clock.install({ time: 0 });
    let [found, lastAnalysisAt] = [["a"], analysis.lastAnalysisAt];
    const requests = await stubApi(page, {
      "GET /duplicates": () => list(found.map((id) => summary(id))),
      "GET /analysis/status": () => data({ ...analysis, lastAnalysisAt }),
    });
    await page.goto(`${await startDocumentPages()}/duplicates`);
    await ready(page);
    await expect.poll(() => page.locator(".row-link").allTextContents()).toEqual(titles(["a"]));
    [found, lastAnalysisAt] = [["a", "b"], "2026-01-01T23:40:00.000Z"];
    await page.clock.fastForward(LATER_MS);
    await expect.poll(() => page.locator(".row-link").allTextContents()).toEqual(titles(found));
    // Once: what it shows is as new as what the archives did last.
    const looks = (): number => requests.filter(({ line }) => line === "GET /sync/status").length;
    for (let times = 0; times < 2; times += 1) {
      const before = looks();
      await page.clock.fastForward(LATER_MS);
      await expect.poll(looks).toBeGreaterThan(before);
    }
    expect(requests.filter(isList)).toHaveLength(2);
  });

  it("takes a key that waited for a group as one about that group, also when the end of a job overtakes its answer", async () => {
    const { page } = await openPage();
    const members = [member("x", { isPrimary: true }), member("y")];
    const held: Record<"group" | "list" | "stream", PromiseWithResolvers<void>> = {
      group: Promise.withResolvers(),
      list: Promise.withResolvers(),
      stream: Promise.withResolvers(),
    };
    let isSyncing = true;
    const counts = { groups: 0, lists: 0 };
    const requests = await stubApi(page, {
      "GET /sync/status": () => data({ ...sync, isSyncing, currentJobId: isSyncing ? "j1" : null }),
      "GET /jobs/j1/progress": async () => {
        await held.stream.promise;
        isSyncing = false;
        return jobEvent("complete", { progress: 1, message: "", status: "completed" });
      },
      async "GET /duplicates"(request) {
        if (!isList(request)) return list([]);
        counts.lists += 1;
        if (counts.lists > 1) await held.list.promise;
        return list([summary("a"), summary("b")]);
      },
      "GET /duplicates/a": () => data(group("a", { members })),
      async "GET /duplicates/b"(): Promise<Reply> {
        counts.groups += 1;
        if (counts.groups === 1) await held.group.promise;
        return data(group("b", { members }));
      },
      [ACCEPT]: ({ body }) => data(body),
    });
    await page.goto(`${await startDocumentPages()}/duplicates?group=a`);
    await ready(page);
    await page.keyboard.press("j");
    await page.keyboard.press("a");
    await expect.poll(() => counts.groups).toBe(1);
    held.stream.resolve();
    await expect.poll(() => counts.lists).toBe(2);
    held.group.resolve();
    // More round trips than the page needs to take the answer, which is older than the reload.
    for (let trip = 0; trip < 6; trip += 1) await page.evaluate("fetch('/api/v1/archives')");
    held.list.resolve();
    const accepted = (): unknown[] =>
      requests.filter(({ line }) => line === ACCEPT).map(({ body }) => body);
    await expect.poll(accepted).toEqual([{ groupIds: ["b"] }]);
  });
});

describe.skipIf(chromiumPath === undefined)("a click on a decision", () => {
  it("is about the group that was shown, not the one whose turn it is", async () => {
    const { page } = await openPage();
    const members = [member("x", { isPrimary: true }), member("y")];
    const held = Promise.withResolvers<void>();
    const ids = ["a", "b", "c"];
    const requests = await stubApi(page, {
      "GET /duplicates": () => list(ids.map((id) => summary(id))),
      ...Object.fromEntries(
        ids.map((id) => [`GET /duplicates/${id}`, () => data(group(id, { members }))]),
      ),
      [ACCEPT]: async ({ body }) => {
        await held.promise;
        return data(body);
      },
    });
    await page.goto(`${await startDocumentPages()}/duplicates?group=a`);
    await ready(page);
    const accept = page.locator("[data-act=accept]");
    const accepted = (): unknown[] =>
      requests.filter(({ line }) => line === ACCEPT).map(({ body }) => body);
    const opened = (): string | null => new URL(page.url()).searchParams.get("group");
    await accept.click();
    await expect.poll(accepted).toHaveLength(1);
    await accept.click();
    held.resolve();
    await expect.poll(opened).toBe("b");
    // The queue is empty once a later key has acted.
    await page.keyboard.press("j");
    await expect.poll(opened).toBe("c");
    expect(accepted()).toEqual([{ groupIds: ["a"] }]);
  });
});

describe.skipIf(chromiumPath === undefined)("accepting exact copies", () => {
  it("that fails part-way says how many are accepted, lists them no more and can be undone", async () => {
    const { page } = await openPage();
    const inPlan = new Set<string>();
    let answers = 0;
    const requests = await stubApi(page, {
      "GET /duplicates": () =>
        list(["a", "b", "c"].filter((id) => !inPlan.has(id)).map((id) => summary(id))),
      "POST /delete-plan/accept-exact-copies"() {
        answers += 1;
        if (answers > 1) return { status: 503, json: { error: { message: "The disk is full." } } };
        for (const id of ["a", "b"]) inPlan.add(id);
        return data({ groupIds: ["a", "b"], more: true });
      },
      "POST /delete-plan/withdraw"({ body }) {
        inPlan.clear();
        return data(body);
      },
    });
    await page.goto(`${await startDocumentPages()}/duplicates`);
    await ready(page);
    const shown = () => page.locator(".row-link").allTextContents();
    await page.getByRole("button", { name: "Accept exact copies" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Accept exact copies" }).click();
    await page
      .locator(".toast", { hasText: /^2 groups were accepted before it failed.* disk is full/ })
      .waitFor();
    await expect.poll(shown).toEqual(titles(["c"]));
    await page.locator(".toast").getByRole("button", { name: "Undo" }).click();
    await expect.poll(shown).toEqual(titles(["a", "b", "c"]));
    expect(
      requests.filter(({ line }) => line.endsWith("/withdraw")).map(({ body }) => body),
    ).toEqual([{ groupIds: ["a", "b"] }]);
  });
});

describe.skipIf(chromiumPath === undefined)("a link on the page of groups", () => {
  it("keeps the focus, and one that opens a group gives it to the group", async () => {
    const { page } = await openPage();
    const members = [member("x", { isPrimary: true }), member("y"), member("z")];
    const requests = await stubApi(page, {
      "GET /duplicates": () => list(["a", "b"].map((id) => summary(id))),
      "GET /duplicates/a": () => data(group("a", { members })),
      "GET /duplicates/b": () => data(group("b", { members })),
    });
    await page.goto(`${await startDocumentPages()}/duplicates?group=a`);
    await ready(page);
    const focused = (): Promise<string> =>
      page.evaluate("document.activeElement.id || document.activeElement.textContent");
    const follow = async (selector: string, answer: (request: ApiRequest) => boolean) => {
      const before = requests.filter(answer).length;
      await page.locator(selector).focus();
      const label = await focused();
      await page.keyboard.press("Enter");
      await expect.poll(() => requests.filter(answer).length).toBeGreaterThan(before);
      await page.locator("main:not([aria-busy])").waitFor();
      // More round trips than the page needs to draw the answer.
      for (let trip = 0; trip < 3; trip += 1) await page.evaluate("fetch('/api/v1/archives')");
      return label;
    };
    const isGroup = ({ line }: ApiRequest): boolean => line.startsWith("GET /duplicates/");
    await follow(".member-actions a:not([aria-current])", isGroup);
    expect(new URL(page.url()).searchParams.get("with")).not.toBeNull();
    expect(await focused()).toMatch(/^Compared below/);
    await follow('.row-link:not([aria-current="true"])', isGroup);
    expect(await focused()).toBe("group-title");
    await page.keyboard.press("Escape");
    await expect.poll(focused, { timeout: 10_000 }).toBe("Title b");
    const head = await follow("th:last-child a", isList);
    expect(head).toBe("Found");
    expect(await focused()).toBe("↓Found");
  });
});
