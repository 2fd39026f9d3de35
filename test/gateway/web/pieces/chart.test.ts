import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { outcomes, sparkline, timeSeries } from "../../../../gateway/web/pieces/chart.ts";
import { renderHtml } from "../render-html.ts";

describe("a line", () => {
  it("stays inside its box whatever the values are", () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e12, max: 1e12 }), {
          minLength: 1,
          maxLength: 60,
        }),
        (points) => {
          const path =
            /class="line" d="([^"]*)"/.exec(renderHtml(sparkline(points, "x")))?.[1] ?? "";
          for (const [, x, y] of path.matchAll(/[ML]([-\d.e+]+) ([-\d.e+]+)/g)) {
            expect(Number(x)).toBeGreaterThanOrEqual(0);
            expect(Number(x)).toBeLessThanOrEqual(120);
            expect(Number(y)).toBeGreaterThanOrEqual(2);
            expect(Number(y)).toBeLessThanOrEqual(26);
          }
          expect(path).not.toMatch(/NaN|Infinity/);
        },
      ),
    );
  });

  it("says in words what it draws", () => {
    expect(renderHtml(sparkline([3, 1, 2], "calls"))).toContain(
      'aria-label="calls: 2 now, from 1 to 3 over 3 samples"',
    );
    expect(renderHtml(outcomes([true, false]))).toContain(
      'aria-label="last 2 runs: 1 failed, the newest too"',
    );
    expect(renderHtml(outcomes([true, true]))).toContain("all succeeded");
  });

  it("is replaced by words while there is nothing to draw", () => {
    expect(renderHtml(sparkline(undefined, "calls"))).toContain("no points yet");
    expect(
      renderHtml(timeSeries({ title: "Heap", points: [1], format: String, span: () => "" })),
    ).toContain("after the second sample");
  });

  it("has no line after one sample, even with a value now", () => {
    const only = { title: "Heap", points: [1], now: 2, format: String, span: () => "0 s ago" };
    const html = renderHtml(timeSeries({ ...only, none: "No collector has run yet." }));
    expect(html).toContain("after the second sample");
    expect(html).not.toMatch(/0 s ago|No collector/);
  });

  it("says how far back it reaches", () => {
    expect(
      renderHtml(
        timeSeries({
          title: "Heap",
          points: [1, 2, 3],
          format: String,
          span: (points) => `${(points - 1) * 10} s ago`,
        }),
      ),
    ).toContain("20 s ago");
  });

  it("has an axis from zero that reaches up to the figure beside the title, whatever is so now", () => {
    const axis = (points: readonly number[], now?: number) =>
      /<strong>(.*?)<\/strong>.*class="axis"><span>(.*?)<\/span><span>(.*?)<\/span>/
        .exec(
          renderHtml(timeSeries({ title: "Heap", points, now, format: String, span: () => "" })),
        )
        ?.slice(1);
    expect(axis([80, 82, 81])).toEqual(["81", "82", "0"]);
    expect(axis([80, 82, 81], 95)).toEqual(["95", "95", "0"]);
    expect(axis([7, 7], 7)).toEqual(["7", "7", "0"]);
    expect(axis([0, 0])).toEqual(["0", "1", "0"]);
  });
});
