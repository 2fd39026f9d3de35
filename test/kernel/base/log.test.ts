import { describe, expect, it } from "vitest";
import { createLog } from "../../../src/kernel/base/log.ts";
import type { LogLine, RootLog } from "../../../src/kernel/base/log.ts";
import { Secret } from "../../../src/kernel/base/secret.ts";

const NOW_MS = Date.parse("2026-01-02T03:04:05.678Z");

function open(format: "text" | "json" = "text"): {
  log: RootLog;
  written: string[];
  lines: LogLine[];
} {
  const written: string[] = [];
  const lines: LogLine[] = [];
  const log = createLog({
    level: "info",
    format,
    write: (line) => void written.push(line),
    now: () => NOW_MS,
  });
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
    expect(lines).toEqual([
      {
        timeMs: NOW_MS,
        level: "warn",
        component: "gateway",
        message: "slow",
        attributes: { name: "g", ms: 12, request_id: "r" },
      },
    ]);
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

/**
 * The names of the line's members in their order; `JSON.parse` would hide one that is there twice.
 */
function membersOf(line: string): string[] {
  const names: string[] = [];
  let depth = 0;
  for (const { 0: token, 1: name } of line.matchAll(
    /"((?:[^"\\]|\\.)*)"(?=:)|"(?:[^"\\]|\\.)*"|[[{]|[\]}]/g,
  )) {
    if (token === "{" || token === "[") depth += 1;
    else if (token === "}" || token === "]") depth -= 1;
    else if (depth === 1 && name !== undefined) names.push(name);
  }
  return names;
}

describe("the members of a line", () => {
  it("are there once: the innermost child names the component, and the nearest value of an attribute is written", () => {
    const { log, written, lines } = open("json");
    log.relate(() => ({ trace_id: "t" }));
    const child = log
      .child("monitor", { network: "east", store: "outer" })
      .child("network", { network: "west" });
    child
      .child("collector", { collector: "devices" })
      .warn("slow", { ms: 12, nested: { component: "kept", list: ['"component":'] } });
    child.info("own", { store: "own", network: "line" });
    expect(written.map(membersOf)).toEqual([
      [
        "level",
        "time",
        "component",
        "network",
        "store",
        "collector",
        "trace_id",
        "ms",
        "nested",
        "msg",
      ],
      ["level", "time", "component", "network", "store", "trace_id", "msg"],
    ]);
    expect(written.map((line) => JSON.parse(line) as object)).toMatchObject([
      { component: "collector", network: "west", collector: "devices", store: "outer" },
      { component: "network", network: "line", store: "own" },
    ]);
    expect(lines.map(({ component }) => component)).toEqual(["collector", "network"]);
  });

  it("are there once also when no one else reads the line", () => {
    const written: string[] = [];
    createLog({
      level: "debug",
      format: "json",
      write: (line) => void written.push(line),
      now: () => NOW_MS,
      limitRepeats: false,
    })
      .child("monitor")
      .child("network")
      .debug("slow");
    expect(written).toEqual([
      `{"level":"debug","time":"2026-01-02T03:04:05.678Z","component":"network","msg":"slow"}\n`,
    ]);
  });

  it("name the innermost component in a line of text", () => {
    const { log, written } = open();
    log
      .child("monitor", { network: "east" })
      .child("network", { network: "west" })
      .info("slow", { ms: 12 });
    expect(written).toEqual(["2026-01-02T03:04:05.678Z info  network: slow network=west ms=12\n"]);
  });
});

describe.each(["text", "json"] as const)("a secret that is known by value (%s)", (format) => {
  it("is concealed in all that is written and heard, also in its escapes and as the beginning of another", () => {
    const { log, written, lines } = open(format);
    log.conceal(
      ["kanarienvogel", "kanarienvogel-zwei", 'quo"ted\\\n', "short"].map((value) =>
        Secret.of(value, "test"),
      ),
    );
    log
      .child("x", { child: "kanarienvogel" })
      .warn('got kanarienvogel-zwei and quo"ted\\\n, not short', {
        error: new Error("deep", { cause: new Error("kanarienvogel") }),
        list: ["kanarienvogel"],
      });
    const shown = written.join("") + JSON.stringify(lines);
    expect(shown).not.toMatch(/kanarienvogel|quo/);
    expect(lines[0]?.message).toBe("got [secret] and [secret], not short");
    expect(lines[0]?.attributes["list"]).toEqual(["[secret]"]);
  });
});
