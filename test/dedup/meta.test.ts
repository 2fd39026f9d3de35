import { describe, expect, it } from "vitest";
import {
  metaDocNos,
  metaNumber,
  setMetaDocNos,
  setMetaNumber,
  setMetaText,
} from "../../src/dedup/meta.ts";
import { meta } from "../../src/dedup/tables.ts";
import { openBench } from "./store-bench.ts";

describe("the facts about the store", () => {
  it("are absent until they are set, and can be forgotten", async () => {
    const { env } = await openBench();
    const read = (): unknown =>
      env.read((snapshot) => [
        metaNumber(snapshot, "lastSyncAtMs"),
        snapshot.get(meta, "analysisFingerprint")?.text,
        metaDocNos(snapshot, "rewriting"),
      ]);
    expect(read()).toEqual([undefined, undefined, []]);
    await env.write((tx) => {
      setMetaNumber(tx, "lastSyncAtMs", 1_700_000_000_123.5);
      setMetaText(tx, "analysisFingerprint", "f");
      setMetaDocNos(tx, "rewriting", [1, 4_294_967_295]);
    });
    expect(read()).toEqual([1_700_000_000_123.5, "f", [1, 4_294_967_295]]);
    await env.write((tx) => {
      setMetaNumber(tx, "lastSyncAtMs", undefined);
      setMetaText(tx, "analysisFingerprint", undefined);
      setMetaDocNos(tx, "rewriting", []);
    });
    expect(read()).toEqual([undefined, undefined, []]);
  });
});
