import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  continueAfter,
  prefixesOf,
  readName,
  recorderOf,
} from "../../../src/monitor/objectstore/object-keys.ts";

const at = (text: string): number => Date.parse(text);

describe("Names of objects", () => {
  it.each([
    [
      "2026/11/20/2026-11-20-10-05-09.ndjson",
      "partitioned",
      "2026-11-20T10:05:09Z",
      "plain",
      false,
    ],
    ["x/2026/11/20/10:05:09.json.gz", "partitioned", "2026-11-20T10:05:09Z", "gzip", false],
    ["2026-11-20-10-05-09.zst", "flat", "2026-11-20T10:05:09Z", "zstd", false],
    ["a/2026-11-20-10-05-09_part.ndjson.zstd", "flat", "2026-11-20T10:05:09Z", "zstd", false],
    [
      "nSim1/events/2026-11-20T10:05:09.123456789Z.event",
      "recorder",
      "2026-11-20T10:05:09.123Z",
      "plain",
      false,
    ],
    ["nSim1/2026-11-20T10:05:09Z.cast.gz", "recorder", "2026-11-20T10:05:09Z", "gzip", true],
  ] as const)("%s is read", (key, layout, time, packing, recording) => {
    expect(readName(key, layout)).toEqual({ timeMs: at(time), packing, recording });
  });

  it.each([
    ["readme.txt", "flat"],
    ["2026-11-20-10-05-09.txt", "flat"],
    ["2026-11-20-10-05-09", "flat"],
    ["2026-13-20-10-05-09.json", "flat"],
    ["2026-02-30-10-05-09.json", "flat"],
    ["2026-11-20-25-05-09.json", "flat"],
    ["12026-11-20-10-05-09.json", "flat"],
    ["2026-11-20T10:05:09Z.json", "recorder"],
    ["2026-11-20-10-05-09.event", "recorder"],
    ["", "flat"],
    [`${"x".repeat(1_024)}/2026-11-20-10-05-09.json`, "flat"],
  ] as const)("%s is none of layout %s", (key, layout) => {
    expect(readName(key, layout)).toBeUndefined();
  });

  it.each([
    ["nSim1/2026-11-20T10:05:09Z.cast", "nSim1"],
    ["nSim1/events/2026-11-20T10:05:09Z.event", "nSim1"],
    ["nSim1/2026-11-20T10:05:09Z.event", "nSim1"],
    ["a/b/nSim1/2026-11-20T10:05:09Z.cast", "nSim1"],
    ["a/b/nSim1/events/2026-11-20T10:05:09Z.event", "nSim1"],
    ["events/2026-11-20T10:05:09Z.event", ""],
    ["2026-11-20T10:05:09Z.cast", ""],
  ])("%s is of the recorder %j", (key, recorder) => {
    expect(recorderOf(key)).toBe(recorder);
  });

  it("of recordings let a list pass over those that are too old, and no other", () => {
    const fromMs = at("2026-11-20T10:05:09.500Z");
    const name = (ms: number): string => `nSim1/${new Date(ms).toISOString()}.event`;
    fc.assert(
      fc.property(
        fc.integer({ min: fromMs - 10_000, max: fromMs + 10_000 }),
        fc.integer({ min: fromMs, max: fromMs + 10_000 }),
        (listedMs, laterMs) => {
          const after = continueAfter(name(listedMs), "recorder", fromMs);
          expect(after >= name(listedMs)).toBe(true);
          if (laterMs > listedMs) expect(name(laterMs) > after).toBe(true);
        },
      ),
    );
    expect(continueAfter("p/nA/2026-01-01T00:00:00Z.cast", "recorder", fromMs)).toBe(
      "p/nA/2026-11-20T10:05:09",
    );
    expect(continueAfter("p/nA/readme", "recorder", fromMs)).toBe("p/nA/readme");
    expect(continueAfter("", "recorder", fromMs)).toBe("");
    expect(continueAfter("a/2026-01-01-00-00-00.json", "flat", fromMs)).toBe(
      "a/2026-01-01-00-00-00.json",
    );
  });

  it("never throws", () => {
    fc.assert(
      fc.property(
        fc.string({
          unit: fc.constantFrom(...Array.from("0123456789-/:TZ.jsoneventgzcas")),
          maxLength: 60,
        }),
        fc.constantFrom("flat" as const, "recorder" as const),
        (key, layout) => {
          readName(key, layout);
        },
      ),
    );
  });

  it("lie under a day each, newest fourteen at most, or under the prefix", () => {
    expect(
      prefixesOf("p/", "partitioned", at("2026-11-19T23:59:59Z"), at("2026-11-20T00:00:01Z")),
    ).toEqual(["p/2026/11/19/", "p/2026/11/20/"]);
    expect(prefixesOf("", "partitioned", 0, at("2026-11-20T00:00:01Z"))).toHaveLength(14);
    expect(
      prefixesOf("", "partitioned", at("2026-11-21T00:00:00Z"), at("2026-11-20T00:00:01Z")),
    ).toEqual([]);
    expect(prefixesOf("p", "flat", 0, 1)).toEqual(["p"]);
  });
});
