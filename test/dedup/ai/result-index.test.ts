import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { createResultIndex } from "../../../src/dedup/ai/result-index.ts";
import { AiResultStatus } from "../../../src/gen/steward/dedup/v1/ai_pb.ts";
import { AiResultRowSchema, type AiResultRow } from "../../../src/gen/steward/state/v1/dedup_pb.ts";

function row(
  docNo: number,
  fields: Partial<Pick<AiResultRow, "createdAtMs" | "status">> = {},
): AiResultRow {
  return create(AiResultRowSchema, {
    docNo,
    id: `r${docNo}`,
    documentTitle: `Paper ${docNo}`,
    createdAtMs: 1_000 + docNo,
    status: AiResultStatus.PENDING,
    ...fields,
  });
}

const all = { offset: 0, limit: Infinity };

describe("the index of AI results", () => {
  it("lists the newest first, whatever the order of changes", async () => {
    const index = createResultIndex();
    for (const docNo of [3, 1, 2, 5, 4]) index.put(row(docNo));
    index.put(row(2, { createdAtMs: 9_000 }));
    index.put(row(3, { status: AiResultStatus.APPLIED }));
    index.remove(5);
    index.remove(77);
    const newest = [2, 4, 3, 1];
    expect(index.newest(all).map(({ docNo }) => docNo)).toEqual(newest);
    expect((await index.select({})).map(({ docNo }) => docNo)).toEqual(newest);
    expect(index.newest({ offset: 1, limit: 2 }).map(({ docNo }) => docNo)).toEqual([4, 3]);
    expect(index.size).toBe(4);
    expect(index.count(AiResultStatus.PENDING)).toBe(3);
    expect(index.count(AiResultStatus.APPLIED)).toBe(1);
    expect(index.find(2)?.createdAtMs).toBe(9_000);
    expect([5, 77].map((docNo) => index.find(docNo))).toEqual([undefined, undefined]);
    index.put(row(5, { createdAtMs: 500 }));
    expect(index.newest(all).map(({ docNo }) => docNo)).toEqual([...newest, 5]);
  });

  it("searches 100,000 results in slices, of one moment", async () => {
    const index = createResultIndex();
    for (let docNo = 1; docNo <= 100_000; docNo++) index.put(row(docNo));
    index.newest({ offset: 0, limit: 1 });
    let turns = 0;
    let isOver = false;
    const count = (): void => {
      turns += 1;
      // What changes meanwhile is in the next answer.
      if (turns === 1) index.remove(50_000);
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    let found: readonly unknown[] = [];
    // A fast machine may need a single slice for one search.
    for (let search = 0; search < 20; search++) found = await index.select({ search: "paper 9" });
    isOver = true;
    expect(found).toHaveLength(11_111);
    expect(turns).toBeGreaterThan(1);
    const controller = new AbortController();
    controller.abort(new Error("gone"));
    await expect(
      Promise.all(
        Array.from({ length: 20 }, () => index.select({ search: "x" }, controller.signal)),
      ),
    ).rejects.toThrow("gone");
  });
});
