import { describe, expect, it } from "vitest";
import { exitCode, isAuthFailure, type CycleOutcome } from "../../../src/commands/cycle/outcome.ts";
import { formatOutcome, formatOutcomeJson } from "../../../src/commands/cycle/print.ts";
import { StewardError } from "../../../src/kernel/base/errors.ts";
import { failed, named, type FailureClass } from "../../../src/kernel/client/failure.ts";
import type { CollectorResult } from "../../../src/monitor/runner/cycle.ts";

const refused = failure("auth", 401);
const forbidden = failure("forbidden", 403);

function failure(kind: FailureClass, status: number): StewardError {
  return named(failed({ class: kind, status }), { class: kind, status }, "tailscale", "users");
}

function result(error?: StewardError, more: Partial<CollectorResult> = {}): CollectorResult {
  return { network: "corp.test", collector: "users", tookMs: 12.4, error, ...more };
}

function outcome(more: Partial<CycleOutcome> = {}): CycleOutcome {
  return {
    requested: { mode: "preflight", timeoutMs: 60_000 },
    results: [result()],
    exportAttempted: false,
    aclValidateSkipped: false,
    ...more,
  };
}

const exposition = {
  families: 2,
  series: 3,
  bytes: 40,
  errors: [{ class: "duplicate_series", metric: "up", message: "twice" }],
} as const;

describe("The exit code of a cycle", () => {
  it("is the lowest of what went wrong", () => {
    const all = {
      refused: "no",
      results: [result(refused), result(forbidden)],
      closeError: "lost",
      exposition,
    };
    expect(exitCode(outcome())).toBe(0);
    expect(exitCode(outcome(all))).toBe(1);
    expect(exitCode(outcome({ results: all.results, closeError: "lost" }))).toBe(3);
    expect(exitCode(outcome({ results: [result(forbidden)], exposition }))).toBe(4);
    expect(exitCode(outcome({ closeError: "lost" }))).toBe(5);
    expect(exitCode(outcome({ exposition }))).toBe(5);
    expect(exitCode(outcome({ exposition: { ...exposition, errors: [] } }))).toBe(0);
  });

  it("knows a refused credential wherever in an error it is, and no other failure for it", () => {
    expect(isAuthFailure(new StewardError("upstream", "devices failed", { cause: refused }))).toBe(
      true,
    );
    expect([
      isAuthFailure(forbidden),
      isAuthFailure(new Error("401")),
      isAuthFailure(undefined),
    ]).toEqual([false, false, false]);
  });
});

describe("What a cycle prints", () => {
  it("is one aligned line for each collector and a verdict", () => {
    const results = [
      result(undefined, { collector: "devices", tookMs: 1234 }),
      result(forbidden),
      result(undefined, { network: "a" }),
    ];
    expect(formatOutcome(outcome({ results }))).toBe(
      [
        "corp.test  devices  ok      1234 ms",
        "corp.test  users    FAILED    12 ms  tailscale: users: the credential lacks the permission (status 403); give the credential the permission or scope",
        "a          users    ok        12 ms",
        "preflight: FAILED (1 of 3 collectors failed, exit=4)",
        "",
      ].join("\n"),
    );
  });

  it("lets nothing foreign reach the terminal raw", () => {
    expect(
      formatOutcome(
        outcome({
          results: [
            result(new StewardError("upstream", "red\u001b[31m\nnew"), { network: "\u202eevil" }),
          ],
        }),
      ),
    ).toMatch(/^\\u202eevil .*red\\u001b\[31m\\nnew\npreflight: FAILED/);
  });

  it("tells errors of the exposition and of the export by themselves", () => {
    const text = formatOutcome(
      outcome({
        requested: { mode: "exposition-check", timeoutMs: 1_000 },
        exposition,
        closeError: "metrics: refused",
      }),
    );
    expect(text.split("\n").slice(1)).toEqual([
      "duplicate_series up: twice",
      "export: metrics: refused",
      "exposition-check: FAILED (2 families, 3 series, 1 error in the exposition, not everything was exported, exit=5)",
      "",
    ]);
    expect(
      formatOutcome(
        outcome({
          requested: { mode: "exposition-check", timeoutMs: 1_000 },
          exposition: { ...exposition, errors: [] },
        }),
      ),
    ).toMatch(/\nexposition-check: OK \(2 families, 3 series, exit=0\)\n$/);
  });

  it("has the members of the facts as JSON, those that do not apply left out", () => {
    expect(JSON.parse(formatOutcomeJson(outcome({ results: [result(refused)] })))).toEqual({
      mode: "preflight",
      ok: false,
      exit_code: 3,
      deadline: "1m0s",
      export_attempted: false,
      results: [
        {
          network: "corp.test",
          collector: "users",
          ok: false,
          duration_ms: 12,
          auth_failure: true,
          error: expect.stringContaining("check the configured credential"),
        },
      ],
    });
    expect(
      JSON.parse(
        formatOutcomeJson(
          outcome({
            requested: { mode: "exposition-check", timeoutMs: 500 },
            results: [],
            exposition,
          }),
        ),
      ),
    ).toEqual({
      mode: "exposition-check",
      ok: false,
      exit_code: 5,
      deadline: "500ms",
      results: [],
      exposition: {
        ok: false,
        families: 2,
        series: 3,
        bytes: 40,
        errors: [{ class: "duplicate_series", metric: "up", message: "twice" }],
      },
    });
    expect(
      JSON.parse(
        formatOutcomeJson(
          outcome({
            requested: { mode: "exposition-check", timeoutMs: 500 },
            results: [],
            refused: "no",
          }),
        ),
      ),
    ).toMatchObject({
      ok: false,
      exit_code: 1,
      close_error: "no",
      results: [],
      exposition: { ok: false },
    });
  });
});
