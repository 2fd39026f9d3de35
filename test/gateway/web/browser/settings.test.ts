import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { chromiumPath, openPage, ready, useChromium } from "./chromium.ts";
import {
  aSetting,
  data,
  startDocumentPages,
  stubApi,
  type ApiRequest,
  type Reply,
} from "./document-pages.ts";

useChromium();

const SAVE = "PUT /config/dedup";
const SAVED: Reply = { json: { data: {}, meta: { recalculatedGroups: 0 } } };

/** A server whose answers to saves a test holds back. */
interface HeldSettings {
  readonly page: Page;
  /** The bodies of the saves that came. */
  readonly saves: () => readonly unknown[];
  /** Answers the oldest save that waits. */
  readonly release: (reply?: Reply) => Promise<void>;
}

async function openSettings(): Promise<HeldSettings> {
  const { page } = await openPage();
  const values: Record<string, string> = { minWords: "20", ngramSize: "3" };
  const held: ((reply: Reply) => void)[] = [];
  const requests = await stubApi(page, {
    "GET /config/settings": () =>
      data(
        Object.entries(values).map(([name, value]) => ({
          ...aSetting,
          name: `dedup.${name}`,
          value,
        })),
      ),
    [SAVE]: async ({ body }: ApiRequest) => {
      const reply = await new Promise<Reply>((resolve) => void held.push(resolve));
      if (reply === SAVED)
        for (const [name, value] of Object.entries(body as object)) values[name] = String(value);
      return reply;
    },
  });
  await page.goto(`${await startDocumentPages()}/settings/dedup`);
  await ready(page);
  return {
    page,
    saves: () => requests.filter(({ line }) => line === SAVE).map(({ body }) => body),
    async release(reply = SAVED) {
      await expect.poll(() => held.length).toBeGreaterThan(0);
      held.shift()?.(reply);
    },
  };
}

const words = (page: Page) => page.getByLabel("Minimum number of words");
const phrase = (page: Page) => page.getByLabel("Words of a phrase");
const save = (page: Page) => page.getByRole("button", { name: "Save" });
/** Waits until every save was answered and the settings were read again. */
async function settled(page: Page): Promise<void> {
  await page.getByText("Saved.").first().waitFor();
  await page.locator("#app:not([aria-busy])").waitFor();
}

describe.skipIf(chromiumPath === undefined)("the settings in a browser, while a save runs", () => {
  it("keep what is typed into another field, as not saved yet", async () => {
    const { page, release, saves } = await openSettings();
    await words(page).fill("30");
    await save(page).click();
    await expect.poll(() => saves().length).toBe(1);
    await phrase(page).fill("5");
    await release();
    await expect.poll(() => page.locator(".setting.changed").count()).toBe(1);
    await settled(page);
    expect([await words(page).inputValue(), await phrase(page).inputValue()]).toEqual(["30", "5"]);
    expect(saves()).toEqual([{ minWords: 30 }]);
    await save(page).click();
    await release();
    await expect.poll(() => page.locator(".setting.changed").count()).toBe(0);
    expect(saves()).toEqual([{ minWords: 30 }, { ngramSize: 5 }]);
  });

  it("keep what is typed again into the field that is being saved, also its former value", async () => {
    for (const text of ["31", "20"]) {
      const { page, release, saves } = await openSettings();
      await words(page).fill("30");
      await save(page).click();
      await expect.poll(() => saves().length).toBe(1);
      await words(page).fill(text);
      await release();
      await settled(page);
      expect(await words(page).inputValue()).toBe(text);
      await save(page).click();
      await release();
      await expect.poll(() => page.locator(".setting.changed").count()).toBe(0);
      expect(saves()).toEqual([{ minWords: 30 }, { minWords: Number(text) }]);
    }
  });

  it("save what was typed since once the first save has ended, and the same only once", async () => {
    const { page, release, saves } = await openSettings();
    await words(page).fill("30");
    await save(page).click();
    await save(page).click();
    await phrase(page).fill("5");
    await save(page).click();
    await release();
    await release();
    await expect.poll(() => page.locator(".setting.changed").count()).toBe(0);
    expect(saves()).toEqual([{ minWords: 30 }, { ngramSize: 5 }]);
    expect([await words(page).inputValue(), await phrase(page).inputValue()]).toEqual(["30", "5"]);
  });

  it("keep every text when the save fails, and forget one that is the saved value again", async () => {
    const { page, release, saves } = await openSettings();
    await words(page).fill("30");
    await phrase(page).fill("5");
    await save(page).click();
    await expect.poll(() => saves().length).toBe(1);
    await words(page).fill("20");
    await release({ status: 503, json: { error: { message: "the store is read-only" } } });
    await page.getByText("the store is read-only").waitFor();
    expect([await words(page).inputValue(), await phrase(page).inputValue()]).toEqual(["20", "5"]);
    await save(page).click();
    await release();
    await expect.poll(() => page.locator(".setting.changed").count()).toBe(0);
    expect(saves()).toEqual([{ minWords: 30, ngramSize: 5 }, { ngramSize: 5 }]);
  });

  it("show the text as the server keeps it once it is saved", async () => {
    const { page, release } = await openSettings();
    await words(page).fill("030");
    await save(page).click();
    await release();
    await expect.poll(() => words(page).inputValue()).toBe("30");
    expect(await page.locator(".setting.changed").count()).toBe(0);
  });
});

describe.skipIf(chromiumPath === undefined)(
  "the settings in a browser, when a save is refused",
  () => {
    it("say at the button that nothing was saved, and lead to the first field that is wrong", async () => {
      const { page } = await openPage();
      const aText = { ...aSetting, minimum: null, maximum: null, expects: "text", value: "" };
      await stubApi(page, {
        "GET /config/settings": () =>
          data([
            aSetting,
            { ...aText, name: "ai.model" },
            { ...aText, name: "ai.protectedTagNames" },
          ]),
        "PUT /config": () => ({
          status: 400,
          json: {
            error: {
              message: "The request is not valid.",
              details: [
                { path: ["ai.protectedTagNames"], message: "must be a list", code: "custom" },
              ],
            },
          },
        }),
      });
      // The server of these tests knows no settings, from which the island takes whether AI is on.
      await page.route("**/settings/dedup", async (route) => {
        const response = await route.fetch();
        const body = (await response.text()).replace(
          "</main>",
          '<form data-form="ai"></form></main>',
        );
        await route.fulfill({ response, body });
      });
      await page.goto(`${await startDocumentPages()}/settings/dedup`);
      await ready(page);
      const form = page.getByRole("form", { name: "AI suggestions" });
      const announced = form.locator("[aria-live=polite]");
      const [model, tags] = [form.getByRole("textbox").first(), form.getByRole("textbox").last()];
      await tags.fill("x");
      await model.fill("y");
      expect(await announced.innerText()).toBe("Nothing is recalculated.");
      await form.getByRole("button", { name: "Save" }).click();
      await form.getByText("must be a list").waitFor();
      expect(await announced.innerText()).toBe("A value is not valid: nothing was saved.");
      await expect
        .poll(() => page.evaluate(() => document.activeElement?.getAttribute("data-setting")))
        .toBe("ai.protectedTagNames");
      await tags.fill("");
      expect(await announced.innerText()).toBe("Nothing is recalculated.");
    });
  },
);
