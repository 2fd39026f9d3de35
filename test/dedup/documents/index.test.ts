import { create } from "@bufbuild/protobuf";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createDocumentIndex } from "../../../src/dedup/documents/index.ts";
import type { DocumentFilter } from "../../../src/dedup/documents/index.ts";
import { DocumentRowSchema } from "../../../src/gen/steward/state/v1/dedup_pb.ts";
import type { DocumentRow } from "../../../src/gen/steward/state/v1/dedup_pb.ts";

type Init = Partial<Omit<DocumentRow, "$typeName" | "$unknown">>;

function row(docNo: number, init: Init = {}): DocumentRow {
  return create(DocumentRowSchema, {
    docNo,
    id: `id-${docNo}`,
    archive: "a",
    archiveRef: String(docNo),
    title: `Title ${docNo}`,
    pending: true,
    ...init,
  });
}

const all = { offset: 0, limit: 100 };

function select(
  rows: readonly DocumentRow[],
  filter: DocumentFilter,
  order: readonly string[] = ["a"],
): readonly number[] {
  const index = createDocumentIndex(order);
  for (const one of rows) index.put(one);
  return index.select(filter, all).docNos;
}

describe("the list of documents", () => {
  it("is in the order of archives, then paperlessId descending, then id; archives that are not configured come last", () => {
    const rows = [
      row(1, { archive: "gone" }),
      row(2, { archive: "b", id: "z" }),
      row(3, { archive: "b", id: "A" }),
      row(4, { archive: "p", paperlessId: 3 }),
      row(5, { archive: "p", paperlessId: 20 }),
      row(6, { archive: "also" }),
    ];
    expect(select(rows, {}, ["p", "b"])).toEqual([5, 4, 3, 2, 6, 1]);
  });

  it("filters by every field, alone and together", () => {
    const rows = [
      row(1, {
        correspondent: "Bank",
        documentType: "Bill",
        tags: ["Tax 2025", "paid"],
        title: "Große RECHNUNG",
      }),
      row(2, { correspondent: "Bank", pending: false, tags: ["taxi"] }),
      row(3, { correspondent: "bank", documentType: "Letter" }),
      row(4, { tags: ["x", "y"] }),
    ];
    const cases: [DocumentFilter, number[]][] = [
      [{ correspondent: "Bank" }, [1, 2]],
      [{ correspondent: "Ban" }, []],
      [{ documentType: "Letter" }, [3]],
      [{ tag: "TAX" }, [1, 2]],
      [{ tag: "2025" }, [1]],
      [{ tag: "xy" }, []],
      [{ tag: "x\0y" }, []],
      [{ pending: false }, [2]],
      [{ pending: true }, [1, 3, 4]],
      [{ search: "rechnung" }, [1]],
      [{ search: "GROSSE" }, []],
      [{ search: "große" }, [1]],
      [{ search: "title" }, [2, 3, 4]],
      [{ correspondent: "Bank", tag: "tax", pending: true }, [1]],
      [{ correspondent: "nobody" }, []],
      [{}, [1, 2, 3, 4]],
    ];
    for (const [filter, wanted] of cases)
      expect([filter, select(rows, filter)]).toEqual([filter, wanted]);
  });

  it("agrees with a plain list after any sequence of changes", () => {
    const change = fc.record({
      docNo: fc.integer({ min: 1, max: 40 }),
      remove: fc.boolean(),
      pending: fc.boolean(),
      archive: fc.constantFrom("a", "b"),
      title: fc.constantFrom("x", "xy", "z"),
      correspondent: fc.constantFrom("p", "q", undefined),
      tags: fc.subarray(["s", "t"]),
      look: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(change, { maxLength: 120 }), (changes) => {
        const index = createDocumentIndex(["b", "a"]);
        const plain = new Map<number, DocumentRow>();
        for (const { docNo, remove, look, ...init } of changes) {
          if (remove) index.remove(docNo);
          else
            index.put(row(docNo, { ...init, archive: plain.get(docNo)?.archive ?? init.archive }));
          if (remove) plain.delete(docNo);
          else
            plain.set(
              docNo,
              row(docNo, { ...init, archive: plain.get(docNo)?.archive ?? init.archive }),
            );
          if (!look) continue;
          const kept = [...plain.values()]
            .filter(({ title }) => title.includes("x"))
            .sort((left, right) =>
              left.archive === right.archive
                ? left.id < right.id
                  ? -1
                  : 1
                : left.archive > right.archive
                  ? -1
                  : 1,
            );
          const of = (tag: string): number[] =>
            [...plain.values()]
              .filter(({ correspondent, tags }) => correspondent === "p" && tags.includes(tag))
              .map((one) => one.docNo);
          for (const tag of ["s", "t"])
            expect(new Set(index.select({ correspondent: "p", tag }, all).docNos)).toEqual(
              new Set(of(tag)),
            );
          expect(index.select({ search: "x" }, { offset: 1, limit: 3 })).toEqual({
            docNos: kept.slice(1, 4).map((one) => one.docNo),
            total: kept.length,
          });
        }
        const rows = [...plain.values()];
        expect([
          index.size,
          index.pending,
          index.sizeOf("a"),
          index.sizeOf("b"),
          index.sizeOf("c"),
        ]).toEqual([
          rows.length,
          rows.filter(({ pending }) => pending).length,
          rows.filter(({ archive }) => archive === "a").length,
          rows.filter(({ archive }) => archive === "b").length,
          0,
        ]);
        expect(index.archives().sort()).toEqual(
          [...new Set(rows.map(({ archive }) => archive))].sort(),
        );
      }),
    );
  });

  it("answers over 100,000 documents", () => {
    const index = createDocumentIndex(["a"]);
    for (let docNo = 1; docNo <= 100_000; docNo++) {
      index.put(
        row(docNo, {
          id: String((docNo * 7919) % 100_003).padStart(21, "0"),
          title: `Invoice ${docNo} of the water works`,
          tags: docNo % 3 === 0 ? ["tax"] : [],
          correspondent: `c${docNo % 50}`,
        }),
      );
    }
    index.select({}, all);
    expect(
      index.select({ search: "9999", pending: true, tag: "ta" }, { offset: 0, limit: 50 }).total,
    ).toBe(7);
    expect(index.select({ search: "nothing at all" }, { offset: 50, limit: 50 })).toEqual({
      docNos: [],
      total: 0,
    });
    const page = index.select({ search: "water" }, { offset: 99_990, limit: 50 });
    expect([page.total, page.docNos.length]).toEqual([100_000, 10]);
  });
});

