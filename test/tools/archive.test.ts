import { execFileSync } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { zstdDecompressSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { packTree } from "../../tools/build/archive.ts";

const root = join(import.meta.dirname, "../..");
const NODE = `node_modules/node-${process.platform}-${process.arch}/bin/node`;
/** A program with symbols that is quicker to pack than Node. */
const ADDON = join(root, "node_modules/lmdb/build/Release/lmdb.node");

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "steward-test-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

function smallTree(): string {
  const tree = join(folder, "tree");
  mkdirSync(join(tree, NODE, ".."), { recursive: true });
  cpSync(ADDON, join(tree, NODE));
  mkdirSync(join(tree, "bin"));
  writeFileSync(join(tree, "bin/steward"), "#!/bin/sh\n", { mode: 0o755 });
  writeFileSync(join(tree, "package.json"), '{"name":"steward","version":"1.2.3"}');
  return tree;
}

describe("the archive of a built tree", () => {
  it("holds one folder with the tree, its modes and a Node without symbols, and is always the same", () => {
    const tree = smallTree();
    const before = readFileSync(join(tree, NODE));
    const file = packTree(tree, folder, { level: 1 });
    const bytes = readFileSync(file);
    expect(basename(file)).toBe(`steward-1.2.3-${process.platform}-${process.arch}.tar.zst`);
    const unpacked = join(folder, "unpacked");
    mkdirSync(unpacked);
    execFileSync("tar", ["-x", "-C", unpacked], { input: zstdDecompressSync(bytes) });
    expect(readdirSync(unpacked)).toEqual(["steward-1.2.3"]);
    const copy = join(unpacked, "steward-1.2.3");
    expect(statSync(join(copy, "bin/steward")).mode & 0o777).toBe(0o755);
    expect(statSync(join(copy, NODE)).size).toBeLessThan(before.length);
    expect(readFileSync(join(tree, NODE))).toEqual(before);
    expect(readFileSync(packTree(tree, folder, { level: 1 }))).toEqual(bytes);
    expect(readdirSync(folder).filter((name) => name.startsWith("dist."))).toEqual([]);
  });

  it("is refused with a Node that is no program", () => {
    const tree = smallTree();
    writeFileSync(join(tree, NODE), "#!/bin/sh\n".repeat(10));
    expect(() => packTree(tree, folder, { level: 1 })).toThrow("not an ELF program with 64 bits");
  });

  it("is refused above the limit", () => {
    expect(() => packTree(smallTree(), folder, { level: 1, limitBytes: 1_000 })).toThrow(
      "more than the limit of 1000",
    );
  });
});
