import { describe, expect, it } from "vitest";
import { pageAssets } from "../../../../gateway/web/assets.ts";
import { STALE_MS, staleBanner } from "../../../../gateway/web/browser/live-bar.ts";
import type { Polling } from "../../../../gateway/web/browser/poller.ts";
import { html } from "../../../../gateway/web/html.ts";
import { pageAnswer } from "../../../../gateway/web/shell.ts";
import { renderHtml } from "../render-html.ts";

const FRESH: Polling = {
  paused: false,
  asking: false,
  answeredAtMs: 0,
  problem: undefined,
  nextAtMs: undefined,
};

/** The text of the live region, and the whole text of the notice. */
function bannerOf(change: Partial<Polling>, nowMs: number): readonly [string, string] {
  const text = renderHtml(staleBanner({ ...FRESH, ...change }, 0, nowMs));
  const words = (markup = ""): string => markup.replaceAll(/<[^>]+>/g, "").trim();
  return [words(/role="status">(.*?)<\/span>/s.exec(text)?.[1]), words(text)];
}

describe("the notice of old figures", () => {
  it("announces that the server does not answer once, while its age and the wait advance", () => {
    const problem = "The server does not answer.";
    const announced = `These figures are not current. ${problem}`;
    const at = (nowMs: number) => bannerOf({ problem, nextAtMs: 20_000 }, nowMs);
    expect(at(10_000)).toEqual([
      announced,
      `${announced} They are from 10 s ago. Trying again in 10 s.`,
    ]);
    expect(at(11_000)).toEqual([
      announced,
      `${announced} They are from 11 s ago. Trying again in 9 s.`,
    ]);
    expect(bannerOf({ problem, asking: true }, 20_000)).toEqual([
      announced,
      `${announced} They are from 20 s ago.`,
    ]);
  });

  it("announces a pause once the figures are old", () => {
    expect(bannerOf({ paused: true }, STALE_MS - 1)).toEqual(["", ""]);
    const [announced, shown] = bannerOf({ paused: true }, STALE_MS);
    expect(announced).toBe(
      "These figures are not current. Refreshing is paused: choose Resume below.",
    );
    expect([announced, shown]).toEqual([announced, `${announced} They are from 1 min ago.`]);
    expect(bannerOf({ paused: true }, STALE_MS + 1_000)[0]).toBe(announced);
  });

  it("is an empty live region while the figures are fresh, and the only one of its place", async () => {
    expect(renderHtml(staleBanner(FRESH, 0, STALE_MS))).toContain('<span role="status"></span>');
    const { body } = await pageAnswer(
      { title: "", demo: false, version: "", nav: [], body: html`<p></p>` },
      pageAssets(),
      { get: () => undefined } as unknown as Parameters<typeof pageAnswer>[2],
    );
    expect(body).toContain('<div class="frame" id="stale"></div>');
  });
});
