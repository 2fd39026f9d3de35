import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { PageState } from "../../../../gateway/web/page-state.ts";
import {
  MAX_ROWS,
  PAGE_ROWS,
  selectRows,
  table,
  type TableOptions,
} from "../../../../gateway/web/pieces/table.ts";
import { renderHtml } from "../render-html.ts";

interface Row {
  readonly name: string;
  readonly size: number;
}

const options = (rows: readonly Row[]): TableOptions<Row> => ({
  id: "t",
  what: "rows",
  rows,
  keyOf: ({ name }) => name,
  empty: "Nothing is here: make some.",
  columns: [
    {
      key: "name",
      title: "Name",
      text: ({ name }) => name,
      order: ({ name }) => name,
      cell: ({ name }) => name,
    },
    {
      key: "size",
      title: "Size",
      figure: true,
      order: ({ size }) => size,
      cell: ({ size }) => size,
    },
  ],
});
const state = (query: string): PageState => ({
  params: new URLSearchParams(query),
  nowMs: 0,
  zone: "UTC",
  panel: undefined,
});
const many = Array.from({ length: 10_000 }, (_, index) => ({
  name: `row ${index}`,
  size: index % 97,
}));

describe("a table", () => {
  it("orders by any column, both ways, and keeps rows that are equal in their order", () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ name: fc.string(), size: fc.integer() }), { maxLength: 50 }),
        (rows) => {
          const up = selectRows(options(rows), state("t.sort=size")).rows;
          expect(up).toEqual([...rows].sort((a, b) => a.size - b.size));
          expect(
            selectRows(options(rows), state("t.sort=-size")).rows.map(({ size }) => size),
          ).toEqual(up.map(({ size }) => size).toReversed());
        },
      ),
    );
  });

  it("shows the rows that hold every word of the filter, in any case", () => {
    expect(
      selectRows(
        options([
          { name: "Atlas One", size: 1 },
          { name: "atlas two", size: 2 },
        ]),
        state("t.q=TWO+atlas"),
      ).rows.map(({ size }) => size),
    ).toEqual([2]);
  });

  it("draws at most a page of ten thousand rows, more when asked, and never all", () => {
    expect(selectRows(options(many), state("")).rows).toHaveLength(PAGE_ROWS);
    expect(selectRows(options(many), state(`t.rows=${PAGE_ROWS * 2}`)).rows).toHaveLength(
      PAGE_ROWS * 2,
    );
    for (const odd of ["1e9", "-1", "x", "99999999"])
      expect(selectRows(options(many), state(`t.rows=${odd}`)).rows.length).toBeLessThanOrEqual(
        MAX_ROWS,
      );
    const text = renderHtml(table(options(many), state("")));
    expect(text).toContain("200 of 10,000 rows");
    expect(text.match(/<tr/g)).toHaveLength(PAGE_ROWS + 1);
    expect(text).toContain("Show 200 more");
  });

  it("says how to see the rest where no more rows can be shown", () => {
    expect(renderHtml(table(options(many), state(`t.rows=${MAX_ROWS}`)))).toContain(
      "filter for the others",
    );
  });

  it("links each head to the next order and keeps the other choices", () => {
    const text = renderHtml(table(options(many.slice(0, 9)), state("network=home&t.sort=name")));
    expect(text).toContain('href="?network=home&amp;t.sort=-name#t-table"');
    expect(text).toContain('href="?network=home&amp;t.sort=size#t-table"');
    expect(text).toContain('aria-sort="ascending"');
    expect(renderHtml(table(options(many.slice(0, 9)), state("t.sort=-name")))).toContain(
      'href="?#t-table"',
    );
  });

  it("says what to do when there is nothing, and how to go back when nothing matches", () => {
    expect(renderHtml(table(options([]), state("")))).toContain("Nothing is here: make some.");
    expect(renderHtml(table(options(many.slice(0, 9)), state("t.q=zzz")))).toContain(
      "None of the 9 rows matches.",
    );
  });
});
