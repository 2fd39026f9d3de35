import { describe, expect, it } from "vitest";
import type { CallReport } from "../../../src/kernel/client/types.ts";
import { createCallLedger } from "../../../src/monitor/network/call-ledger.ts";

const call = (more: Partial<CallReport> = {}): CallReport => ({
  operation: "devices",
  status: 200,
  class: undefined,
  attempts: 1,
  durationMs: 5,
  waitedMs: 0,
  ...more,
});

describe("the ledger of calls", () => {
  it("counts a call with all its attempts once, and tells how the last one ended", () => {
    let nowMs = 1_000;
    const ledger = createCallLedger(() => nowMs);
    ledger.observe(call());
    ledger.observe(call({ operation: "acl", status: 429, class: "rate_limited", attempts: 4 }));
    nowMs = 2_000;
    ledger.observe(call({ status: 0, class: "transport", attempts: 3, durationMs: 7 }));
    ledger.observe(
      call({ operation: "acl", durationMs: 0, attempts: 0, status: 0, class: "unavailable" }),
    );
    expect(ledger.rows()).toEqual([
      {
        endpoint: "acl",
        requests: 2,
        errors: 2,
        retries: 3,
        rateLimited: 1,
        lastStatus: 0,
        lastAtMs: 2_000,
        last429AtMs: 1_000,
        lastError: "not called, because too many recent calls failed",
        recentMs: [5],
      },
      {
        endpoint: "devices",
        requests: 2,
        errors: 1,
        retries: 2,
        rateLimited: 0,
        lastStatus: 0,
        lastAtMs: 2_000,
        last429AtMs: undefined,
        lastError: "the connection failed",
        recentMs: [5, 7],
      },
    ]);
  });

  it("does not count what was cancelled, and says nothing of an answer with a status", () => {
    const ledger = createCallLedger(() => 0);
    ledger.observe(call({ class: "cancelled", status: 0 }));
    expect(ledger.rows()).toEqual([]);
    ledger.observe(call({ class: "server", status: 503 }));
    expect(ledger.rows()).toMatchObject([{ errors: 1, lastStatus: 503, lastError: undefined }]);
  });

  it("remembers 60 durations of an endpoint, and no more endpoints than there can be", () => {
    const ledger = createCallLedger(() => 0);
    for (let at = 1; at <= 61; at += 1) ledger.observe(call({ durationMs: at }));
    expect(ledger.rows()[0]?.recentMs).toEqual(Array.from({ length: 60 }, (_, at) => at + 2));
    for (let at = 0; at < 400; at += 1) ledger.observe(call({ operation: `made up ${at}` }));
    ledger.observe(call());
    expect(ledger.rows()).toHaveLength(256);
    expect(ledger.rows().find(({ endpoint }) => endpoint === "devices")?.requests).toBe(62);
  });
});
