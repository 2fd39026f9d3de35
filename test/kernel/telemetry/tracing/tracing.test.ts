import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { WireSpan } from "../../../../src/kernel/telemetry/types.ts";
import type { BegunRequest } from "../../../../src/kernel/telemetry/tracing/request-info.ts";
import { parseTraceparent } from "../../../../src/kernel/telemetry/tracing/traceparent.ts";
import { createTracing, runningFields } from "../../../../src/kernel/telemetry/tracing/tracing.ts";
import type { Tracing, TracingOptions } from "../../../../src/kernel/telemetry/tracing/tracing.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const SPAN = "b7ad6b7169203331";
const sampled = `00-${TRACE}-${SPAN}-01`;
const unsampled = `00-${TRACE}-${SPAN}-00`;

function open(options: Partial<TracingOptions> = {}): {
  tracing: Tracing;
  spans: Omit<WireSpan, "scope">[];
} {
  const spans: Omit<WireSpan, "scope">[] = [];
  return {
    spans,
    tracing: createTracing(
      { sampler: "parentbased_always_on", ratio: 1, remoteParent: "trust", ...options },
      (make) => void spans.push(make()),
    ),
  };
}

function request(traceparent?: string, more: Partial<BegunRequest> = {}): BegunRequest {
  return {
    protocol: "rest",
    route: "/api/v1/jobs/{job_id}",
    method: "GET",
    requestId: "r-1",
    headers: traceparent === undefined ? {} : { traceparent },
    ...more,
  };
}

describe("the sampler of background work", () => {
  it("decides of work that no request started, and of the calls in it", async () => {
    const { tracing, spans } = open({ background: { sampler: "always_off", ratio: 1 } });
    const job = { name: "analysis", attributes: {} };
    const call = { name: "call", attributes: {}, beganMs: 1, endedMs: 2, failed: undefined };
    await tracing.within(job, async () => tracing.called(call));
    await tracing.work({ ...job, failed: () => undefined }, async () => tracing.called(call));
    expect(spans).toEqual([]);
    const begun = tracing.begin(request());
    await begun.run(() => tracing.within(job, async () => tracing.called(call)));
    begun.end({ code: "200", failed: false });
    expect(spans.map(({ name }) => name)).toEqual([
      "call",
      "analysis",
      "GET /api/v1/jobs/{job_id}",
    ]);
  });

  it("begins traces where requests begin none", async () => {
    const { tracing, spans } = open({
      sampler: "always_off",
      background: { sampler: "traceidratio", ratio: 1 },
    });
    tracing.begin(request()).end({ code: "200", failed: false });
    await tracing.within({ name: "sync", attributes: {} }, () => Promise.resolve());
    expect(spans.map(({ name }) => name)).toEqual(["sync"]);
  });
});

describe("the span of a request", () => {
  it("is named by method and route and says how it ended", () => {
    const { tracing, spans } = open();
    tracing.begin(request()).end({ code: "500", failed: true });
    tracing
      .begin(
        request(undefined, {
          protocol: "grpc",
          route: "/steward.dedup.v1.JobService/GetJob",
          method: "POST",
        }),
      )
      .end({ code: "not_found", failed: false });
    expect(spans[0]).toMatchObject({
      name: "GET /api/v1/jobs/{job_id}",
      kind: 1,
      status: { code: 2 },
      parent: undefined,
      attributes: {
        "http.request.method": "GET",
        "http.route": "/api/v1/jobs/{job_id}",
        "http.response.status_code": 500,
        "steward.request_id": "r-1",
      },
    });
    expect(spans[1]).toMatchObject({
      name: "steward.dedup.v1.JobService/GetJob",
      status: { code: 0 },
      attributes: {
        "rpc.system.name": "grpc",
        "rpc.method": "steward.dedup.v1.JobService/GetJob",
        "rpc.response.status_code": "NOT_FOUND",
      },
    });
  });

  it("holds no long text of a client", () => {
    const { tracing, spans } = open();
    tracing
      .begin(request(undefined, { requestId: "x".repeat(100_000) }))
      .end({ code: "200", failed: false });
    expect(String(spans[0]?.attributes["steward.request_id"]).length).toBe(1_024);
  });

  it.each([
    ["trust", { traceId: TRACE, parent: { spanId: SPAN, isRemote: true }, links: [] }],
    ["link", { parent: undefined, links: [{ traceId: TRACE, spanId: SPAN }] }],
    ["ignore", { parent: undefined, links: [] }],
  ] as const)("treats the client's trace as it is told: %s", (remoteParent, expected) => {
    const { tracing, spans } = open({ remoteParent });
    tracing.begin(request(sampled)).end({ code: "200", failed: false });
    const [span] = spans;
    expect({ traceId: span?.context.traceId, ...span }).toMatchObject(expected);
    expect(span?.context.traceId === TRACE).toBe(remoteParent === "trust");
  });

  it.each([
    ["parentbased_always_on", undefined, 1],
    ["parentbased_always_on", unsampled, 0],
    ["parentbased_always_on", sampled, 1],
    ["always_on", unsampled, 1],
    ["always_off", sampled, 0],
    ["parentbased_traceidratio", sampled, 1],
    ["parentbased_traceidratio", undefined, 0],
    ["traceidratio", sampled, 0],
  ] as const)(
    "is made or not by the sampler %s with the parent %s (ratio 0)",
    (sampler, parent, count) => {
      const { tracing, spans } = open({ sampler, ratio: 0 });
      const span = tracing.begin(request(parent));
      expect(Object.keys(span.fields)).toEqual(count === 1 ? ["trace_id", "span_id"] : []);
      span.end({ code: "200", failed: false });
      expect(spans.length).toBe(count);
    },
  );
});

