import { describe, expect, it } from "vitest";
import { createLog } from "../../../src/kernel/base/log.ts";
import type { LogLine, RootLog } from "../../../src/kernel/base/log.ts";
import { Secret } from "../../../src/kernel/base/secret.ts";

const NOW_MS = Date.parse("2026-01-02T03:04:05.678Z");

function open(format: "text" | "json" = "text"): { log: RootLog; written: string[]; lines: LogLine[] } {
  const written: string[] = [];
  const lines: LogLine[] = [];
  const log = createLog({ level: "info", format, write: (line) => void written.push(line), now: () => NOW_MS });
  log.tap((line) => void lines.push(line));
  return { log, written, lines };
}

describe("a line of the log", () => {
  it.each(["text", "json"] as const)("is heard as it is written, children's too (%s)", (format) => {
    const { log, written, lines } = open(format);
    log.debug("below the level");
    log.child("gateway", { name: "g" }).warn("slow", { ms: 12, request_id: "r" });
    expect(written.length).toBe(1);
    expect(written[0]).toContain("slow");
    expect(lines).toEqual([{ timeMs: NOW_MS, level: "warn", component: "gateway", message: "slow", attributes: { name: "g", ms: 12, request_id: "r" } }]);
  });

  it("is not heard after the tap is closed", () => {
    const { log, written } = open();
    const heard: LogLine[] = [];
    const tap = log.tap((line) => void heard.push(line));
    log.info("one");
    tap[Symbol.dispose]();
    log.info("two");
    expect([heard.length, written.length]).toEqual([1, 2]);
  });

  it("carries what relates to it, its own fields first, until that is over", () => {
    const { log, lines } = open("json");
    const related = log.relate(() => ({ trace_id: "t", a: 1 }));
    log.child("x").info("one", { a: 2 });
    related[Symbol.dispose]();
    log.info("two");
    expect(lines.map(({ attributes }) => attributes)).toEqual([{ trace_id: "t", a: 2 }, {}]);
  });
});

describe.each(["text", "json"] as const)("a secret that is known by value (%s)", (format) => {
  it("is concealed in all that is written and heard, also in its escapes and as the beginning of another", () => {
    const { log, written, lines } = open(format);
    log.conceal(["kanarienvogel", "kanarienvogel-zwei", 'quo"ted\\\n', "short"].map((value) => Secret.of(value, "test")));
    log.child("x", { child: "kanarienvogel" }).warn('got kanarienvogel-zwei and quo"ted\\\n, not short', { error: new Error("deep", { cause: new Error("kanarienvogel") }), list: ["kanarienvogel"] });
    const shown = written.join("") + JSON.stringify(lines);
    expect(shown).not.toMatch(/kanarienvogel|quo/);
    expect(lines[0]?.message).toBe("got [secret] and [secret], not short");
    expect(lines[0]?.attributes["list"]).toEqual(["[secret]"]);
  });
});
