import { describe, expect, it } from "vitest";
import { createEventStore, MAX_TEXT_BYTES } from "../../../src/monitor/events/event-store.ts";
import { sampleEvent } from "./sample-event.ts";

describe("The store of events", () => {
  it("counts arrivals from 1 and evicts the oldest at its limit", () => {
    const store = createEventStore({ maxEvents: 3 });
    expect([store.newest >= store.oldest, store.isFull]).toEqual([false, false]);
    for (const action of ["a", "b", "c"]) store.record(sampleEvent({ action }));
    expect([store.isFull, store.status()]).toEqual([
      true,
      { capacity: 3, retained: 3, recorded: 3, evicted: 0 },
    ]);
    store.record(sampleEvent({ action: "d" }));
    expect([store.at(1), store.at(2)?.action, store.at(4)?.action, store.at(5)]).toEqual([
      undefined,
      "b",
      "d",
      undefined,
    ]);
    expect([store.oldest, store.newest, store.status()]).toEqual([
      2,
      4,
      { capacity: 3, retained: 3, recorded: 4, evicted: 1 },
    ]);
  });

  it("cuts long texts between code points and marks the event", () => {
    const store = createEventStore({ maxEvents: 3 });
    const fits = "e".repeat(MAX_TEXT_BYTES);
    store.record(sampleEvent({ details: fits, summary: fits, error: fits }));
    store.record(sampleEvent({ details: `x${"é".repeat(MAX_TEXT_BYTES)}` }));
    expect([store.at(1)?.truncated, store.at(1)?.details]).toEqual([false, fits]);
    const cut = store.at(2)?.details ?? "";
    expect(store.at(2)?.truncated).toBe(true);
    expect(cut).toBe(`x${"é".repeat((MAX_TEXT_BYTES - 2) / 2)}…[truncated]`);
  });

  it("holds no more text than its limit of bytes, but always the newest event, and counts as full then", () => {
    const store = createEventStore({ maxEvents: 100, maxTextUnits: 10_000 });
    for (let at = 0; at < 10; at += 1) store.record(sampleEvent({ details: "d".repeat(3_000) }));
    expect([store.status(), store.isFull]).toEqual([
      { capacity: 100, retained: 3, recorded: 10, evicted: 7 },
      true,
    ]);
    const small = createEventStore({ maxEvents: 100, maxTextUnits: 10 });
    small.record(sampleEvent());
    small.record(sampleEvent({ action: "newest" }));
    expect([small.status().retained, small.at(2)?.action]).toEqual([1, "newest"]);
  });
});
