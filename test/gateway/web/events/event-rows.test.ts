import { describe, expect, it } from "vitest";
import {
  factsOf,
  MAX_ROWS,
  withNewer,
  withOlder,
} from "../../../../gateway/web/events/event-rows.ts";
import type { Event as EventRow, EventList } from "../../../../src/gen/events-json.ts";

function answer(
  seqs: readonly number[],
  {
    cursor,
    recorded = seqs[0] ?? 0,
    evicted = 0,
  }: { cursor?: string; recorded?: number; evicted?: number } = {},
): EventList {
  const time = "2026-01-02T03:04:05Z";
  const rows = seqs.map((seq): EventRow => ({ time, source: "audit", severity: "info", seq }));
  return {
    schema_version: 1,
    stats: {
      capacity: 9,
      retained: recorded - evicted,
      recorded,
      evicted,
      earliest: time,
      latest: time,
    },
    rows,
    generated_at: time,
    matched: recorded,
    returned: rows.length,
    retained: recorded - evicted,
    truncated: evicted > 0,
    ...(cursor === undefined ? {} : { next_cursor: cursor }),
  };
}

const numbers = ({ rows }: { readonly rows: readonly EventRow[] }): number[] =>
  rows.map(({ seq }) => seq);

describe("The rows of the page of events", () => {
  it("are the newest page, older pages below it, and what arrives above", () => {
    const first = factsOf(answer([9, 8], { cursor: "8" }));
    const two = withOlder(first, answer([7, 6], { cursor: "6", recorded: 9 }));
    expect([numbers(two), two.olderCursor]).toEqual([[9, 8, 7, 6], "6"]);
    const newer = withNewer(two, answer([10, 9], { cursor: "9" }));
    expect([numbers(newer), newer.olderCursor]).toEqual([[10, 9, 8, 7, 6], "6"]);
    expect(withOlder(newer, answer([5], { recorded: 10 })).olderCursor).toBeUndefined();
  });

  it("begin anew when the answers do not overlap, so that none is missing between them", () => {
    const two = withOlder(factsOf(answer([9, 8], { cursor: "8" })), answer([7], { recorded: 9 }));
    const far = withNewer(two, answer([20, 19], { cursor: "19" }));
    expect([numbers(far), far.olderCursor]).toEqual([[20, 19], "19"]);
  });

  it("lose what the store evicted, and everything of an earlier start", () => {
    const two = withOlder(
      factsOf(answer([9, 8], { cursor: "8" })),
      answer([7, 6], { recorded: 9 }),
    );
    expect(numbers(withNewer(two, answer([10, 9], { cursor: "9", evicted: 7 })))).toEqual([
      10, 9, 8,
    ]);
    expect(numbers(withNewer(two, answer([2, 1], { recorded: 2 })))).toEqual([2, 1]);
  });

  it("are all there is when the newest page is the last one", () => {
    expect(numbers(withNewer(factsOf(answer([2, 1])), answer([3, 2, 1])))).toEqual([3, 2, 1]);
  });

  it("are never more than a page can show", () => {
    const many = Array.from({ length: MAX_ROWS }, (_, at) => MAX_ROWS + 5 - at);
    const older = withOlder(
      factsOf(answer(many, { cursor: "6" })),
      answer([5, 4], { recorded: 2_005 }),
    );
    expect(older.rows).toHaveLength(MAX_ROWS);
  });
});
