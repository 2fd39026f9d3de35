import { stripVTControlCharacters } from "node:util";
import { describe, expect, it } from "vitest";
import { formatGroup, formatGroups } from "../../../src/commands/report/groups.ts";
import { displayWidth } from "../../../src/commands/report/text.ts";
import { createStyle } from "../../../src/commands/report/style.ts";
import type { ReportGroup } from "../../../src/commands/report/types.ts";

const style = createStyle(false);
const plain = { columns: undefined, style };

const group: ReportGroup = {
  id: "g1",
  confidence: 0.9683,
  jaccard: 0.94,
  fuzzy: 0.99,
  discriminative: 1,
  status: "pending",
  members: [
    { id: "archive/minutes/fence.txt", title: "The garden fence", primary: true, words: 29 },
    { id: "archive/minutes/fence-copy.txt", title: "fence-copy", primary: false, words: 1 },
  ],
  reasons: ["24 of 30 three-word runs are shared", "the texts differ in one word"],
};

describe("a group for people", () => {
  it("shows confidence, members, the one to keep and the reasons", () => {
    expect(formatGroup(group, 3, plain)).toBe(
      [
        "Group 3: 96 %, 2 documents",
        '   * archive/minutes/fence.txt  "The garden fence" (29 words)',
        "     archive/minutes/fence-copy.txt (1 word)",
        "     - 24 of 30 three-word runs are shared",
        "     - the texts differ in one word",
        "",
        "",
      ].join("\n"),
    );
  });

  it("marks what was cut and what is the same file", () => {
    const [first, second] = group.members;
    if (first === undefined || second === undefined) throw new Error("two members");
    const members = [
      { ...first, truncated: true as const },
      { ...second, hardLinkOf: first.id },
    ];
    const lines = formatGroup({ ...group, members }, 1, plain).split("\n");
    expect(lines.slice(1, 3)).toEqual([
      '   * archive/minutes/fence.txt  "The garden fence" (29 words, truncated)',
      "     archive/minutes/fence-copy.txt (1 word, hard link)",
    ]);
  });

  it("fits the terminal, but never cuts an id", () => {
    const id = `archive/${"日本語/".repeat(20)}scan-0001.txt`;
    const long = {
      ...group,
      members: [
        { id, title: "A title", primary: true, words: 12_345 },
        { id: "short.txt", title: "word ".repeat(40), primary: false, words: 5 },
      ],
      reasons: ["word ".repeat(40).trim()],
    };
    for (const columns of [40, 61, 80, 200]) {
      const lines = formatGroup(long, 1, { columns, style }).split("\n");
      expect(lines.filter((line) => displayWidth(line) > columns && !line.includes(id))).toEqual(
        [],
      );
      expect(lines[1]?.startsWith(`   * ${id}`)).toBe(true);
      if (columns < 200) expect(lines[2]).toBe('       "A title" (12,345 words)');
    }
  });

  it("is coloured where colours are wanted, and is the same without them", () => {
    const coloured = formatGroup(group, 1, { ...plain, style: createStyle(true) });
    expect(coloured).toContain("\u001b[32m*\u001b[39m");
    expect(stripVTControlCharacters(coloured)).toBe(formatGroup(group, 1, plain));
  });

  it("lets nothing reach the terminal raw", () => {
    const evil = {
      ...group,
      members: [{ id: "a\u001b]0;x\u0007.txt", title: "b\n\u202ec", primary: false, words: 2 }],
      reasons: ["\u009b2J"],
      status: "ig\rnored",
    };
    const text = formatGroup(evil, 1, plain);
    expect(text.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\u202e]/u);
    expect(text).toContain('a\\u001b]0;x\\u0007.txt  "b\\n\\u202ec" (2 words)');
  });

  it("is made only when its turn comes", () => {
    let made = 0;
    function* endless(): Generator<ReportGroup> {
      for (;;) {
        made += 1;
        yield group;
      }
    }
    const texts = formatGroups(endless(), { columns: 80, style });
    texts.next();
    expect(texts.next().value).toContain("Group 2:");
    expect(made).toBe(2);
  });
});
