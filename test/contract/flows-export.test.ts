/** `/api/flows/export.json` and `/api/flows/export.csv` of a running daemon. */
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { FlowService } from "../../src/gen/steward/monitor/v1/flow_service_pb.ts";
import { removeTemporaryFolders, rest } from "./daemon.ts";
import { rawRequest } from "./raw-request.ts";
import { post, startReceiving, TOKEN, type Received } from "./receivers.ts";
import { grpcUnary } from "./rpc.ts";

const HEAD =
  "time,traffic_type,transport,src_addr,dst_addr,src_node,dst_node,dst_service,src_user,dst_user,src_tags,dst_tags,src_os,dst_os,reporter_node_id,reporter_trust,reporter_consistency,verdict,reversed,rule,policy_version,path,derp_region,tx_bytes,rx_bytes,tx_packets,rx_packets,flows";
const SOON = { timeout: 60_000, interval: 100 };
let receiving: Received;

beforeAll(async () => {
  receiving = await startReceiving({
    streaming: { enabled: true, listen: "127.0.0.1:0", token: TOKEN },
    collectors: {
      devices: { interval: "1s" },
      acl: { enabled: false },
      flowlogs: { source: "stream" },
      auditlogs: { source: "stream" },
    },
  });
  const end = new Date(Date.now() - 60_000).toISOString();
  const flow = {
    nodeId: "n-alpha",
    start: end,
    end,
    logged: end,
    srcNode: {
      nodeId: "n-alpha",
      // A spreadsheet would run it.
      name: '=cmd|"x"',
      addresses: ["100.127.1.1"],
      user: "Ada, the first",
    },
    dstNodes: [{ nodeId: "n-beta", name: "beta", addresses: ["100.127.1.2"], tags: ["tag:b"] }],
    virtualTraffic: [22, 443].map((port) => ({
      proto: 6,
      src: "100.127.1.1:5000",
      dst: `100.127.1.2:${port}`,
      txPkts: 2,
      txBytes: 1_000,
      rxPkts: 1,
      rxBytes: 100,
    })),
  };
  const { status } = await post(receiving.port("stream"), {
    headers: { authorization: `Basic ${Buffer.from(`any:${TOKEN}`).toString("base64")}` },
    body: JSON.stringify(flow),
  });
  expect(status).toBe(200);
  await vi.waitFor(
    async () =>
      expect((await rest(receiving.daemon, "GET", "/api/flows.json")).json.recent_matched).toBe(2),
    SOON,
  );
});

afterAll(async () => {
  await receiving[Symbol.asyncDispose]();
  removeTemporaryFolders();
});

describe("the export of flows", () => {
  it("as JSON has every selected connection in an envelope, as a file", async () => {
    const { json, headers } = await rest(receiving.daemon, "GET", "/api/flows/export.json");
    expect(headers.get("content-disposition")).toBe('attachment; filename="steward-flows.json"');
    expect(json).toEqual({
      schema_version: 1,
      generated_at: expect.any(String),
      network: expect.any(String),
      window: { start: expect.any(String), end: expect.any(String) },
      source: "recent_ring",
      source_note: expect.stringContaining("flows.capacity_profile"),
      matched: 2,
      returned: 2,
      retained: 2,
      truncated: false,
      rows: (await rest(receiving.daemon, "GET", "/api/flows.json")).json.recent,
    });
    expect(Date.parse(json.window.end) - Date.parse(json.window.start)).toBe(3_600_000);
    const some = (await rest(receiving.daemon, "GET", "/api/flows/export.json?service=ssh")).json;
    expect([some.filters, some.matched, some.retained]).toEqual([{ service: "ssh" }, 1, 2]);
    const none = (await rest(receiving.daemon, "GET", "/api/flows/export.json?window=1s")).json;
    expect([none.matched, none.rows]).toEqual([0, []]);
  });

  it("as CSV says what it holds, guards formulas, and ends lines with LF", async () => {
    const { status, text, headers } = await rest(
      receiving.daemon,
      "GET",
      "/api/flows/export.csv?service=ssh&window=2h",
    );
    expect([status, headers.get("content-type")]).toEqual([200, "text/csv; charset=utf-8"]);
    expect(headers.get("content-disposition")).toMatch(
      /^attachment; filename="steward-flows-[\w.-]+-\d{8}T\d{6}Z\.csv"$/,
    );
    expect(text).not.toContain("\r");
    const lines = text.split("\n");
    expect(lines.slice(0, 9)).toEqual([
      "# schema_version=1",
      "# Steward flow export",
      expect.stringMatching(/^# generated_at=20\d\d-.*Z$/),
      expect.stringMatching(/^# network=\S+$/),
      expect.stringMatching(/^# window_start=\S+Z window_end=\S+Z$/),
      "# filters=service=ssh",
      expect.stringMatching(/^# source=recent_ring \(.*\)$/),
      "# matched=1 returned=1 retained=2 truncated=false",
      HEAD,
    ]);
    expect(lines).toHaveLength(11);
    expect(lines[9]).toMatch(
      /^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ,virtual,tcp,100\.127\.1\.1,100\.127\.1\.2,/,
    );
    expect(lines[9]).toMatch(
      /,ssh,"Ada, the first",,,tag:b,,,n-alpha,\w+,\w+,,false,-1,,,,1000,100,2,1,1$/,
    );
    expect(lines[10]).toBe("");
    const plain = await rest(receiving.daemon, "GET", "/api/flows/export.csv");
    expect(plain.text).toContain("# filters=none\n");
  });

  it.each(["json", "csv"])("as %s refuses what the explorer refuses", async (kind) => {
    const get = async (query: string) =>
      await rawRequest(receiving.daemon.url, "GET", `/api/flows/export.${kind}${query}`);
    expect((await get("?network=nowhere")).status).toBe(404);
    const long = await get(`?device=${"x".repeat(129)}`);
    expect([long.status, long.text]).toEqual([400, expect.stringMatching(/device.*128 bytes/)]);
  });

  it("is the same over gRPC", async () => {
    const answer = await grpcUnary(receiving.daemon.host, FlowService.method.exportFlows, {
      service: "ssh",
    });
    expect(answer.export?.rows.map(({ dstService }) => dstService)).toEqual(["ssh"]);
  });
});
