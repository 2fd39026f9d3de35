import { join } from "node:path";
import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { openArchive, openPath } from "../../../src/dedup/archives/open.ts";
import { createInlinePool } from "../inline-pool.ts";
import { folderWith, readAll, refsOf } from "./reading.ts";

const deps = { pool: createInlinePool() };

describe("opening an archive", () => {
  it("takes rows of the configuration", () => {
    const row = { name: "a", path: "/nowhere", include: [], exclude: [] };
    expect(openArchive(deps, { ...row, kind: "folder" })).toMatchObject({
      name: "a",
      kind: "folder",
    });
    expect(openArchive(deps, { ...row, kind: "jsonl" })).toMatchObject({
      name: "a",
      kind: "jsonl",
    });
  });

  it("takes a folder, a file or standard input from the command line", async () => {
    const folder = folderWith({ "a.txt": "a", "l.jsonl": '{"id":"x","content":"y"}' });
    const input = Readable.from([Buffer.from('{"id":"s","content":"y"}')]);
    expect(refsOf(await readAll(await openPath(deps, folder, input)))).toEqual(["a.txt"]);
    expect(refsOf(await readAll(await openPath(deps, join(folder, "l.jsonl"), input)))).toEqual([
      "x",
    ]);
    expect(refsOf(await readAll(await openPath(deps, "-", input)))).toEqual(["s"]);
    const single = await openPath(deps, join(folder, "a.txt"), input);
    expect([single.kind, refsOf(await readAll(single))]).toEqual(["file", [join(folder, "a.txt")]]);
    await expect(openPath(deps, join(folder, "none"), input)).rejects.toMatchObject({
      code: "not_found",
    });
  });
});
