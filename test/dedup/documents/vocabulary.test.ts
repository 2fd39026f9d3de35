import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createVocabulary } from "../../../src/dedup/documents/vocabulary.ts";

describe("the names of a column", () => {
  it("are forgotten with the last row that has them, so that a column that changes for years stays small", () => {
    const names = createVocabulary();
    let code = names.take("tag 0");
    const codes = new Set<number>();
    for (let turn = 1; turn < 10_000; turn += 1) {
      const next = names.take(`tag ${turn}`);
      names.release(code);
      codes.add((code = next));
    }
    expect(names.all()).toEqual(["tag 9999"]);
    expect(Math.max(...codes)).toBeLessThanOrEqual(2);
  });

  it("have a code each while rows have them, whatever comes and goes", () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.tuple(
            fc.nat(5),
            fc.option(fc.constantFrom("a", "b", "c", "", "d"), { nil: undefined }),
          ),
        ),
        (changes) => {
          const names = createVocabulary();
          const rows = new Map<number, number>();
          const plain = new Map<number, string>();
          for (const [row, name] of changes) {
            const before = rows.get(row) ?? 0;
            rows.set(row, name === undefined ? 0 : names.take(name));
            names.release(before);
            if (name === undefined) plain.delete(row);
            else plain.set(row, name);
            for (const [each, text] of plain)
              expect([names.text(rows.get(each) ?? 0), names.find(text)]).toEqual([
                text,
                rows.get(each),
              ]);
            expect(names.all().toSorted()).toEqual([...new Set(plain.values())].toSorted());
            for (const text of ["a", ""])
              expect(names.count(text)).toBe(
                [...plain.values()].filter((other) => other === text).length,
              );
            expect(names.codes((text) => text > "a")).toHaveLength(
              new Set([...plain.values()].filter((text) => text > "a")).size,
            );
          }
        },
      ),
    );
  });
});
