import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { createReachability } from "../../../src/dedup/api/reachability.ts";
import type { Archive } from "../../../src/dedup/archives/archive.ts";
import { StewardError } from "../../../src/kernel/base/errors.ts";
import { createHandClock } from "../store-bench.ts";

function archive(check: Archive["check"]): Archive {
  return {
    name: "papers",
    kind: "folder",
    check,
    read: () => ({
      [Symbol.asyncIterator]: () => ({
        next: () => Promise.resolve({ done: true, value: undefined }),
      }),
    }),
  };
}

describe("what is known of archives", () => {
  it("is from memory: a check older than ten seconds is made anew in the background, and the one before counts until it ends", async () => {
    const clock = createHandClock();
    let [checks, away] = [0, true];
    const papers = [
      archive(
        () => (
          (checks += 1),
          away
            ? Promise.reject(new StewardError("upstream", "gone", { rule: "ENOENT" }))
            : Promise.resolve()
        ),
      ),
    ];
    const reachability = createReachability(clock);
    expect(reachability.known(papers)).toEqual([]);
    await setImmediate();
    expect([reachability.known(papers), checks]).toEqual([
      [{ archive: "papers", failure: "not found" }],
      1,
    ]);
    away = false;
    clock.advance(10_000);
    expect([reachability.known(papers), checks]).toEqual([
      [{ archive: "papers", failure: "not found" }],
      2,
    ]);
    await setImmediate();
    expect([reachability.known(papers), checks]).toEqual([[], 2]);
  });

  it("is a timeout once a check takes five seconds, and there is never a second one beside it", () => {
    const clock = createHandClock();
    let checks = 0;
    const papers = [archive(() => ((checks += 1), new Promise(() => undefined)))];
    const reachability = createReachability(clock);
    expect(reachability.known(papers)).toEqual([]);
    clock.advance(5_000);
    expect(reachability.known(papers)).toEqual([{ archive: "papers", failure: "timeout" }]);
    clock.advance(60_000);
    expect([reachability.known(papers), checks]).toEqual([
      [{ archive: "papers", failure: "timeout" }],
      1,
    ]);
  });
});
