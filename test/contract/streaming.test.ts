import { readFileSync } from "node:fs";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { removeTemporaryFolders, rest } from "./daemon.ts";
import {
  adds as addsTo,
  post,
  startReceiving,
  TOKEN,
  unlike,
  type Received,
  type Reply,
  type Sent,
} from "./receivers.ts";
import { slowness } from "../support/machine-speed.ts";

afterAll(removeTemporaryFolders);

const basic = (password: string): string =>
  `Basic ${Buffer.from(`anybody:${password}`).toString("base64")}`;
const authorized = { authorization: basic(TOKEN) };

let next = 0;
/** A flow record that was never sent before. */
function flow(overrides: object = {}): object {
  next += 1;
  const now = Date.now() - 10_000;
  const at = (ms: number): string => new Date(now + ms).toISOString();
  return {
    logged: at(5_000),
    nodeId: "nAAAcntrl",
    start: at(0),
    end: at(4_000),
    virtualTraffic: [
      {
        proto: 6,
        src: `100.64.0.7:${1024 + (next % 60_000)}`,
        dst: "100.64.0.9:443",
        txPkts: 9,
        txBytes: 1_200,
        rxPkts: 8,
        rxBytes: 5_400,
      },
    ],
    ...overrides,
  };
}
/** An audit record as it is streamed: without its own time. */
function audit(overrides: object = {}): object {
  next += 1;
  return {
    action: "UPDATE",
    origin: "ADMIN_CONSOLE",
    eventGroupID: `eg-${next}`,
    actor: { id: "u-5", type: "USER", loginName: "ada@example.net", displayName: "Ada" },
    target: { id: "net-1", name: "example", type: "TAILNET", property: "ACL" },
    old: "a",
    new: { b: 1 },
    ...overrides,
  };
}
const wrapped = (event: unknown): object => ({
  time: Date.now() / 1000 - 20,
  event,
  fields: { recorded: new Date(Date.now() - 5_000).toISOString() },
});
const nested = (depth: number, inner: unknown): unknown =>
  depth === 0 ? inner : { event: nested(depth - 1, inner) };
const text = (...values: unknown[]): string =>
  values.map((value) => JSON.stringify(value)).join("");

const TICK_MS = 10;
/** Time that the process has used. */
function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /s, "")
    .split(" ");
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}
/** The most memory that the process has held. */
function peakMib(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1024;
}

let receiving: Received;
const streamed = (sent: Sent): Promise<Reply> =>
  post(receiving.port("stream"), { ...sent, headers: { ...authorized, ...sent.headers } });

/** What a request adds to a counter, once it is exported. */
const adds = (
  metric: string,
  attributes: Readonly<Record<string, string>>,
  by: number,
  send: () => Promise<void>,
): Promise<void> => addsTo(receiving, [metric, attributes], by, send);

beforeAll(async () => {
  receiving = await startReceiving({
    streaming: { enabled: true, listen: "127.0.0.1:0", token: TOKEN },
  });
});
afterAll(() => receiving[Symbol.asyncDispose]());

