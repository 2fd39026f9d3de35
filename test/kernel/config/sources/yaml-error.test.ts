import { describe, expect, it } from "vitest";
import { formatFinding } from "../../../../src/kernel/config/findings.ts";
import { readYaml } from "../../../../src/kernel/config/sources/file.ts";

const words = new Set(["gateway", "listen", "headers", "token", "otlp"]);

function first(text: string): string {
  const [finding] = readYaml(text, "s.yaml", words).findings;
  if (finding === undefined) throw new Error("no finding");
  return formatFinding(finding);
}

describe("a mistake in YAML is told with line, column and excerpt:", () => {
  it.each([
    [
      'gateway:\n  listen: "127.0.0.1:0\notlp:\n  x: 1\n',
      'this quote is not closed, column 11 of `listen: "…` (line 2)',
    ],
    [
      "gateway:\n  listen: 1\n listen: x\n",
      "this is indented unlike the lines it belongs to, column 1 of `listen: …` (line 3)",
    ],
    [
      "gateway:\n\tlisten: 1\n",
      "a tab is used where only spaces are allowed, column 1 of `listen: …` (line 2)",
    ],
    [
      "gateway: {listen: 1, listen: 2}\n",
      "this key occurs twice, column 22 of `gateway: {listen: …, listen: …}` (line 1)",
    ],
    ["otlp:\n  headers: [a, b\n", "the text ends before a bracket is closed, column 1 (line 3)"],
    [
      "gateway\n  listen: 5\n",
      "a key must be on one line, and a colon must be followed by a space, column 1 of `…` (line 1)",
    ],
    [
      "otlp:\n  token: a: b\n",
      "a second colon in one line: put the value in quotes, column 10 of `token: …` (line 2)",
    ],
  ])("%j", (text, expected) => {
    expect(first(text)).toBe(`ERROR s.yaml: is not valid YAML: ${expected}`);
  });

  it("never with a value, whatever it is", () => {
    for (const text of [
      'token: "canary: token: canary\n',
      "token: canary: canary\n",
      "- canary canary: x: y\n",
      "token: {canary, canary: [listen: canary, x\n",
      "canary: &canary !canary *canary |canary\n",
      "headers: {listen: canary, listen: canary}\n",
    ]) {
      for (const finding of readYaml(text, "s.yaml", words).findings)
        expect(formatFinding(finding)).not.toContain("canary");
      expect(readYaml(text, "s.yaml", words).findings).not.toEqual([]);
    }
  });
});
