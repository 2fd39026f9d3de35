import { describe, expect, it } from "vitest";
import { forEachYielding } from "../../../src/monitor/collectors/yielding.ts";

const items = Array.from({ length: 1_200 }, (_, at) => at);

describe("Going over a large list", () => {
  it("visits all in order and lets others work after every 50", async () => {
    const visited: number[] = [];
    const seen: number[] = [];
    const watch = (): void => {
      seen.push(visited.length);
      if (visited.length < items.length) setImmediate(watch);
    };
    setImmediate(watch);
    await forEachYielding(items, new AbortController().signal, (item) => visited.push(item));
    expect(visited).toEqual(items);
    expect(seen.slice(0, 2)).toEqual([50, 100]);
  });

  it("ends at a break when the signal has fired", async () => {
    const stop = new AbortController();
    let visited = 0;
    await expect(
      forEachYielding(items, stop.signal, (item) => {
        visited += 1;
        if (item === 10) stop.abort(new Error("enough"));
      }),
    ).rejects.toThrow("enough");
    expect(visited).toBe(50);
  });
});
