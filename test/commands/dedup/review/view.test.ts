import { describe, expect, it } from "vitest";
import { breakAnywhere, flow } from "../../../../src/commands/dedup/review/lines.ts";
import { differenceLines } from "../../../../src/commands/dedup/review/difference.ts";
import { styleFor } from "../../../../src/commands/dedup/review/style.ts";
import { GROUP_KEYS, layOut } from "../../../../src/commands/dedup/review/view.ts";
import { displayWidth } from "../../../../src/commands/report/text.ts";

const plain = styleFor({ NO_COLOR: "1" });

describe("the screen of the review", () => {
  it.each([1, 2, 3, 5, 24, 100])("has no more than %i rows", (rows) => {
    const body = Array.from({ length: 60 }, (_, at) => `line ${at}`);
    const screen = { title: "Group 1", body, message: "", keys: GROUP_KEYS };
    const lines = layOut(screen, 0, { columns: 40, rows }, plain);
    expect(lines.length).toBeLessThanOrEqual(rows);
    expect(lines.at(-1)).toMatch(/^\? help/);
    for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(40);
  });

  it("shows all keys on 80 columns", () => {
    const screen = { title: "", body: [], message: "", keys: GROUP_KEYS };
    expect(layOut(screen, 0, { columns: 79, rows: 24 }, plain).at(-1)).toContain("q quit");
  });
});

describe("lines", () => {
  it.each(["/a/long/path/to/a/file.txt", "日本語の長いファイル名.txt", "e\u0301".repeat(50)])(
    "hold all of %s",
    (text) => {
      const lines = breakAnywhere(text, 8);
      expect(lines.join("")).toBe(text);
      for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(8);
    },
  );

  it("flow words within the columns", () => {
    const pieces = "one two three fourteenletters five"
      .split(" ")
      .map((text) => ({ text, style: (shown: string) => shown }));
    expect(flow(pieces, 9)).toEqual(["one two", "three", "fourteenl", "etters", "five"]);
  });
});

describe("the difference of two texts", () => {
  const words = (from: number, to: number): string =>
    Array.from({ length: to - from }, (_, at) => `word${from + at}`).join(" ");

  it("marks what each has instead of the other's, and cuts what is equal", () => {
    const text = differenceLines(
      `${words(0, 100)} old ${words(100, 200)}`,
      `${words(0, 100)} new one ${words(100, 200)}`,
      {
        columns: 79,
        style: plain,
      },
    ).join(" ");
    expect(text).toContain("word99 [-old-] {+new one+} word100");
    expect(text).toContain("…(88 equal words)…");
    expect(text).not.toContain("word50");
  });

  it("says when there is none, and escapes what would move the cursor", () => {
    expect(differenceLines("a b", "a  b", { columns: 40, style: plain })).toEqual([
      "The same words.",
    ]);
    const lines = differenceLines("a", "\u001b[2Jb", { columns: 40, style: plain });
    expect(lines.join("")).not.toContain("\u001b");
  });
});
