import { describe, expect, it } from "vitest";
import { StewardError } from "../../../src/kernel/base/errors.ts";
import { createHclog } from "../../../src/tokens/plugin/hclog.ts";

function written(level: "debug" | "info" = "info") {
  const lines: string[] = [];
  const log = createHclog({
    level,
    write: (line) => lines.push(line),
    now: () => Date.UTC(2026, 10, 25, 21, 13, 14, 123),
  });
  return { log, parsed: () => lines.map((line) => JSON.parse(line) as object), lines };
}

describe("the plugin's log", () => {
  it("has the host's names, a time in microseconds, and the fields beside them", () => {
    const { log, parsed, lines } = written();
    log.child("engine").warn("the clock is off", { seconds: 7 });
    expect(parsed()).toEqual([
      {
        "@level": "warn",
        "@message": "the clock is off",
        "@module": "steward.engine",
        "@timestamp": "2026-11-25T21:13:14.123000Z",
        seconds: 7,
      },
    ]);
    expect(lines[0]?.endsWith("}\n")).toBe(true);
  });

  it("leaves out what is below its level", () => {
    const { log, parsed } = written();
    log.debug("detail");
    expect(parsed()).toEqual([]);
  });

  it("shows an expected error without a stack", () => {
    const { log, lines } = written();
    log.error("failed", { error: new StewardError("upstream", "GitHub is away") });
    expect(lines[0]).toContain("GitHub is away");
    expect(lines[0]).not.toContain("stack");
  });

  it("cuts a line that the host would split", () => {
    const { log, lines, parsed } = written();
    log.info("x".repeat(1_000_000), { more: "y".repeat(1_000_000) });
    expect(Buffer.byteLength(lines[0] ?? "")).toBeLessThan(64 * 1024);
    expect(parsed()[0]).toMatchObject({ "@level": "info", cut: true });
  });
});
