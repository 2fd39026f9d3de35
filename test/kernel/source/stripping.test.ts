import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { keepStripped, strippedName, strippedText } from "../../../src/kernel/source/stripping.ts";

let root = "";
beforeEach(() => (root = mkdtempSync(join(tmpdir(), "steward-test-"))));
afterEach(() => rmSync(root, { recursive: true }));

const MODULE = "const answer: number = 42;\nconst stripper = process.moduleLoadList.some((each) => each.includes(\"amaro\"));\nprocess.stdout.write(`${answer} ${stripper}`);\n";

/** What a Node of its own prints that runs `source`, with the loader of `kept`. */
function run(source: string, kept: string): string {
  const file = join(root, "module.ts");
  writeFileSync(file, source);
  return execFileSync(process.execPath, ["--disable-warning=ExperimentalWarning", "--import", join(kept, "loader.mjs"), file], { encoding: "utf8", env: {} });
}

describe("keepStripped", () => {
  it("keeps each source without its types under its hash, in place of what was there", () => {
    const kept = join(root, "deep", "kept");
    keepStripped(["type A = 1;\n", "const a: number = 1;\n"], kept);
    keepStripped(["const a: number = 1;\n"], kept);
    expect(readdirSync(kept).toSorted()).toEqual([strippedName("const a: number = 1;\n"), "loader.mjs", "stripping.mjs"].toSorted());
    expect(readFileSync(join(kept, strippedName("const a: number = 1;\n")), "utf8")).toBe("const a         = 1;\n");
    expect(readdirSync(join(root, "deep"))).toEqual(["kept"]);
    expect(statSync(kept).mode & 0o777, "another account may run it").toBe(0o755);
  });
});

describe("keepStripped if missing", () => {
  it("leaves what somebody else kept, and nothing of its own", () => {
    const kept = join(root, "kept");
    keepStripped(["const a: number = 1;\n"], kept, "if-missing");
    keepStripped(["const b: number = 1;\n"], kept, "if-missing");
    expect(readdirSync(kept)).toContain(strippedName("const a: number = 1;\n"));
    expect(readdirSync(root)).toEqual(["kept"]);
  });
});

describe("A thread with the loader", () => {
  it("runs what was kept, and Node loads no stripper for it", () => {
    const kept = join(root, "kept");
    keepStripped([MODULE], kept);
    expect(run(MODULE, kept)).toBe("42 false");
  });

  it("has a source stripped by Node that was edited since", () => {
    const kept = join(root, "kept");
    keepStripped([MODULE], kept);
    expect(run(MODULE.replace("42", "43"), kept)).toBe("43 true");
  });
});

describe("strippedText", () => {
  it("is what was kept, and else what Node makes of it", () => {
    const kept = join(root, "kept");
    const source = "export const a: number = 1;\n";
    keepStripped([], kept);
    expect(strippedText(source, kept)).toBe(stripTypeScriptTypes(source));
    writeFileSync(join(kept, strippedName(source)), "kept");
    expect(strippedText(source, kept)).toBe("kept");
  });

  it("refuses what is no erasable TypeScript", () => {
    expect(() => strippedText("enum A { B }", root)).toThrow(/enum/i);
  });
});
