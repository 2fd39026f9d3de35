import { describe, expect, it } from "vitest";
import { watchMints } from "../../../src/tokens/telemetry/last-mints.ts";
import { unobserved, type Outcome } from "../../../src/tokens/telemetry/observer.ts";

describe("the newest mints", () => {
  it("are failing while the newest one that its caller was allowed failed, and name the last refusal", () => {
    let nowMs = 0;
    const seen: Outcome[] = [];
    const { observe, last } = watchMints(
      { now: () => nowMs },
      { ...unobserved, mint: ({ outcome }) => void seen.push(outcome) },
    );
    const mint = (outcome: Outcome) => {
      nowMs += 1;
      observe.mint({ mount: "github/", outcome, tookMs: 1 });
      return last();
    };
    expect(last()).toEqual({ failing: undefined, refusedAtMs: undefined });
    expect(mint("denied")).toEqual({ failing: undefined, refusedAtMs: 1 });
    expect(mint("upstream")).toEqual({ failing: { atMs: 2, outcome: "upstream" }, refusedAtMs: 1 });
    expect(mint("invalid")).toEqual({ failing: { atMs: 2, outcome: "upstream" }, refusedAtMs: 3 });
    expect(mint("ok")).toEqual({ failing: undefined, refusedAtMs: 3 });
    expect(seen).toEqual(["denied", "upstream", "invalid", "ok"]);
  });
});
