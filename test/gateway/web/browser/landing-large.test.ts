import { describe, expect, it } from "vitest";
import { slowness } from "../../../support/machine-speed.ts";
import { largeStatus } from "../fixtures/status.ts";
import { startLanding } from "../start-landing.ts";
import { chromiumPath, openPage, ready, useChromium } from "./chromium.ts";

useChromium();

describe.skipIf(chromiumPath === undefined)("the inventory of ten thousand devices", () => {
  it("is painted within 300 ms of the answer and filtered within 100 ms", async () => {
    const status = largeStatus(10_000);
    const url = await startLanding({ status: () => status });
    const { page } = await openPage();
    await page.goto(`${url}/monitor#inventory`);
    await ready(page);
    // The best of three: the first is the browser's warm-up.
    let [paint, took] = [Infinity, Infinity];
    for (let attempt = 0; attempt < 3; attempt += 1) {
      await page.reload();
      await ready(page);
      paint = Math.min(
        paint,
        await page.evaluate(
          "(() => { const [first] = performance.getEntriesByName('first-contentful-paint'); const [page] = performance.getEntriesByType('navigation'); return first.startTime - page.responseEnd; })()",
        ),
      );
      took = Math.min(
        took,
        await page.evaluate(
          `(() => { const field = document.querySelector('[data-param="devices.q"]'); field.value = 'ember-${attempt}'; const start = performance.now(); field.dispatchEvent(new Event('input', { bubbles: true })); return performance.now() - start; })()`,
        ),
      );
    }
    expect(
      await page.getByRole("table", { name: "devices" }).locator("tbody tr").count(),
    ).toBeLessThanOrEqual(200);
    process.stderr.write(
      `landing page, 10,000 devices: first paint ${Math.round(paint)} ms after the answer, a filter ${Math.round(took)} ms\n`,
    );
    const slower = slowness();
    expect(paint).toBeLessThan(300 * slower);
    expect(took).toBeLessThan(100 * slower);
  });
});
