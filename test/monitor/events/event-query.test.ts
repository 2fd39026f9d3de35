import { describe, expect, it } from "vitest";
import { createEventStore } from "../../../src/monitor/events/event-store.ts";
import {
  selectEvents,
  type EventPage,
  type EventQuery,
} from "../../../src/monitor/events/event-query.ts";
import { sampleEvent } from "./sample-event.ts";

const store = createEventStore({ maxEvents: 1_000 });
const bob = { id: "u-9", name: "Bob@corp.test", type: "USER" };
const database = { id: "n-2", name: "db-1", type: "NODE", property: "KEY" };
store.record(sampleEvent({ timeMs: 5_000 }));
store.record(sampleEvent({ timeMs: 1_000, actor: bob, action: "CREATE", error: "refused" }));
store.record(
  sampleEvent({ timeMs: 3_000, source: "webhook", type: "nodeCreated", severity: "warn" }),
);
store.record(sampleEvent({ timeMs: 9_000, target: database }));

const every: EventQuery = {
  source: "",
  severity: "",
  type: "",
  actor: "",
  target: "",
  action: "",
  errors: false,
  startMs: -Infinity,
  endMs: Infinity,
  limit: undefined,
  cursor: "",
};

async function select(query: Partial<EventQuery>, signal?: AbortSignal): Promise<EventPage> {
  return await selectEvents(store, { ...every, ...query }, signal ?? new AbortController().signal);
}

async function numbers(query: Partial<EventQuery>): Promise<number[]> {
  return (await select(query)).rows.map(({ seq }) => seq);
}

describe("Stored events", () => {
  it("come newest arrival first, whatever their times are", async () => {
    expect(await numbers({})).toEqual([4, 3, 2, 1]);
    expect((await select({})).times).toEqual({ earliestMs: 1_000, latestMs: 9_000 });
  });

  it.each<[Partial<EventQuery>, number[]]>([
    [{ source: "WEBHOOK" }, [3]],
    [{ source: "web" }, []],
    [{ severity: "Warn" }, [3]],
    [{ type: "NODECREATED" }, [3]],
    [{ type: "node" }, []],
    [{ actor: "bOb" }, [2]],
    [{ actor: "u-9" }, [2]],
    [{ target: "DB" }, [4]],
    [{ target: "n-2" }, [4]],
    [{ action: "crea" }, [2]],
    [{ errors: true }, [2]],
    [{ actor: "corp", errors: true, action: "UPDATE" }, []],
    [{ startMs: 3_000, endMs: 5_000 }, [3, 1]],
  ])("are selected by %o", async (query, expected) => {
    expect(await numbers(query)).toEqual(expected);
  });

  it("come in pages that together are all of them, once", async () => {
    const first = await select({ limit: 2 });
    expect([first.rows.map(({ seq }) => seq), first.matched]).toEqual([[4, 3], 4]);
    const second = await select({ limit: 2, cursor: first.nextCursor ?? "" });
    expect([second.rows.map(({ seq }) => seq), second.matched, second.nextCursor]).toEqual([
      [2, 1],
      4,
      undefined,
    ]);
    expect(await numbers({ cursor: "no cursor" })).toEqual([4, 3, 2, 1]);
  });

  it("are none for a limit of 0 or less, which still counts, and at most 1000", async () => {
    expect(await select({ limit: 0 })).toMatchObject({
      rows: [],
      matched: 4,
      nextCursor: undefined,
    });
    expect((await select({ limit: -3 })).rows).toEqual([]);
    const large = createEventStore({ maxEvents: 3_000 });
    for (let at = 0; at < 2_500; at += 1) large.record(sampleEvent());
    const signal = new AbortController().signal;
    expect((await selectEvents(large, { ...every, limit: 9_999 }, signal)).rows).toHaveLength(
      1_000,
    );
    expect((await selectEvents(large, every, signal)).rows).toHaveLength(200);
  });

  it("of an empty store have no times", async () => {
    const empty = createEventStore({ maxEvents: 100 });
    expect(await selectEvents(empty, every, new AbortController().signal)).toEqual({
      rows: [],
      matched: 0,
      nextCursor: undefined,
      times: undefined,
    });
  });
});
