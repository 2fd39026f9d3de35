import { describe, expect, it } from "vitest";
import { variableOf, type Schema } from "../../../src/kernel/config/key.ts";
import { monitorKeys } from "../../../src/monitor/config/keys.ts";
import { load } from "./load.ts";

/**
 * A value that no key takes, whatever its class: what is written is of another kind than what is
 * asked for.
 */
const MISTAKES: Readonly<Record<string, string>> = {
  "a map": "{canary: canary}",
  "a list of maps": "[{canary: canary}]",
  "a list of lists": "[[canary]]",
  nothing: "",
  null: "null",
  "a date": "2026-01-01",
  "a text of 100,000 characters": `"${"canary ".repeat(14_000)}"`,
};

/** YAML with one value at a dotted path. */
function yamlAt(path: string, value: string): string {
  const words = path.split(".");
  return words
    .map(
      (word, depth) =>
        `${"  ".repeat(depth)}${word}:${depth === words.length - 1 ? ` ${value}` : ""}\n`,
    )
    .join("");
}

const keys: Schema = monitorKeys;

describe("Every key of the monitor", () => {
  it("is there in number", () => {
    expect(keys.length).toBeGreaterThan(200);
  });

  it.each(Object.keys(MISTAKES))(
    "with %s where its value belongs is refused by its name or taken as what it is, and never throws",
    (mistake) => {
      const silent: string[] = [];
      for (const key of keys) {
        const { config, problems } = load(yamlAt(key.path, MISTAKES[mistake] ?? ""));
        const about = problems.filter((line) => line.startsWith("ERROR "));
        if (config === undefined)
          expect(
            about.some((line) => line.includes(key.path)),
            `${key.path}: ${problems.join("; ")}`,
          ).toBe(true);
        else silent.push(key.path);
        expect(problems.join("\n").length, key.path).toBeLessThan(5_000);
        if (key.secret === true) expect(problems.join("\n"), key.path).not.toContain("canary");
      }
      // Lists and maps are refused by all but the keys that are such.
      if (/^a (map|list)/.test(mistake)) expect(silent).toEqual([]);
    },
  );

  it("refuses a word in a variable unless it takes words", () => {
    const wordless = keys.filter(
      (key) =>
        key.secret !== true &&
        load("", { [variableOf(key.path)]: "canary-word" }).config === undefined,
    );
    const numbers = keys.filter(
      ({ path }) =>
        /(interval|timeout|_bytes|_limit|max_\w+|enabled|lookback|lag|threshold)$/.test(path) &&
        !/allow|deny/.test(path),
    );
    expect(numbers.length).toBeGreaterThan(90);
    expect(numbers.filter((key) => !wordless.includes(key)).map(({ path }) => path)).toEqual([]);
  });
});
