import { describe, expect, it } from "vitest";
import { StewardError } from "../../../src/kernel/base/errors.ts";
import type { WireSpan } from "../../../src/kernel/telemetry/types.ts";
import { createTracing, runningFields } from "../../../src/kernel/telemetry/tracing/tracing.ts";
import { createTraces, noTraces, type NetworkTraces } from "../../../src/monitor/network/traces.ts";
import type { PrivacyOptions } from "../../../src/monitor/options.ts";
import { hiding } from "../privacy/fixtures.ts";

const NOW_MS = 1_700_000_010_000;
const report = {
  operation: "devices",
  status: 200,
  class: undefined,
  attempts: 3,
  durationMs: 1_200,
  waitedMs: 300,
};

function open(privacy: PrivacyOptions = hiding()): {
  readonly traces: NetworkTraces;
  readonly spans: Omit<WireSpan, "scope">[];
} {
  const spans: Omit<WireSpan, "scope">[] = [];
  const tracing = createTracing(
    { sampler: "always_on", ratio: 1, remoteParent: "ignore" },
    (make) => void spans.push(make()),
  );
  return {
    spans,
    traces: createTraces({ clock: { now: () => NOW_MS }, privacy, tracing }, "tailscale"),
  };
}

describe("The spans of a network", () => {
  it("are one for a run and one for each call, which lasted with its waits until now", async () => {
    const { traces, spans } = open();
    const outcome = { tookMs: 5, error: undefined };
    expect(
      await traces.run("devices", () => {
        traces.called(report, () => undefined);
        return Promise.resolve(outcome);
      }),
    ).toBe(outcome);
    expect(spans.map(({ name, attributes }) => [name, attributes])).toEqual([
      [
        "tailscale.api devices",
        { endpoint: "devices", "http.response.status_code": 200, "http.request.resend_count": 2 },
      ],
      ["scrape devices", { "vpn.collector": "devices" }],
    ]);
    expect([spans[0]?.start, spans[0]?.end]).toEqual([
      [1_700_000_008, 500_000_000],
      [1_700_000_010, 0],
    ]);
  });

  it("name a failure by its class, and no status where there was no answer", async () => {
    const { traces, spans } = open();
    await traces.run("devices", () => {
      traces.called({ ...report, status: 0, class: "transport", attempts: 1 }, () => undefined);
      return Promise.resolve({ tookMs: 5, error: new StewardError("not_ready", "down") });
    });
    expect(spans[0]).toMatchObject({
      status: { code: 2 },
      attributes: { "error.type": "transport" },
    });
    expect(spans[0]?.attributes).not.toHaveProperty(["http.response.status_code"]);
    expect(spans[1]).toMatchObject({ status: { code: 2 } });
    expect(spans[1]?.attributes["error.type"]).toBeTypeOf("string");
  });

  it("are what the measurements of a run and of a call belong to, each its own", async () => {
    const { traces, spans } = open();
    const seen: unknown[] = [];
    await traces.run("devices", () => {
      traces.called(report, () => void seen.push(runningFields()));
      seen.push(runningFields());
      return Promise.resolve({ tookMs: 5, error: undefined });
    });
    expect(seen).toEqual(
      spans.map(({ context }) => ({ trace_id: context.traceId, span_id: context.spanId })),
    );
    expect(runningFields()).toEqual({});
  });

  it("do not name endpoints where privacy hides those", () => {
    const { traces, spans } = open(hiding("endpoint_paths"));
    traces.called(report, () => undefined);
    expect(spans[0]?.name).toBe("tailscale.api");
    expect(JSON.stringify(spans)).not.toContain("devices");
  });

  it("are none while nothing is traced, and the run goes on", async () => {
    let measured = 0;
    noTraces.called(report, () => (measured += 1));
    expect(measured).toBe(1);
    expect(
      await noTraces.run("devices", () => Promise.resolve({ tookMs: 1, error: undefined })),
    ).toEqual({ tookMs: 1, error: undefined });
  });
});
