import { describe, expect, it } from "vitest";
import { createTimes } from "./times.ts";

const AT_MS = Date.UTC(2026, 10, 21, 23, 59, 59, 120);

describe("times", () => {
  it("of a release are in UTC with a whole number of thousands of digits", () => {
    const times = createTimes("release", 330);
    expect(times.local(AT_MS)).toBe("2026-11-21T23:59:59Z");
    expect(times.local(AT_MS, "x")).toMatch(/^2026-11-21T23:59:59\.120\d{3}(\d{3})?Z$/);
  });

  it("of the development flavour have the server's zone where the database has none", () => {
    const times = createTimes("development", -90);
    expect(times.local(AT_MS)).toBe("2026-11-21T22:29:59-01:30");
    expect(times.utc(AT_MS)).toBe("2026-11-21T23:59:59Z");
  });

  it("name the same instant in both zones", () => {
    const times = createTimes("development", 330);
    expect(Date.parse(times.local(AT_MS, "y"))).toBe(AT_MS);
    expect(times.local(AT_MS, "y")).not.toMatch(/0\+/);
  });
});
