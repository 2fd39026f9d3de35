import { describe, expect, it } from "vitest";
import { failed } from "../../../src/dedup/archives/archive.ts";
import { createSeen } from "../../../src/dedup/sync/seen.ts";

describe("what a reading has seen", () => {
  it("counts each document once, whatever its number", () => {
    const seen = createSeen();
    for (const docNo of [0, 7, 8, 8, 5_000_000]) seen.add(docNo);
    expect([seen.size, seen.has(7), seen.has(9), seen.has(5_000_000), seen.has(4_999_999)]).toEqual(
      [4, true, false, true, false],
    );
  });

  it("knows what may hide where", () => {
    const seen = createSeen();
    seen.hide(failed("f", "r", "d", "below"));
    seen.hide(failed("g/h", "r", "d", "itself"));
    seen.hide(failed("i", "r", "d", "none"));
    expect(
      ["f", "f/x", "f/x/y", "ff", "g/h", "g/h/x", "g", "i"].map((ref) => seen.hidden(ref)),
    ).toEqual([true, true, true, false, true, false, false, false]);
    expect([seen.anywhere, seen.hidesSomething]).toEqual([0, true]);
  });
});
