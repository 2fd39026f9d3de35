/** Words that a reader would have to learn first stay out of the code: the field has terms for what they meant here. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const root = join(import.meta.dirname, "../..");

/** The word, what to write instead, and the files that may hold it. */
const words: readonly (readonly [RegExp, string, RegExp])[] = [
  // The name of a store on disk, a part of an identifier on the wire, invented documents.
  [
    /\bhouse\b/i,
    "process, gateway, daemon or service",
    /^src\/(kernel\/state\/table|tokens\/vault\/manager|demo\/\w+)\.ts$/,
  ],
  [/\bjourney\b/i, "request or request context", /^$/],
  [/\bheard\b/i, "received or subscribed", /^$/],
  [/\bcupboard\b/i, "private storage", /^src\/demo\/\w+\.ts$/],
  [/\bmisbehave\b/i, "inject a fault", /^$/],
  [/\b(MOST|LONGEST|LARGEST|DEEPEST|SHORTEST|LEAST)_[A-Z]/, "MAX_ or MIN_", /^$/],
  [/\b\w+Sound\b/, "a verb: checkX or validateX", /^$/],
  [
    /\bRESOLUTIONS\b|\bKERNEL §|\bDESIGN\.md|\bfacts, [a-z-]+ §|\bfacts §|\bcontract §/,
    "a page below docs/, or a public specification",
    /^$/,
  ],
];

it("no name, comment or text has a word of our own where the field has one", () => {
  const files = globSync(["src/**/*.ts", "gateway/**/*.ts", "workers/**/*.ts", "tools/**/*.ts"], {
    cwd: root,
    exclude: ["src/gen/**"],
  });
  const found = files.flatMap((file) =>
    readFileSync(join(root, file), "utf8")
      .split("\n")
      .flatMap((line, index) =>
        words
          .filter(([word, , except]) => word.test(line) && !except.test(file))
          .map(([, instead]) => `${file}:${index + 1}: write ${instead}: ${line.trim()}`),
      ),
  );
  expect(found).toEqual([]);
});
