/** `/api/flows.json` of a running daemon, row by row, over REST, Connect and gRPC. */
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { FlowService } from "../../src/gen/steward/monitor/v1/flow_service_pb.ts";
import {
  removeTemporaryFolders,
  rest,
  runSteward,
  startDaemon,
  temporaryFolder,
} from "./daemon.ts";
import { rawRequest } from "./raw-request.ts";
import { post, startReceiving, TOKEN, type Received } from "./receivers.ts";
import { grpcUnary } from "./rpc.ts";

afterAll(removeTemporaryFolders);

const FLOWS_RPC = "/steward.monitor.v1.FlowService/QueryFlows";
const connect = { "content-type": "application/json", "connect-protocol-version": "1" };
const authorization = `Basic ${Buffer.from(`any:${TOKEN}`).toString("base64")}`;
const alpha = {
  nodeId: "n-alpha",
  name: "probe-alpha",
  addresses: ["100.127.1.1"],
  user: "Ada@corp.test",
  os: "linux",
};
const beta = {
  nodeId: "n-beta",
  name: "probe-beta",
  addresses: ["100.127.1.2"],
  tags: ["tag:web", "tag:db"],
  os: "macOS",
};
const A = "unverified:probe-alpha";
const B = "unverified:probe-beta";
const counts = (tx: number, rx: number, flows = 1) => ({
  tx_bytes: tx,
  rx_bytes: rx,
  tx_packets: 2 * flows,
  rx_packets: flows,
  flows,
});

/** What alpha reports of a window that ended some seconds ago. */
function record(secondsAgo: number, traffic: Readonly<Record<string, unknown>>): object {
  const at = (seconds: number): string => new Date(Date.now() - seconds * 1_000).toISOString();
  return {
    nodeId: "n-alpha",
    start: at(secondsAgo + 5),
    end: at(secondsAgo),
    logged: at(secondsAgo),
    srcNode: alpha,
    dstNodes: [beta],
    ...traffic,
  };
}
function connection(src: string, dst: string, txBytes: number, rxBytes: number): object {
  return { proto: 6, src, dst, txPkts: 2, txBytes, rxPkts: 1, rxBytes };
}

