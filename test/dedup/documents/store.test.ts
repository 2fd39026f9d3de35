import { zstdCompressSync } from "node:zlib";
import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { openDocumentStore } from "../../../src/dedup/documents/store.ts";
import { DocumentRowSchema } from "../../../src/gen/steward/state/v1/dedup_pb.ts";
import type { DocumentRow } from "../../../src/gen/steward/state/v1/dedup_pb.ts";
import { never, openBench } from "../store-bench.ts";

function row(docNo: number, hash: number): DocumentRow {
  return create(DocumentRowSchema, {
    docNo,
    id: `id-${docNo}`,
    archive: "a",
    archiveRef: `ref-${docNo}`,
    title: "t",
    contentHash: new Uint8Array(32).fill(hash),
  });
}

describe("the document store", () => {
  it("finds rows by number, id and reference, and lists them again after a restart", async () => {
    const { env, textEnv, store } = await openBench();
    await env.write((tx) => {
      for (let docNo = 1; docNo <= 300; docNo++) store.put(tx, row(docNo, 1));
    });
    expect([
      store.row(7)?.id,
      store.byId("id-8")?.docNo,
      store.byRef("a", "ref-9")?.docNo,
      store.byRef("b", "ref-9"),
      store.byId(""),
    ]).toEqual(["id-7", 8, 9, undefined, undefined]);
    await env.write((tx) => store.remove(tx, 7));
    const again = await openDocumentStore({ env, textEnv }, { archiveOrder: [], signal: never });
    for (const one of [store, again])
      expect([
        one.index.size,
        one.row(7),
        one.index.select({}, { offset: 0, limit: 1 }).total,
      ]).toEqual([299, undefined, 299]);
  });

  it("keeps the list as it was when a write fails", async () => {
    const { env, store } = await openBench();
    await expect(
      env.write((tx) => {
        store.put(tx, row(1, 1));
        throw new Error("no");
      }),
    ).rejects.toThrow("no");
    expect(store.index.size).toBe(0);
  });

  it("believes a text only with the row's hash", async () => {
    const { store } = await openBench();
    const zstd = zstdCompressSync("some text – with dashes");
    await store.putTexts([{ docNo: 1, contentHash: row(1, 1).contentHash, zstd }]);
    expect(await store.fullText(row(1, 1))).toBe("some text – with dashes");
    expect(store.text(row(1, 2))).toBeUndefined();
    expect(await store.fullText({ docNo: 1, contentHash: new Uint8Array(0) })).toBeUndefined();
    await store.dropTexts([1]);
    expect(await store.fullText(row(1, 1))).toBeUndefined();
  });

  it("stores many and large texts in bounded transactions", async () => {
    const { textEnv, store } = await openBench();
    const large = Array.from({ length: 5 }, (_, at) => ({
      docNo: at + 1,
      contentHash: row(1, at).contentHash,
      zstd: new Uint8Array(900_000).fill(at),
    }));
    await store.putTexts([
      ...large,
      ...Array.from({ length: 500 }, (_, at) => ({
        docNo: at + 10,
        contentHash: row(1, 9).contentHash,
        zstd: new Uint8Array(2_000),
      })),
    ]);
    expect(textEnv.status().rows["texts"]).toBe(505);
    expect(store.text(row(3, 2))?.byteLength).toBe(900_000);
  });

  it("says that a text is damaged instead of giving half of it", async () => {
    const { store } = await openBench();
    await store.putTexts([
      {
        docNo: 1,
        contentHash: row(1, 1).contentHash,
        zstd: zstdCompressSync("x".repeat(1_000)).subarray(0, 8),
      },
    ]);
    await expect(store.fullText(row(1, 1))).rejects.toMatchObject({ code: "corrupt" });
  });
});
