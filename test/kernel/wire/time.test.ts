import { describe, expect, it } from "vitest";
import { formatTime, parseTime } from "../../../src/kernel/wire/time.ts";

describe("times", () => {
  it.each([
    ["2026-01-31T12:00:00Z", "2026-01-31T12:00:00Z"],
    ["2026-01-31t12:00:00.123456789z", "2026-01-31T12:00:00.123456789Z"],
    ["2026-01-31T12:00:00-05:30", "2026-01-31T17:30:00Z"],
    ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"],
    ["1969-12-31T23:59:59.5Z", "1969-12-31T23:59:59.5Z"],
  ])("read %s as %s", (text, expected) => {
    const time = parseTime(text);
    expect(time === undefined ? undefined : formatTime(time, "nanoseconds")).toBe(expected);
  });

  it.each([
    "2026-01-31",
    "2026-01-31T12:00:00",
    "2026-02-29T00:00:00Z",
    "2026-01-31T24:00:00Z",
    "2026-01-31T12:00:60Z",
    "2026-01-31T12:00:00+24:00",
    "0001-01-01T00:00:00+01:00",
    "tomorrow",
    "",
  ])("refuse %s", (text) => {
    expect(parseTime(text)).toBeUndefined();
  });
});
