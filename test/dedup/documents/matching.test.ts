import { describe, expect, it } from "vitest";
import { createMatching } from "../../../src/dedup/documents/matching.ts";
import type { DocumentFilter } from "../../../src/dedup/documents/index.ts";

function countingIndex() {
  const asked: DocumentFilter[] = [];
  return {
    asked,
    revision: 1,
    select(filter: DocumentFilter) {
      asked.push(filter);
      return { docNos: [asked.length], total: 1 };
    },
  };
}

describe("the documents that match a filter", () => {
  it("are looked for once while no document changes", () => {
    const index = countingIndex();
    const matching = createMatching(index);
    const first = matching({ search: "a" });
    expect([...first]).toEqual([1]);
    expect(matching({ search: "a" })).toBe(first);
    expect([...matching({ sinceMs: 5 })]).toEqual([2]);
    index.revision += 1;
    expect([...matching({ search: "a" })]).toEqual([3]);
    expect(index.asked).toHaveLength(3);
  });

  it("are kept for the four filters that were used last", () => {
    const index = countingIndex();
    const matching = createMatching(index);
    for (const search of ["a", "b", "c", "d", "a", "e"]) matching({ search });
    expect(index.asked).toHaveLength(5);
    matching({ search: "a" });
    expect(index.asked).toHaveLength(5);
    matching({ search: "b" });
    expect(index.asked).toHaveLength(6);
  });
});