describe("stored flows", () => {
  let receiving: Received;
  const flows = async (query = ""): Promise<Record<string, any>> => {
    const { status, json } = await rest(receiving.daemon, "GET", `/api/flows.json${query}`);
    expect(status).toBe(200);
    return json;
  };
  const send = async (...records: object[]): Promise<void> => {
    const { status } = await post(receiving.port("stream"), {
      headers: { authorization },
      body: records.map((each) => JSON.stringify(each)).join("\n"),
    });
    expect(status).toBe(200);
  };

  beforeAll(async () => {
    receiving = await startReceiving({
      streaming: { enabled: true, listen: "127.0.0.1:0", token: TOKEN },
      flows: { retention: "2h" },
      // Without a policy nothing is compared: test/contract/flow-policy.test.ts.
      collectors: {
        devices: { interval: "1s" },
        acl: { enabled: false },
        flowlogs: { source: "stream" },
        auditlogs: { source: "stream" },
      },
      // Everything is hidden from exports, and nothing from the administrator.
      pii_filter: { emails: false, hostnames: false, vpn_ips: false, node_ids: false },
    });
    await send(
      record(3_000, {
        virtualTraffic: [connection("100.127.1.1:5000", "100.127.1.2:443", 1_000, 100)],
        subnetTraffic: [connection("100.127.1.1:5001", "10.1.2.3:22", 50, 5)],
      }),
      record(400, {
        physicalTraffic: [
          connection("100.127.1.2:0", "127.3.3.40:7", 300, 30),
          connection("100.127.1.2:0", "198.51.100.7:41641", 200, 20),
          connection("100.127.1.2:0", "[2001:db8::7]:41641", 20, 2),
        ],
        exitTraffic: [connection("100.127.1.1:5002", "", 10, 1)],
      }),
    );
  });
  afterAll(() => receiving[Symbol.asyncDispose]());

  it("come with every field, although the privacy filter hides them from exports", async () => {
    const report = await flows();
    expect(Object.keys(report)).toEqual([
      "schema_version",
      "network",
      "networks",
      "window",
      "retention",
      "stats",
      "result",
      "recent",
      "policy",
      "exercised",
      "generated_at",
      "recent_matched",
      "recent_returned",
      "recent_retained",
      "recent_truncated",
    ]);
    expect(report).toMatchObject({
      schema_version: 1,
      networks: [report.network],
      window: "1h0m0s",
      retention: "2h0m0s",
      stats: {
        capacity: 120,
        observations: 6,
        truncated: 0,
        backend: { kind: "memory", healthy: true },
      },
      policy: { available: false, rules: [] },
      exercised: [],
      recent_matched: 6,
      recent_returned: 6,
      recent_retained: 6,
      recent_truncated: false,
    });
    const virtual = report.recent.find((row: any) => row.traffic_type === "virtual");
    expect(virtual).toEqual({
      time: expect.stringMatching(/^20\d\d-.*Z$/),
      traffic_type: "virtual",
      transport: "tcp",
      src_addr: "100.127.1.1",
      dst_addr: "100.127.1.2",
      src_node: A,
      dst_node: B,
      dst_service: "https",
      src_user: "Ada@corp.test",
      dst_tags: "tag:db,tag:web",
      src_os: "linux",
      dst_os: "macOS",
      reporter_node_id: "n-alpha",
      reporter_trust: "unconfigured",
      reporter_consistency: "match",
      rule: -1,
      counts: counts(1_000, 100),
    });
    const relayed = report.recent.find((row: any) => row.path === "derp");
    expect(relayed).toMatchObject({ src_node: B, dst_addr: "127.3.3.40", derp_region: "7" });
    expect(relayed.dst_node).toBeUndefined();
  });

  it("are summed by pair, node, port, label, matrix and path", async () => {
    const { result } = await flows();
    expect(Date.parse(result.window.end) - Date.parse(result.window.start)).toBeLessThanOrEqual(
      3_600_000,
    );
    expect([result.step, result.truncated]).toEqual(["1m0s", 0]);
    expect(result.totals).toEqual(counts(1_580, 158, 6));
    const sumOfSeries = result.series.reduce(
      (sum: number, { counts: at }: any) => sum + at.flows,
      0,
    );
    expect([result.series.length, sumOfSeries]).toEqual([2, 6]);
    expect(result.pairs.find((pair: any) => pair.dst === B)).toEqual({
      src: A,
      dst: B,
      traffic_type: "virtual",
      counts: counts(1_000, 100),
    });
    expect(result.nodes.find(({ node }: any) => node === B)).toEqual({
      node: B,
      sent: counts(520, 52, 3),
      received: { tx_bytes: 100, rx_bytes: 1_000, tx_packets: 1, rx_packets: 2, flows: 1 },
    });
    expect(result.ports).toEqual([
      { port: "443", transport: "tcp", service: "https", counts: counts(1_000, 100) },
      { port: "22", transport: "tcp", service: "ssh", counts: counts(50, 5) },
    ]);
    const labels = (list: any[]) => list.map(({ label, counts: at }) => [label, at.flows]);
    expect(labels(result.transports)).toEqual([["tcp", 6]]);
    expect(labels(result.traffic_types)).toEqual([
      ["virtual", 1],
      ["physical", 3],
      ["subnet", 1],
      ["exit", 1],
    ]);
    expect(labels(result.users)).toEqual([["Ada@corp.test", 3]]);
    expect(labels(result.tags)).toEqual([
      ["tag:db", 4],
      ["tag:web", 4],
    ]);
    expect(labels(result.paths)).toEqual([
      ["derp", 1],
      ["direct_ipv4", 1],
      ["direct_ipv6", 1],
    ]);
    expect(labels(result.derp_regions)).toEqual([["7", 1]]);
    expect(result.os_matrix).toEqual([{ src: "linux", dst: "macOS", counts: counts(1_000, 100) }]);
    expect([
      result.tag_matrix,
      result.user_matrix,
      result.verdicts,
      result.unexplained,
      result.rules,
    ]).toEqual([[], [], [], [], []]);
    expect(result.peer_paths).toEqual([
      { peer: B, direct: counts(220, 22, 2), relayed: counts(300, 30) },
    ]);
  });

  it.each([
    ["?device=PROBE-alpha", 3],
    ["?device=probe", 6],
    ["?addr=10.1.2", 1],
    ["?addr=2001:DB8", 1],
    ["?service=HTTP", 1],
    ["?identity=ada@", 3],
    ["?identity=TAG:db", 4],
    ["?type=Physical", 3],
    ["?type=phys", 0],
    ["?path=DERP", 1],
    ["?path=direct", 0],
    ["?verdict=permitted", 0],
    ["?device=probe-beta&type=physical&path=direct_ipv6", 1],
    ["?device=&type=&unknown=1", 6],
  ])("are selected by %s: %d connections, and sums stay", async (query, matched) => {
    const report = await flows(query);
    expect([report.recent_matched, report.recent.length, report.result.totals.flows]).toEqual([
      matched,
      matched,
      6,
    ]);
  });

  it.each([
    ["?window=20m", "20m0s", 4],
    ["?window=1s", "1m0s", 0],
    ["?window=-5m", "1h0m0s", 6],
    ["?window=soon", "1h0m0s", 6],
    ["?window=0", "1h0m0s", 6],
    ["?window=999h", "2h0m0s", 6],
    ["?end=yesterday", "1h0m0s", 6],
    ["?end=2999-01-01T00:00:00Z", "1h0m0s", 6],
    ["?end=2000-01-01T00:00:00Z", "1h0m0s", 0],
    [`?end=${new Date(Date.now() - 1_200_000).toISOString()}`, "1h0m0s", 2],
  ])("are of the window %s", async (query, window, matched) => {
    const report = await flows(query);
    expect([report.window, report.recent_matched]).toEqual([window, matched]);
    if (report.result.totals.flows === 0)
      expect(report.result.window.start).toBe("0001-01-01T00:00:00Z");
  });

  it.each([
    ["?top=1", 1],
    ["?top=0", 1],
    ["?top=-9", 1],
    ["?top=x", 4],
    ["?top=99999999999", 4],
  ])("are ranked up to a length of %s", async (query, length) => {
    expect((await flows(query)).result.traffic_types).toHaveLength(length);
  });

  it.each([
    ["?recent=0", 0],
    ["?recent=-1", 0],
    ["?recent=2", 2],
    ["?recent=x", 6],
    ["?recent=99999", 6],
  ])("come on pages of %s", async (query, returned) => {
    const report = await flows(query);
    expect([report.recent_returned, report.recent.length, report.recent_matched]).toEqual([
      returned,
      returned,
      6,
    ]);
    expect(report.next_cursor === undefined).toBe(returned === 0 || returned === 6);
  });

  it("come page by page, newest first, and an invalid cursor begins with the newest", async () => {
    const rows: any[] = [];
    let cursor: string | undefined = "";
    for (let pages = 0; cursor !== undefined && pages < 9; pages += 1) {
      const page: Record<string, any> = await flows(`?recent=4&cursor=${cursor}`);
      rows.push(...page.recent);
      cursor = page.next_cursor as string | undefined;
    }
    expect(rows).toEqual((await flows()).recent);
    const times = rows.map(({ time }) => Date.parse(time));
    expect(times).toEqual(times.toSorted((left, right) => right - left));
    expect((await flows("?cursor=djE6MQ")).recent_returned).toBe(6);
  });

  it("show the filters that apply", async () => {
    expect((await flows("?device=x&type=exit")).filters).toEqual({ device: "x", type: "exit" });
  });

  it.each(["device", "addr", "service", "identity", "type", "verdict", "path"])(
    "are refused with 400 for more than 128 bytes in %s, and not for 128",
    async (name) => {
      const get = async (value: string) =>
        await rawRequest(
          receiving.daemon.url,
          "GET",
          `/api/flows.json?${name}=${encodeURIComponent(value)}`,
        );
      expect((await get("é".repeat(64))).status).toBe(200);
      const refused = await get(`${"é".repeat(64)}x`);
      expect([refused.status, refused.headers["content-type"]]).toEqual([
        400,
        "text/plain; charset=utf-8",
      ]);
      expect(refused.text).toMatch(new RegExp(`${name}.*128 bytes`));
    },
  );

  it("are those of one network by its name, and never another's", async () => {
    const { network } = await flows();
    expect((await flows(`?network=${network}`)).recent_matched).toBe(6);
    const unknown = await rawRequest(
      receiving.daemon.url,
      "GET",
      "/api/flows.json?network=elsewhere",
    );
    expect([unknown.status, unknown.headers["content-type"]]).toEqual([
      404,
      "text/plain; charset=utf-8",
    ]);
    expect(unknown.text).toContain("elsewhere");
  });

  it("are the same over Connect and gRPC", async () => {
    const request = { type: "physical", recent: 2 };
    const over = await flows("?type=physical&recent=2");
    const { json } = await rest(receiving.daemon, "POST", FLOWS_RPC, request, connect);
    const { flows: report } = await grpcUnary(
      receiving.daemon.host,
      FlowService.method.queryFlows,
      request,
    );
    for (const each of [json.flows, report]) {
      expect(each.nextCursor).toBe(over.next_cursor);
      expect(each.recent.map(({ dstAddr }: any) => dstAddr)).toEqual(
        over.recent.map(({ dst_addr: address }: any) => address),
      );
      expect(Number(each.result.totals.txBytes)).toBe(1_580);
    }
    const long = await rest(
      receiving.daemon,
      "POST",
      FLOWS_RPC,
      { path: "x".repeat(129) },
      connect,
    );
    expect([long.status, long.json.code]).toEqual([400, "invalid_argument"]);
  });

  it("are not stored when they are too old, which is counted", async () => {
    await send(
      record(10_000, {
        virtualTraffic: [connection("100.127.1.1:1", "100.127.1.2:1", 1, 1)],
      }),
    );
    expect((await flows()).stats.observations).toBe(6);
    await vi.waitFor(
      () => expect(receiving.sum("vpn.network.store.dropped", { reason: "expired" })).toBe(1),
      { timeout: 60_000, interval: 50 },
    );
  });

  it("are counted in the status", async () => {
    await vi.waitFor(
      async () =>
        expect((await rest(receiving.daemon, "GET", "/api/status.json")).json.flow_store).toEqual({
          enabled: true,
          buckets: 2,
          capacity: 120,
          estimated_bytes: 500_000 * 410 + 2 * 2_000 * 730,
          max_recent: 2_000,
          observations: 6,
          truncated: 0,
          capacity_profile: "default",
          covered: expect.stringMatching(/^4[45]m0s$/),
          retention: "2h0m0s",
          backend: { healthy: true, kind: "memory", persistent: false },
        }),
      { timeout: 60_000, interval: 100 },
    );
  });

  it("are answered after a node reports counters as large as a number can be", async () => {
    const most = Number.MAX_SAFE_INTEGER;
    const traffic = [connection("100.127.1.1:5009", "100.127.1.2:443", most, most)];
    await send(...[410, 420].map((ago) => record(ago, { virtualTraffic: traffic })));
    await vi.waitFor(
      async () => {
        const { result } = await flows();
        expect([result.totals.tx_bytes, result.totals.rx_bytes]).toEqual([most, most]);
      },
      { timeout: 60_000, interval: 20 },
    );
  });
});

