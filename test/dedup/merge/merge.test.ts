import { describe, expect, it } from "vitest";
import { mergeFields, planMerge } from "../../../src/dedup/merge/merge.ts";
import type { LiveDocument } from "../../../src/dedup/paperless/live-document.ts";

function live(id: number, fields: Partial<LiveDocument> = {}): LiveDocument {
  return {
    id,
    version: "1/0",
    title: "",
    content: "",
    created: "2024-03-01",
    added: undefined,
    modified: undefined,
    originalFileName: undefined,
    pageCount: undefined,
    tags: [],
    correspondent: undefined,
    documentType: undefined,
    notes: [],
    ...fields,
  };
}

describe("planMerge", () => {
  it("adds tags and notes once each, in the order of the members", () => {
    const primary = live(1, { tags: [5], notes: [{ id: 3, note: "own" }] });
    const plan = planMerge(
      primary,
      [
        live(2, {
          tags: [7, 5],
          notes: [
            { id: 9, note: "b" },
            { id: 8, note: "a" },
          ],
        }),
        live(3, { tags: [6, 7], notes: [{ id: 10, note: "own" }] }),
      ],
      mergeFields,
    );
    expect(plan.change).toEqual({ tags: [5, 7, 6] });
    expect(plan.notes).toEqual(["a", "b"]);
    expect(plan.changes).toEqual([
      { field: "tags", before: [5], after: [5, 7, 6], from: [2, 3] },
      { field: "notes", before: ["own"], after: ["own", "a", "b"], from: [2] },
    ]);
  });

  it("takes a correspondent where there is none, and keeps the one that is there", () => {
    const members = [live(2, { correspondent: 4, documentType: 8 }), live(3, { correspondent: 5 })];
    const plan = planMerge(live(1, { documentType: 9 }), members, mergeFields);
    expect(plan.change).toEqual({ correspondent: 4 });
    expect(plan.kept).toEqual([{ field: "documentType", before: [9], after: [8], from: [2] }]);
  });

  it("takes the earliest date, whatever form it is shown in", () => {
    const members = [live(2, { created: "2023-01-02T00:00:00+00:00" }), live(3)];
    expect(planMerge(live(1), members, mergeFields).change).toEqual({ created: "2023-01-02" });
    expect(planMerge(live(1, { created: "2020-01-01" }), members, mergeFields).change).toEqual({});
  });

  it("changes nothing for equal documents, nor in fields that were not asked for", () => {
    const member = live(2, { tags: [1], correspondent: 2, created: "2001-01-01" });
    expect(planMerge(live(1), [live(2)], mergeFields)).toEqual({
      change: {},
      notes: [],
      changes: [],
      kept: [],
    });
    expect(planMerge(live(1), [member], ["tags"]).change).toEqual({ tags: [1] });
    expect(planMerge(live(1), [member], []).changes).toEqual([]);
  });
});