describe("the streaming receiver", () => {
  it("acknowledges with exactly the sender's success, and says how durable that is", async () => {
    const { status, headers, body } = await streamed({ body: text(wrapped(flow())) });
    expect({ status, body }).toEqual({ status: 200, body: '{"text":"Success","code":0}' });
    expect(headers["content-type"]).toBe("application/json");
    expect(headers["steward-durability"]).toBe("memory");
  });

  it.each<[string, () => string, number, number]>([
    ["concatenated wrappers", () => text(wrapped(flow()), wrapped(flow())), 2, 0],
    ["one object", () => text(flow()), 1, 0],
    ["lines", () => `${text(flow())}\n${text(audit())}\n`, 1, 1],
    ["a list", () => text([flow(), wrapped(audit())]), 1, 1],
    ["a batch wrapper", () => text({ logs: [flow(), flow(), audit()] }), 2, 1],
    ["wrappers four deep", () => text(nested(4, flow())), 1, 0],
    [
      "lists in wrappers in white space",
      () => ` \n${text({ event: { logs: [[flow()]] } })} `,
      1,
      0,
    ],
    ["a record without traffic", () => text(flow({ virtualTraffic: null })), 1, 0],
    [
      "a list longer than what is parsed at once",
      () => text(Array.from({ length: 400 }, () => flow())),
      400,
      0,
    ],
    [
      "a large batch wrapper with large members beside it",
      () => text({ logs: Array.from({ length: 400 }, () => flow()), note: "x".repeat(70_000) }),
      400,
      0,
    ],
    [
      "a large record in a wrapper",
      () => text(wrapped(audit({ old: "y".repeat(100_000), new: [1, 2, { deep: ["é"] }] }))),
      0,
      1,
    ],
    [
      "a body that is applied in several steps",
      () => text(...Array.from({ length: 5_000 }, () => wrapped(flow()))),
      5_000,
      0,
    ],
  ])("accepts %s", async (_shape, body, flows, audits) => {
    await adds("vpn.stream.records", { type: "flow" }, flows, async () =>
      adds("vpn.stream.records", { type: "audit" }, audits, async () => {
        const sent = { body: body(), chunked: true };
        expect(await streamed(sent)).toMatchObject({ status: 200 });
      }),
    );
  });

  it.each<[string, Sent, number, string]>([
    ["no credential", { headers: { authorization: "" } }, 401, "auth"],
    ["a wrong password", { headers: { authorization: basic("wrong") } }, 401, "auth"],
    ["a Bearer token", { headers: { authorization: `Bearer ${TOKEN}` } }, 401, "auth"],
    ["three words", { headers: { authorization: `Splunk ${TOKEN} x` } }, 401, "auth"],
    ["an empty body", { body: "" }, 400, "unparsable"],
    ["white space", { body: " \n " }, 400, "unparsable"],
    ["an empty list", { body: "[]" }, 400, "unparsable"],
    ["no JSON", { body: "hello\nworld" }, 400, "unparsable"],
    [
      "a broken line among good ones",
      { body: `${text(flow())}\n{"a":\n${text(flow())}` },
      400,
      "malformed",
    ],
    ["a bad first line before good ones", { body: `oops\n${text(flow())}` }, 400, "malformed"],
    ["a cut record", { body: text(flow(), flow()).slice(0, -5) }, 400, "malformed"],
    [
      "a compressed body that is none",
      { body: "x", headers: { "content-encoding": "gzip" } },
      400,
      "unparsable",
    ],
    [
      "a flow with traffic of a wrong type",
      { body: text(flow({ virtualTraffic: [1] })) },
      400,
      "decode_error",
    ],
    [
      "an audit record with a wrong time",
      { body: text(audit({ eventTime: "yesterday" })) },
      400,
      "decode_error",
    ],
    [
      "a window that ends before it begins",
      { body: text(flow({ end: "2020-01-01T00:00:00Z" })) },
      400,
      "semantic_invalid",
    ],
  ])("refuses %s", async (_what, sent, status, reason) => {
    await adds("vpn.stream.rejected", { reason }, 1, async () => {
      const reply = await streamed(sent);
      expect(reply.status).toBe(status);
      expect(JSON.parse(reply.body)).toEqual({ text: expect.any(String) as string, code: status });
      expect(reply.body.endsWith("}\n")).toBe(true);
    });
  });

  it("takes the token as the password of HTTP Basic or after the word Splunk", async () => {
    for (const authorization of [basic(TOKEN), `splunk ${TOKEN}`, `SPLUNK   ${TOKEN}`])
      expect((await streamed({ body: text(flow()), headers: { authorization } })).status).toBe(200);
  });

  it("knows one path and one method, and counts neither mistake", async () => {
    expect((await streamed({ path: "/services/collector", body: "{}" })).status).toBe(404);
    expect((await streamed({ path: "/services/collector/event/", body: "{}" })).status).toBe(404);
    const got = await streamed({ method: "GET" });
    expect([got.status, got.headers.allow]).toEqual([405, "POST"]);
  });

  it("decompresses gzip and zstd, whatever the case of the header", async () => {
    for (const [encoding, compress] of [
      ["gzip", gzipSync],
      [" GZIP ", gzipSync],
      ["zstd", zstdCompressSync],
    ] as const)
      expect(
        await streamed({
          body: compress(text(wrapped(flow()))),
          headers: { "content-encoding": encoding },
        }),
      ).toMatchObject({ status: 200 });
  });

  it("counts a batch whole or not at all", async () => {
    await adds("vpn.stream.records", { type: "flow" }, 0, () =>
      adds("vpn.stream.decode_errors", { type: "flow" }, 1, async () => {
        const body = text(flow(), flow(), flow({ start: 5 }));
        expect((await streamed({ body })).status).toBe(400);
      }),
    );
  });

  it("names each violated rule of a flow record", async () => {
    const ahead = new Date(Date.now() + 600_000).toISOString();
    const [good] = (flow() as { virtualTraffic: object[] }).virtualTraffic;
    for (const [reason, record] of [
      ["negative_counters", flow({ virtualTraffic: [{ ...good, rxBytes: -1 }] })],
      ["invalid_endpoint", flow({ virtualTraffic: [{ ...good, dst: "100.64.0.9" }] })],
      ["invalid_protocol", flow({ virtualTraffic: [{ ...good, proto: 256 }] })],
      ["future_timestamp", flow({ logged: ahead })],
    ] as const)
      await adds("vpn.network.data_quality", { source: "stream", reason }, 1, async () =>
        expect((await streamed({ body: text(record) })).status).toBe(400),
      );
  });

  it("skips what it does not know and still acknowledges", async () => {
    await adds("vpn.stream.skipped", { reason: "unclassified" }, 3, async () => {
      const body = text({}, { nodeId: "" }, { event: { logs: [] } }, flow());
      expect((await streamed({ body })).status).toBe(200);
    });
    await adds("vpn.stream.skipped", { reason: "unwrap_drop" }, 5, async () => {
      const body = `${text({ event: null }, { event: "x" }, [1], nested(5, flow()))} true ${text(flow())}`;
      expect((await streamed({ body })).status).toBe(200);
    });
  });

  it("counts a repeated body once", async () => {
    const body = text(wrapped(flow()), wrapped(audit()));
    await adds("vpn.network.flows", {}, 1, async () =>
      adds("vpn.config.audit.events", { "vpn.audit.action": "UPDATE" }, 1, async () => {
        expect((await streamed({ body })).status).toBe(200);
        expect((await streamed({ body })).status).toBe(200);
      }),
    );
  });

  it("gives an audit record the time of its envelope, and records both delays", async () => {
    const record = audit({ eventGroupID: "eg-timed" });
    const time = Math.floor(Date.now() / 1000) - 40;
    await streamed({ body: text({ time: String(time), event: record }) });
    await vi.waitFor(
      () => {
        const log = receiving.exported
          .logs()
          .find(({ attributes }) => attributes["vpn.audit.event_group_id"] === "eg-timed");
        expect(log).toMatchObject({ name: "vpn.config.audit" });
        expect(Math.round(Number(log?.timeMs) / 1000)).toBe(time);
      },
      { timeout: 60_000, interval: 50 },
    );
    expect(
      receiving.sum("svc.ingest.records", { source: "stream", signal: "audit" }),
    ).toBeGreaterThan(0);
    expect(receiving.sum("svc.ingest.size", { source: "stream" })).toBeGreaterThan(0);
  });

  it("stands in the status: enabled, without a failure, its token set", async () => {
    const { text: body } = await rest(receiving.daemon, "GET", "/api/status.json");
    const status = JSON.parse(body) as {
      receivers: object;
      components: { name: string }[];
      config: object;
    };
    expect(status.receivers).toEqual({ streaming_enabled: true, webhook_enabled: false });
    expect(status.components.find(({ name }) => name === "stream")).toEqual({
      name: "stream",
      enabled: true,
      failed: false,
    });
    expect(status.config).toMatchObject({ stream_token_set: true });
    expect(body).not.toContain(TOKEN);
  });
});