describe("flows", () => {
  const idle = {
    STEWARD_GATEWAY__LISTEN: "127.0.0.1:0",
    STEWARD_SERVICES__DEDUP: "false",
    STEWARD_SERVICES__TOKENS: "false",
  };

  it.each([
    {},
    { STEWARD_FLOWS__ENABLED: "false" },
    { STEWARD_ADMIN__ENABLED: "false" },
    { STEWARD_ADMIN__LANDING_PAGE: "false" },
  ])("without a network or with %o are not found, by no protocol", async (more) => {
    const daemon = await startDaemon({
      env: { ...idle, STEWARD_STATE__DIRECTORY: temporaryFolder(), ...more },
    });
    const refused = await rawRequest(daemon.url, "GET", "/api/flows.json");
    expect([refused.status, refused.headers["content-type"]]).toEqual([
      404,
      "text/plain; charset=utf-8",
    ]);
    if (Object.keys(more).length > 0) expect(refused.text).toBe("404 page not found\n");
    expect((await rawRequest(daemon.url, "POST", FLOWS_RPC, connect, "{}")).status).toBe(404);
    await daemon.stop();
  });

  it.each([
    ["STEWARD_FLOWS__RETENTION", "59s", /flows\.retention.*between 1m and 24h/],
    ["STEWARD_FLOWS__RETENTION", "25h", /flows\.retention.*between 1m and 24h/],
    ["STEWARD_FLOWS__MAX_FUTURE_SKEW", "61m", /flows\.max_future_skew.*at most 1h/],
    ["STEWARD_FLOWS__CAPACITY_PROFILE", "huge", /flows\.capacity_profile.*compact/],
  ])("are refused with %s=%s", async (name, value, reason) => {
    const { code, stdout, stderr } = await runSteward(["-validate"], { env: { [name]: value } });
    expect([code, `${stdout}${stderr}`]).toEqual([1, expect.stringMatching(reason)]);
  });
});
