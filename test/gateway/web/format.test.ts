import { describe, expect, it } from "vitest";
import {
  formatAge,
  formatAuth,
  formatBytes,
  formatCount,
  formatMilliseconds,
  formatMoment,
  formatNumber,
  formatSeconds,
  formatSome,
  formatWord,
  formatWords,
} from "../../../gateway/web/format.ts";

describe("numbers for people", () => {
  it("have their thousands apart and at most two decimals", () => {
    expect([
      formatCount(1_234_567),
      formatCount(0),
      formatNumber(91.66666666666666),
      formatNumber(100),
    ]).toEqual(["1,234,567", "0", "91.67", "100"]);
  });

  it("stand with what they count, in the right number", () => {
    expect([
      formatSome(1, "worker"),
      formatSome(1200, "worker"),
      formatSome(0, "entry", "entries"),
    ]).toEqual(["1 worker", "1,200 workers", "0 entries"]);
  });

  it("are sizes with a binary prefix", () => {
    expect([0, 512, 1024, 1_572_864, 2 ** 60, -3].map(formatBytes)).toEqual([
      "0 B",
      "512 B",
      "1.0 KiB",
      "1.5 MiB",
      "1.0 EiB",
      "0 B",
    ]);
  });

  it("are lengths of time in two units, without a unit that is zero", () => {
    expect([0, 0.4, 45, 60, 303, 11_520, 187_200, -5].map(formatSeconds)).toEqual([
      "0 s",
      "0 s",
      "45 s",
      "1 min",
      "5 min 3 s",
      "3 h 12 min",
      "2 d 4 h",
      "0 s",
    ]);
    expect([840, 2500, 185_000].map(formatMilliseconds)).toEqual(["840 ms", "2.5 s", "3 min 5 s"]);
  });
});

describe("moments for people", () => {
  it("are ages, in the past, now and to come", () => {
    expect([0, 400, 3000, -7_200_000].map((ago) => formatAge(1_000_000 - ago, 1_000_000))).toEqual([
      "now",
      "now",
      "3 s ago",
      "in 2 h",
    ]);
  });

  it("are exact in the zone that is asked for", () => {
    expect(formatMoment(Date.parse("2026-11-21T10:00:00Z"), "Asia/Tokyo")).toContain("19:00:00");
  });
});

describe("words of the API", () => {
  it("are written as people write them", () => {
    expect([
      formatWord("transient_failure"),
      formatAuth("apikey"),
      formatAuth(""),
      formatAuth("workload_identity"),
    ]).toEqual(["transient failure", "API key", "none configured", "workload identity"]);
  });
});

describe("a length of time in the API's words", () => {
  it("is shown as every other one, and text that is none as it is", () => {
    expect(
      ["45s", "1h6m", "3h32m0s", "6d2h", "1m30s", "250ms", "", "some time", "1h6m x"].map(
        formatWords,
      ),
    ).toEqual([
      "45 s",
      "1 h 6 min",
      "3 h 32 min",
      "6 d 2 h",
      "1 min 30 s",
      "0 s",
      "",
      "some time",
      "1h6m x",
    ]);
  });
});
