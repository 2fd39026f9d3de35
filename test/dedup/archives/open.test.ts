import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { Readable } from "node:stream";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { openArchive, openPath } from "../../../src/dedup/archives/open.ts";
import { systemClock } from "../../../src/kernel/base/clock.ts";
import { systemIds } from "../../../src/kernel/base/ids.ts";
import { Secret } from "../../../src/kernel/base/secret.ts";
import { createClientFactory } from "../../../src/kernel/client/client.ts";
import { pdf } from "../../support/documents.ts";
import { createInlinePool } from "../inline-pool.ts";
import { folderWith, readAll, refsOf, skippedOf } from "./reading.ts";

const deps = {
  pool: createInlinePool(),
  clock: systemClock,
  clients: createClientFactory({ clock: systemClock, ids: systemIds, version: "test" }),
};

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
    const paperless = { name: "p", include: [], exclude: [], url: "http://127.0.0.1:1" };
    expect(
      openArchive(deps, { ...paperless, kind: "paperless", token: Secret.of("t", "test") }),
    ).toMatchObject({ name: "p", kind: "paperless" });
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

  it.each([
    ["letter.pdf", pdf(["words"]), "file"],
    ["noname", pdf(["words"]), "file"],
    ["data.json", '{\n  "id": 1\n}', "file"],
    ["list.json", '[{"id":1}]', "file"],
    ["notes.jsonl.txt", "no lines", "file"],
    ["empty", "", "file"],
    ["lines.jsonl", "{broken", "jsonl"],
    ["lines.ndjson.gz", gzipSync('{"id":1}'), "jsonl"],
    ["train-00000", '{"text":"a"}\n{"text":"b"}\n', "jsonl"],
    ["one-line", '{"text":"a"}', "jsonl"],
    ["long-line", `{"text":"${"word ".repeat(50_000)}"}\n`, "jsonl"],
    ["packed.gz", gzipSync('{"text":"a"}\n'), "jsonl"],
    ["packed.zst", zstdCompressSync('{"text":"a"}\n'), "jsonl"],
    ["packed.bz2", execFileSync("bzip2", { input: '{"text":"a"}\n' }), "jsonl"],
    ["prose.gz", gzipSync("{not json"), "file"],
  ])("reads %s by its content", async (name, content, kind) => {
    const path = join(folderWith({ [name]: content }), name);
    expect((await openPath(deps, path, Readable.from([]))).kind).toBe(kind);
  });

  it("names why a single file gives nothing, whatever its name", async () => {
    const folder = folderWith({
      "photo.png": Buffer.from("89504e470d0a1a0a", "hex"),
      "a.pdf": pdf([""]),
    });
    const items = await Promise.all(
      ["photo.png", "a.pdf"].map(async (name) =>
        readAll(await openPath(deps, join(folder, name), Readable.from([]))),
      ),
    );
    expect(items.flatMap(skippedOf).map(({ reason, failure }) => [reason, failure])).toEqual([
      ["not text", true],
      ["no text layer (needs OCR)", true],
    ]);
  });
});