describe("code that answers a request", () => {
  it("belongs to its span across awaits, and not after the span has ended", async () => {
    const { tracing } = open();
    const [one, two] = [tracing.begin(request()), tracing.begin(request())];
    let left: Promise<unknown> | undefined;
    const seen = (span: typeof one): Promise<unknown> =>
      span.run(async () => {
        await new Promise((resolve) => setImmediate(resolve));
        left = new Promise((resolve) =>
          setImmediate(() => setImmediate(() => setImmediate(() => resolve(tracing.fields())))),
        );
        return tracing.fields();
      });
    expect(await Promise.all([seen(one), seen(two)])).toEqual([one.fields, two.fields]);
    two.end({ code: "200", failed: false });
    expect(await left).toEqual({});
    expect(tracing.fields()).toEqual({});
  });
});

describe("the span of a piece of work", () => {
  const call = {
    name: "other.api things",
    attributes: { endpoint: "things" },
    beganMs: 1_700_000_000_000,
    endedMs: 1_700_000_001_500,
  };
  const scrape = { name: "scrape things", attributes: { "vpn.collector": "things" } };

  it("begins a trace, to which calls and log lines of meanwhile belong, and no longer", async () => {
    const { tracing, spans } = open();
    const fields = await tracing.work({ ...scrape, failed: () => undefined }, async () => {
      await Promise.resolve();
      tracing.called({ ...call, failed: undefined });
      return runningFields();
    });
    const [inner, outer] = spans;
    expect(outer).toMatchObject({
      name: "scrape things",
      kind: 0,
      parent: undefined,
      status: { code: 0 },
      attributes: scrape.attributes,
    });
    expect(inner).toMatchObject({
      name: "other.api things",
      kind: 2,
      status: { code: 0 },
      start: [1_700_000_000, 0],
      end: [1_700_000_001, 500_000_000],
      context: { traceId: outer?.context.traceId },
      parent: { spanId: outer?.context.spanId },
    });
    expect(fields).toEqual({ trace_id: outer?.context.traceId, span_id: outer?.context.spanId });
    expect(runningFields()).toEqual({});
  });

  it("says what failed by its class, also when it throws", async () => {
    const { tracing, spans } = open();
    await tracing.work({ ...scrape, failed: (result: string) => result }, () =>
      Promise.resolve("auth"),
    );
    await expect(
      tracing.work({ ...scrape, failed: () => undefined }, () =>
        Promise.reject(new Error("secret")),
      ),
    ).rejects.toThrow("secret");
    tracing.called({ ...call, failed: "timeout" });
    expect(spans.map(({ attributes, status }) => [attributes["error.type"], status])).toEqual([
      ["auth", { code: 2 }],
      ["_OTHER", { code: 2 }],
      ["timeout", { code: 2 }],
    ]);
  });

  it("that is not sampled takes its calls along", async () => {
    const { tracing, spans } = open({ sampler: "parentbased_traceidratio", ratio: 0 });
    expect(
      await tracing.work({ ...scrape, failed: () => undefined }, () => {
        tracing.called({ ...call, failed: undefined });
        return Promise.resolve(runningFields());
      }),
    ).toEqual({});
    expect(spans).toEqual([]);
  });
});

describe("a traceparent", () => {
  const hex = (length: number): fc.Arbitrary<string> =>
    fc.string({
      unit: fc.constantFrom(..."0123456789abcdef".split("")),
      minLength: length,
      maxLength: length,
    });

  it("is read as it was written", () => {
    fc.assert(
      fc.property(hex(32), hex(16), hex(2), (traceId, spanId, flags) => {
        fc.pre(!/^0+$/.test(traceId) && !/^0+$/.test(spanId));
        expect(parseTraceparent(`00-${traceId}-${spanId}-${flags}`, undefined)).toEqual({
          traceId,
          spanId,
          traceFlags: Number.parseInt(flags, 16) & 1,
          isRemote: true,
        });
      }),
    );
  });

  it.each([
    "",
    "00",
    `ff-${TRACE}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}-01-more`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    `00-${"0".repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${"0".repeat(16)}-01`,
    `00-${TRACE}-${SPAN}`,
    `0-${TRACE}-${SPAN}-01`,
  ])("that is none begins a trace of its own: %s", (text) => {
    expect(parseTraceparent(text, undefined)).toBeUndefined();
  });

  it("of a later version may say more, and one that is repeated says nothing", () => {
    expect(parseTraceparent(`01-${TRACE}-${SPAN}-01-more`, undefined)?.traceId).toBe(TRACE);
    expect(parseTraceparent([sampled, sampled], undefined)).toBeUndefined();
  });

  it("brings its state along, unless that is too long", () => {
    expect(parseTraceparent(sampled, ["a=1", "b=2"])?.traceState?.serialize()).toBe("a=1,b=2");
    expect(parseTraceparent(sampled, `a=${"x".repeat(600)}`)?.traceState).toBeUndefined();
  });
});