/** Words of a document after a step; odd ones have text. Undefined removes it. */
const words = fc.option(fc.integer({ min: 0, max: 999 }), { nil: undefined, freq: 2 });
const steps = fc.array(fc.tuple(fc.integer({ min: 1, max: 4 }), words));

it("counts over all documents stay those of the documents present, whatever came and went", () => {
  fc.assert(
    fc.property(steps, (changes) => {
      const index = createDocumentIndex(["a"]);
      const present = new Map<number, DocumentRow>();
      for (const [docNo, wordCount] of changes) {
        if (wordCount === undefined) {
          index.remove(docNo);
          present.delete(docNo);
        } else {
          const contentHash = new Uint8Array(wordCount % 2 === 0 ? 0 : 32);
          const changed = row(docNo, { wordCount, contentHash });
          index.put(changed);
          present.set(docNo, changed);
        }
        index.statistics();
      }
      const fresh = createDocumentIndex(["a"]);
      for (const one of present.values()) fresh.put(one);
      expect(index.statistics()).toEqual(fresh.statistics());
      const texts = [...present.values()].filter(({ contentHash }) => contentHash.length > 0);
      expect(index.statistics().withContent).toBe(texts.length);
      expect(index.statistics().lengths[0]?.count).toBe(
        texts.filter(({ wordCount }) => wordCount < 100).length,
      );
    }),
  );
});
