import { describe, expect, it } from "vitest";
import { createInstantReader } from "../../../src/monitor/ingest/instants.ts";
import { createIngestObserver } from "../../../src/monitor/ingest/observer.ts";
import { SeenKeys } from "../../../src/monitor/ingest/seen-keys.ts";
import { keepingScope, NOW_MS } from "../flows/fixtures.ts";

const setUp = (enabled = true) => {
  const kept = keepingScope();
  return { ...kept, observer: createIngestObserver(kept, { enabled }) };
};

describe("What comes in", () => {
  it("is counted with its age and how late it was taken down", () => {
    const { observer, series } = setUp();
    observer.accepted("stream", "flow", { eventMs: NOW_MS - 4_000, capturedMs: NOW_MS - 1_000 });
    expect(series()).toEqual([
      'svc.ingest.capture.delay{source="stream",signal="flow"} n=1 sum=3',
      'svc.ingest.event.age{source="stream",signal="flow"} n=1 sum=4',
      `svc.ingest.last_event_timestamp{source="stream",signal="flow"} ${(NOW_MS - 4_000) / 1_000}`,
      'svc.ingest.records{source="stream",signal="flow"} 1',
    ]);
  });

  it("never moves the newest event back", () => {
    const { observer, series } = setUp();
    for (const agoMs of [4_000, 9_000])
      observer.accepted("poll", "audit", { eventMs: NOW_MS - agoMs, capturedMs: undefined });
    expect(series("svc.ingest.last")).toEqual([
      `svc.ingest.last_event_timestamp{source="poll",signal="audit"} ${(NOW_MS - 4_000) / 1_000}`,
    ]);
    expect(series("svc.ingest.capture")).toEqual([]);
  });

  it("from the future has no age, and inverted times are counted once", () => {
    const { observer, series } = setUp();
    observer.accepted("poll", "flow", { eventMs: NOW_MS + 2_000, capturedMs: NOW_MS });
    observer.accepted("poll", "flow", { eventMs: undefined, capturedMs: NOW_MS });
    expect(series("svc.ingest.event")).toEqual([
      'svc.ingest.event.age{source="poll",signal="flow"} n=1 sum=0',
    ]);
    expect(series("svc.ingest.timestamp_skew")).toEqual([
      'svc.ingest.timestamp_skew{source="poll",signal="flow"} 1',
    ]);
    expect(series("svc.ingest.records")).toEqual([
      'svc.ingest.records{source="poll",signal="flow"} 2',
    ]);
  });

  it("has a size unless it was polled, and nothing is said without self-observability", () => {
    const { observer, series } = setUp();
    observer.received("objectstore", 700);
    observer.received("poll", 700);
    expect(series()).toEqual(['svc.ingest.size{source="objectstore"} 700']);
    const silent = setUp(false);
    silent.observer.accepted("poll", "flow", { eventMs: NOW_MS, capturedMs: NOW_MS });
    silent.observer.received("stream", 1);
    expect(silent.series()).toEqual([]);
  });
});

describe("An instant", () => {
  const reader = createInstantReader();

  it("is one key for one point in time, down to the nanosecond", () => {
    const keys = [
      "2026-11-20T10:00:00Z",
      "2026-11-20T11:00:00.000+01:00",
      "2026-11-20T10:00:00.000000001Z",
    ]
      .map((text) => reader.read(text))
      .map((read) => (typeof read === "object" ? read.key : read));
    expect(keys).toEqual(["1795168800", "1795168800", "1795168800.1"]);
    expect(reader.read("2026-11-20T10:00:00.123456Z")).toEqual({
      ms: 1_795_168_800_123,
      key: "1795168800.123456000",
      text: "2026-11-20T10:00:00.123456Z",
    });
  });

  it("is absent for nothing and for the year 1, and invalid for what is no time", () => {
    expect(
      [undefined, null, "", "0001-01-01T00:00:00Z"].map((value) => reader.read(value)),
    ).toEqual([undefined, undefined, undefined, undefined]);
    expect([7, "yesterday", "2026-02-30T00:00:00Z", {}].map((value) => reader.read(value))).toEqual(
      ["invalid", "invalid", "invalid", "invalid"],
    );
  });
});

describe("Keys that were seen", () => {
  it("are kept with their numbers, the oldest giving way", () => {
    const keys = new SeenKeys(2, 2);
    keys.add("a", [1, 2]);
    keys.add("b", [3]);
    keys.add("c", [5, 6]);
    expect([keys.find("a"), keys.size, keys.counts]).toEqual([
      undefined,
      2,
      { hits: 0, evictions: 1 },
    ]);
    const slot = keys.find("c") ?? -1;
    expect([
      keys.number(slot, 0),
      keys.number(slot, 1),
      keys.number(keys.find("b") ?? -1, 1),
    ]).toEqual([5, 6, 0]);
  });
});
