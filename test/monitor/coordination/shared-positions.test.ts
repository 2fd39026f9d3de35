import { describe, expect, it } from "vitest";
import { createMemoryStore } from "../../../src/monitor/checkpoints/memory-store.ts";
import { overlapMark } from "../../../src/monitor/checkpoints/types.ts";
import { createSharedPositions } from "../../../src/monitor/coordination/shared-positions.ts";
import { createManualClock } from "../../kernel/supervisor/manual-clock.ts";

function setUp(given?: string) {
  const clock = createManualClock();
  const published: unknown[] = [];
  const shared = createSharedPositions(clock, given, (text) => published.push(JSON.parse(text)));
  const own = createMemoryStore(clock)("home");
  return { clock, published, shared, own, memory: shared.of("home", own) };
}

const text = (positions: object): string => JSON.stringify({ home: positions });

describe("Shared positions", () => {
  it("are the later of a replica's own and those of the last holder", async () => {
    const { own, memory } = setUp(text({ "mark/behind": 500, "mark/ahead": 100, "mark/new": 7 }));
    await own.marks.set("behind", 200);
    await own.marks.set("ahead", 300);
    await own.marks.set("alone", 5);
    expect(
      ["behind", "ahead", "new", "alone", "none"].map((name) => memory.marks.get(name)),
    ).toEqual([500, 300, 7, 5, undefined]);
  });

  it("are published together, half a second after the first change, and at the flush", async () => {
    const { clock, published, shared, own, memory } = setUp(text({ "mark/b": 9 }));
    await memory.marks.set("a", 1);
    await memory.marks.set("a", 2);
    await memory.marks.set("b", 3);
    await clock.advance(499);
    expect(published).toEqual([]);
    await clock.advance(1);
    expect(published).toEqual([{ home: { "mark/a": 2, "mark/b": 9 } }]);
    await clock.advance(60_000);
    expect(published.length).toBe(1);
    await memory.marks.set("a", 4);
    shared.flush();
    shared.flush();
    expect(published.slice(1)).toEqual([{ home: { "mark/a": 4, "mark/b": 9 } }]);
    expect(own.marks.get("a")).toBe(4);
  });

  it("of a clock that was ahead are replaced for all replicas", async () => {
    const { own, memory, published, shared } = setUp(text({ "mark/a": 9_000 }));
    await own.marks.set("a", 8_000);
    expect(memory.marks.get(overlapMark("a"))).toBe(9_000);
    await memory.marks.replace("a", 500);
    await memory.marks.replace(overlapMark("a"), 500);
    expect([memory.marks.get("a"), own.marks.get("a")]).toEqual([500, 500]);
    expect(memory.marks.get(overlapMark("a"))).toBe(500);
    await memory.marks.set("a", 600);
    shared.flush();
    expect(published).toEqual([{ home: { "mark/a": 600 } }]);
    expect(memory.marks.get(overlapMark("a"))).toBe(500);
  });

  it("of a bucket say up to where its lists were complete, of the replica that read further", async () => {
    const feed = "objectstore/flow/1a2b";
    const given = text({ [`${feed}/cursor`]: 900, [`${feed}/complete`]: 700 });
    const { own, memory, published, shared } = setUp(given);
    await own.evidence.change(
      new Map([
        [`${feed}/cursor`, 400],
        [`${feed}/complete`, 300],
      ]),
    );
    expect(memory.evidence.get(`${feed}/complete`)).toBe(700);
    expect(setUp().memory.evidence.get(`${feed}/complete`)).toBeUndefined();
    const { own: old, memory: withoutOne } = setUp(text({ [`${feed}/cursor`]: 900 }));
    await old.evidence.change(new Map([[`${feed}/complete`, 300]]));
    expect(withoutOne.evidence.get(`${feed}/complete`), "of an older Steward").toBeUndefined();
    await memory.evidence.change(new Map([[`${feed}/cursor`, 950]]));
    await memory.evidence.change(new Map([[`${feed}/complete`, 920]]));
    expect(memory.evidence.get(`${feed}/complete`)).toBe(920);
    shared.flush();
    expect(published).toEqual([{ home: { [`${feed}/cursor`]: 950, [`${feed}/complete`]: 920 } }]);
  });

  it("of a bucket make a replica forget its own unfinished lists when another read further", async () => {
    const feed = "objectstore/flow/1a2b";
    const { own, memory, published, shared } = setUp(text({ [`${feed}/cursor`]: 900 }));
    const changes = new Map<string, unknown>([
      [`${feed}/cursor`, 400],
      [`${feed}/scan-from`, 300],
      [`${feed}/scan/2026/`, "key"],
      [`${feed}/seen/key`, 400],
    ]);
    await own.evidence.change(changes);
    expect([
      memory.evidence.get(`${feed}/cursor`),
      memory.evidence.get(`${feed}/scan-from`),
      memory.evidence.list(`${feed}/scan/`),
      memory.evidence.list(`${feed}/seen/`),
    ]).toEqual([900, undefined, [], [[`${feed}/seen/key`, 400]]]);
    await memory.evidence.change(
      new Map([
        [`${feed}/cursor`, 950],
        [`${feed}/scan-from`, 900],
      ]),
    );
    expect(memory.evidence.get(`${feed}/scan-from`)).toBe(900);
    expect(own.evidence.list(`${feed}/scan`), "at the next start").toEqual([
      [`${feed}/scan-from`, 900],
    ]);
    shared.flush();
    expect(published).toEqual([{ home: { [`${feed}/cursor`]: 950 } }]);
  });

  it.each(["", "{", "[]", "7", '{"home":1}', '{"home":{"mark/a":"x","mark/b":null}}'])(
    "that cannot be read count as none: %s",
    (given) => {
      expect(setUp(given).memory.marks.get("a")).toBeUndefined();
    },
  );

  it("are bounded: of too many names those that changed last stay", async () => {
    const { memory, published, shared } = setUp();
    for (let at = 0; at < 300; at += 1) await memory.marks.set(`name-${at}`, at + 1);
    shared.flush();
    const [{ home }] = published as [{ home: Record<string, number> }];
    expect([Object.keys(home).length, Object.keys(home)[0]]).toEqual([256, "mark/name-44"]);
  });
});
