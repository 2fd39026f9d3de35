import { describe, expect, it } from "vitest";
import { StewardError } from "../../../../src/kernel/base/errors.ts";
import { createLog } from "../../../../src/kernel/base/log.ts";
import type { LogLine, RootLog } from "../../../../src/kernel/base/log.ts";
import { Secret } from "../../../../src/kernel/base/secret.ts";
import type { LogRecord } from "../../../../src/kernel/telemetry/writer/log-record.ts";
import {
  defaultLogLimits,
  recordOfLine,
  recordOfRow,
} from "../../../../src/kernel/telemetry/writer/log-record.ts";
import { happened } from "../fixtures.ts";

const NOW_MS = Date.parse("2026-01-02T03:04:05.678Z");

/** The record of the only line. */
function recordOf(write: (log: RootLog) => void, limits = defaultLogLimits) {
  const lines: LogLine[] = [];
  const log = createLog({
    level: "info",
    format: "text",
    write: () => undefined,
    now: () => NOW_MS,
  });
  log.tap((each) => void lines.push(each));
  write(log);
  const [line] = lines;
  if (line === undefined) throw new Error("nothing was written");
  return shownOf(recordOfLine(0, line, limits));
}

/** With its attributes by name. */
function shownOf({ names, values, ...record }: LogRecord) {
  const attributes: Record<string, unknown> = Object.fromEntries(
    names.flatMap((name, at) => (values[at] === undefined ? [] : [[name, values[at]]])),
  );
  return { ...record, attributes };
}

describe("the record of a line", () => {
  it("has body, severity, time, component and scalar attributes", () => {
    expect(
      recordOf((log) =>
        log
          .child("pool")
          .error("it broke", { tries: 3, ok: false, list: [1, { a: 2 }], nothing: null }),
      ),
    ).toEqual({
      scope: 0,
      name: "",
      severity: "error",
      body: "it broke",
      timeMs: NOW_MS,
      trace: undefined,
      attributes: { component: "pool", tries: 3, ok: false, list: '[1,{"a":2}]' },
    });
  });

  it("says an error with all its causes", () => {
    const { attributes } = recordOf((log) =>
      log.error("it broke", { error: new Error("outer", { cause: new TypeError("inner") }) }),
    );
    expect([attributes["exception.type"], attributes["exception.message"]]).toEqual([
      "Error",
      "outer",
    ]);
    expect(attributes["exception.stacktrace"]).toMatch(
      /^Error: outer\n[\s\S]+\nCaused by: TypeError: inner\n/,
    );
    expect(recordOf((log) => log.error("x", { error: "only text" })).attributes["error"]).toBe(
      "only text",
    );
  });

  it("says an expected failure without a stack, with the words that led to it", () => {
    const error = new StewardError("upstream", "the upstream did not answer", {
      cause: new Error("connect ECONNREFUSED 127.0.0.1:9"),
    });
    expect(recordOf((log) => log.warn("it broke", { error })).attributes).toEqual({
      "exception.type": "StewardError",
      "exception.message": "the upstream did not answer: connect ECONNREFUSED 127.0.0.1:9",
    });
    expect(
      recordOf((log) => log.warn("it broke", { error: new StewardError("upstream", "gone") }))
        .attributes,
    ).toEqual({ "exception.type": "StewardError", "exception.message": "gone" });
  });

  it("belongs to the span it names, if that is one", () => {
    const [traceId, spanId] = ["a".repeat(32), "b".repeat(16)];
    expect(recordOf((log) => log.info("x", { trace_id: traceId, span_id: spanId }))).toMatchObject({
      trace: { traceId, spanId },
      attributes: {},
    });
    expect(recordOf((log) => log.info("x", { trace_id: "mine", span_id: spanId }))).toMatchObject({
      trace: undefined,
      attributes: { trace_id: "mine" },
    });
  });

  it("is cut where it is too long, and says so", () => {
    const { body, attributes } = recordOf(
      (log) => log.info("x".repeat(1_000), { long: "y".repeat(1_000) }),
      { body: 100, attribute: 50 },
    );
    expect([body.length, String(attributes["long"]).length, body.endsWith("…[truncated]")]).toEqual(
      [100, 50, true],
    );
    expect(
      shownOf(
        recordOfRow(
          0,
          happened,
          { body: `${"x".repeat(87)}😀${"y".repeat(50)}`, attributes: { other: 1, who: "a" } },
          { nowMs: 1, limits: { body: 100, attribute: 50 } },
        ),
      ),
    ).toMatchObject({ body: `${"x".repeat(87)}…[truncated]`, attributes: { who: "a" }, timeMs: 1 });
  });
});

describe("secrets", () => {
  it("stay secret in a line, wherever they stand in it", () => {
    const secret = Secret.of("kanarienvogel", "test");
    const shown = JSON.stringify(
      recordOf((log) =>
        log.child("x", { outer: secret }).info("y", { secret, deep: { list: [secret] } }),
      ),
    );
    expect(shown).not.toContain("kanarienvogel");
    expect(shown).toContain("[secret]");
  });
});

describe("what was cut of a record", () => {
  it("is told in bytes, apart for body and attributes, and not at all when nothing was", () => {
    const limits = { body: 100, attribute: 50 };
    const fields = { body: "ü".repeat(200), attributes: { who: "y".repeat(60), count: 1 } };
    const { body, attributes, cut } = shownOf(
      recordOfRow(0, happened, fields, { nowMs: NOW_MS, limits }),
    );
    expect(cut).toEqual({
      body: 2 * (200 - (body.length - "…[truncated]".length)),
      attribute: 60 - (String(attributes["who"]).length - "…[truncated]".length),
    });
    expect(
      recordOfRow(0, happened, { body: "x", attributes: {} }, { nowMs: NOW_MS, limits }),
    ).toHaveProperty("cut", undefined);
  });
});
