import { join } from "node:path";
import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { openArchive, openPath } from "../../../src/dedup/archives/open.ts";
import { systemClock } from "../../../src/kernel/base/clock.ts";
import { systemIds } from "../../../src/kernel/base/ids.ts";
import { Secret } from "../../../src/kernel/base/secret.ts";
import { createClientFactory } from "../../../src/kernel/client/client.ts";
import { createInlinePool } from "../inline-pool.ts";
import { folderWith, readAll, refsOf } from "./reading.ts";

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
});