describe("telemetry of the streaming receiver", () => {
  it("has every metric of the catalogue, and no attribute that is not there", () => {
    expect(unlike(receiving, "vpn.stream.")).toEqual([]);
  });

  it("has a span of each request, below the sender's, with what the body contained", async () => {
    const traceId = "0af7651916cd43dd8448eb211c80319c";
    const body = text(flow(), audit(), {});
    const headers = { traceparent: `00-${traceId}-b7ad6b7169203331-01` };
    expect((await streamed({ body, headers })).status).toBe(200);
    const span = () => receiving.exported.spans().find((each) => each.traceId === traceId);
    await vi.waitFor(() => expect(span()).toBeDefined(), { timeout: 60_000 });
    expect(span()).toMatchObject({
      name: "stream.receive",
      parentSpanId: "b7ad6b7169203331",
      attributes: {
        "http.response.status_code": 200,
        "http.request.body.size": Buffer.byteLength(body),
        "vpn.stream.flows": 1,
        "vpn.stream.audits": 1,
        "vpn.stream.skipped": 1,
      },
    });
  });
});

describe("hostile bodies", () => {
  const MIB = 1024 * 1024;
  /** Time of the processor, as others may use it too. */
  const MAX_CPU_MS = 2_500 * slowness();
  /** Two bodies at the limit, and what the collector of garbage leaves for a while. */
  const MAX_GROWN_MIB = 2.5 * 64;

  let calmMib = 0;
  beforeAll(() => {
    calmMib = peakMib(receiving.daemon.pid);
  });

  it.each<[string, () => Sent, number, string]>([
    ["64 MiB of {}", () => ({ body: Buffer.alloc(64 * MIB, "{}") }), 413, "too_many_records"],
    [
      "64 MiB of {} in a list",
      () => ({
        body: Buffer.concat([Buffer.from("[{}"), Buffer.alloc(63 * MIB, ",{}"), Buffer.from("]")]),
      }),
      413,
      "too_many_records",
    ],
    [
      "500,001 records",
      () => ({ body: Buffer.alloc(500_001 * 7, '{"a":1}') }),
      413,
      "too_many_records",
    ],
    [
      "500,001 connections in one record",
      () => ({
        body: `{"nodeId":"n","virtualTraffic":[{}${",{}".repeat(500_000)}]}`,
      }),
      413,
      "too_many_connections",
    ],
    [
      "64 MiB of connections",
      () => ({
        body: Buffer.concat([
          Buffer.from('{"nodeId":"n","exitTraffic":[{}'),
          Buffer.alloc(63 * MIB, ",{}"),
          Buffer.from("]}"),
        ]),
      }),
      413,
      "too_many_connections",
    ],
    [
      "a gzip bomb of 1 GiB",
      () => ({
        body: gzipSync(Buffer.alloc(1024 * MIB, "{}"), { level: 1 }),
        headers: { "content-encoding": "gzip" },
      }),
      413,
      "too_large",
    ],
    [
      "a zstd bomb of 1 GiB",
      () => ({
        body: zstdCompressSync(Buffer.alloc(1024 * MIB)),
        headers: { "content-encoding": "zstd" },
      }),
      413,
      "too_large",
    ],
    ["a body above the limit", () => ({ body: Buffer.alloc(64 * MIB + 1, " ") }), 413, "too_large"],
    [
      "64 MiB of opening brackets",
      () => ({ body: Buffer.alloc(64 * MIB, "[") }),
      400,
      "unparsable",
    ],
    ["64 MiB of lines", () => ({ body: Buffer.alloc(64 * MIB, "a\n") }), 400, "unparsable"],
  ])("refuses %s soon", async (_what, sent, status, reason) => {
    const request = sent();
    await adds("vpn.stream.rejected", { reason }, 1, async () => {
      const before = cpuMs(receiving.daemon.pid);
      const reply = await streamed(request).catch((error: unknown) => error);
      expect(cpuMs(receiving.daemon.pid) - before).toBeLessThan(MAX_CPU_MS);
      expect(reply).toMatchObject({ status });
    });
    expect(peakMib(receiving.daemon.pid) - calmMib).toBeLessThan(MAX_GROWN_MIB);
  });

  it("skips a record in 4,000 wrappers and acknowledges the rest", async () => {
    const deep = `${'{"event":'.repeat(4_000)}{}${"}".repeat(4_000)}`;
    await adds("vpn.stream.skipped", { reason: "unwrap_drop" }, 1, async () => {
      const reply = await streamed({ body: deep + text(flow()) });
      expect(reply.status).toBe(200);
    });
  });
});
