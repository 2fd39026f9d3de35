import { describe, expect, it } from "vitest";
import type { FlowSink } from "../../../src/monitor/flowstore/types.ts";
import { AccessPolicy } from "../../../src/monitor/policy/access-policy.ts";
import {
  alpha,
  ago,
  beta,
  connection,
  device,
  NOW_MS,
  openIntake,
  record,
  unhurried,
  type OpenIntake,
} from "./fixtures.ts";

const labelsOf = {
  tcp: 'network.transport="tcp",vpn.traffic_type="virtual",vpn.src.node="alpha",vpn.dst.node="beta"',
};

describe("The intake of flow records", () => {
  it("counts a connection in every metric it belongs to, the rolled up ones at a flush", async () => {
    const { intake, series } = openIntake();
    expect(await intake.accept({ records: [record()], source: "poll" }, unhurried)).toEqual({
      accepted: 1,
      refused: {},
    });
    expect(series("vpn.network.io")).toEqual([]);
    intake.flush();
    expect(series("vpn.")).toEqual([
      ...["destination", "destination_port", "protocol", "source", "source_port"].map(
        (field) =>
          `vpn.network.field.observations{vpn.traffic_type="virtual",field_class="${field}",state="present"} 1`,
      ),
      'vpn.network.flows{network.transport="tcp",vpn.traffic_type="virtual"} 1',
      `vpn.network.io.rollup{network.io.direction="receive",${labelsOf.tcp},vpn.dst.service="https"} 5400`,
      `vpn.network.io.rollup{network.io.direction="transmit",${labelsOf.tcp},vpn.dst.service="https"} 1200`,
      `vpn.network.packets.rollup{network.io.direction="receive",${labelsOf.tcp},vpn.dst.service="https"} 8`,
      `vpn.network.packets.rollup{network.io.direction="transmit",${labelsOf.tcp},vpn.dst.service="https"} 9`,
      'vpn.network.reporter.observations{trust="unconfigured",consistency="missing_reference"} 1',
      'vpn.network.unique.dst_peers{vpn.src.node="alpha"} 1',
      'vpn.network.unique.dst_ports{vpn.src.node="alpha"} 1',
    ]);
    expect(series("svc.ingest.")).toEqual([
      'svc.ingest.capture.delay{source="poll",signal="flow"} n=1 sum=5',
      'svc.ingest.event.age{source="poll",signal="flow"} n=1 sum=55',
      // The record's end, five seconds after its start and five before it was logged.
      `svc.ingest.last_event_timestamp{source="poll",signal="flow"} ${(NOW_MS - 55_000) / 1_000}`,
      'svc.ingest.records{source="poll",signal="flow"} 1',
    ]);
  });

  it("takes a record's time from its end, else its start, else its logging", async () => {
    for (const [parts, age] of [
      [{}, 55],
      [{ end: undefined }, 60],
      [{ end: undefined, start: undefined }, 50],
    ] as const) {
      const { intake, series } = openIntake();
      await intake.accept({ records: [record(parts)], source: "poll" }, unhurried);
      expect(series("svc.ingest.event.age")).toEqual([
        `svc.ingest.event.age{source="poll",signal="flow"} n=1 sum=${age}`,
      ]);
    }
  });

  it("waits a limited time for the first list of devices", async () => {
    const batch = { records: [record()], source: "poll" as const };
    const nodes = (lines: readonly string[]): boolean =>
      lines.some((line) => line.includes('vpn.src.node="alpha"'));
    const known = openIntake({ awaitsDevices: true, startWaitMs: 10_000 });
    const waiting = known.intake.accept(batch, unhurried);
    await known.devices.replaceDevices([alpha, beta]);
    await waiting;
    known.intake.flush();
    expect(nodes(known.series("vpn.network.io.rollup"))).toBe(true);

    const never = openIntake({ awaitsDevices: true, startWaitMs: 10_000 });
    let isDone = false;
    const late = never.intake.accept(batch, unhurried).then(() => (isDone = true));
    await never.clock.advance(9_999);
    expect(isDone).toBe(false);
    await never.clock.advance(1);
    await late;
    // The time is over for later batches as well.
    await never.intake.accept(batch, unhurried);
    never.intake.flush();
    expect(nodes(never.series("vpn.network.io.rollup"))).toBe(false);

    const stopped = openIntake({ awaitsDevices: true, startWaitMs: 10_000 });
    const stop = new AbortController();
    const given = stopped.intake.accept(batch, stop.signal);
    stop.abort(new Error("stopped"));
    await expect(given).rejects.toThrow("stopped");
  });

  it("waits a limited time for the first answer about the policy, and judges by it", async () => {
    const batch = { records: [record()], source: "poll" as const };
    const opened = (): { verdicts: string[]; store: FlowSink } & OpenIntake => {
      const verdicts: string[] = [];
      const store: FlowSink = {
        policy: new AccessPolicy(),
        named: () => undefined,
        record: ({ verdict }) => void verdicts.push(verdict),
      };
      return { verdicts, store, ...openIntake({ store, startWaitMs: 10_000 }) };
    };
    const rules = { acls: [{ action: "accept", src: ["*"], dst: ["*:*"] }] };
    const known = opened();
    const waiting = known.intake.accept(batch, unhurried);
    known.store.policy.set(JSON.stringify(rules), rules);
    await waiting;
    expect(known.verdicts).toEqual(["permitted"]);

    const none = opened();
    const unjudged = none.intake.accept(batch, unhurried);
    none.store.policy.settle();
    await unjudged;
    expect(none.verdicts).toEqual([""]);

    const never = opened();
    const late = never.intake.accept(batch, unhurried);
    await never.clock.advance(9_999);
    expect(never.verdicts).toEqual([]);
    await never.clock.advance(1);
    await late;
    expect(never.verdicts).toEqual([""]);
  });

  it("ends what it named without the devices once they are known, also what had not been written yet, and counts on under their names", async () => {
    const { intake, series, devices } = openIntake({
      flow: { metricsMode: "both" },
      awaitsDevices: true,
    });
    const nodes = (): Set<string> =>
      new Set(
        series("vpn.network.io").map((line) => /vpn.src.node="([^"]*)"/.exec(line)?.[1] ?? ""),
      );
    await intake.accept({ records: [record()], source: "poll" }, unhurried);
    expect(nodes().has("alpha")).toBe(false);
    await devices.replaceDevices([alpha, beta]);
    const later = record({ virtualTraffic: [connection({ src: "100.64.0.7:4711" })] });
    await intake.accept({ records: [later], source: "poll" }, unhurried);
    intake.flush();
    expect(nodes()).toEqual(new Set(["alpha"]));
    expect(series("vpn.network.io.rollup").filter((line) => line.includes("transmit"))).toEqual([
      expect.stringMatching(/ 1200$/),
    ]);
    // What is written from now on stays.
    await devices.replaceDevices([]);
    intake.flush();
    expect(nodes()).toEqual(new Set(["alpha"]));
  });

  it("writes single connections with their ports in the mode all, directions without traffic, too", async () => {
    const { intake, series } = openIntake({
      flow: { metricsMode: "all", sourcePort: true, destinationPort: true },
    });
    await intake.accept(
      {
        records: [
          record({ virtualTraffic: [connection({ rxBytes: 0, rxPkts: 0, src: "100.64.0.7:0" })] }),
        ],
        source: "poll",
      },
      unhurried,
    );
    intake.flush();
    expect(series("vpn.network.io")).toEqual([
      `vpn.network.io{network.io.direction="receive",${labelsOf.tcp},destination.port=443,vpn.dst.service="https"} 0`,
      `vpn.network.io{network.io.direction="transmit",${labelsOf.tcp},destination.port=443,vpn.dst.service="https"} 1200`,
    ]);
    expect(series("vpn.network.unique")).toEqual([]);
  });

  it("writes both ways in the mode both, and leaves nodes out when they are no dimension", async () => {
    const { intake, series } = openIntake({
      flow: { metricsMode: "both", nodeDims: false, identityDims: true },
    });
    await intake.accept({ records: [record()], source: "poll" }, unhurried);
    intake.flush();
    const kind =
      '{network.io.direction="transmit",network.transport="tcp",vpn.traffic_type="virtual",vpn.dst.service="https"} 1200';
    expect(series("vpn.network.io").filter((line) => line.includes("transmit"))).toEqual([
      `vpn.network.io.rollup${kind}`,
      `vpn.network.io${kind}`,
    ]);
    expect(series("vpn.network.unique")).toEqual([]);
  });

  it("shows identities when they are a dimension: the control plane's first, then the record's own", async () => {
    const { intake, series } = openIntake({ flow: { identityDims: true } });
    const references = {
      srcNode: { nodeId: "nA", addresses: ["100.64.0.7"], user: "liar" },
      dstNodes: [
        {
          nodeId: "nC",
          name: "gamma.tail.test",
          addresses: ["100.64.0.11"],
          tags: ["tag:b", "tag:a", "tag:b "],
          os: "ios",
        },
      ],
    };
    await intake.accept(
      {
        records: [
          record({
            ...references,
            virtualTraffic: [connection({ dst: "100.64.0.11:443", rxBytes: 0 })],
          }),
        ],
        source: "poll",
      },
      unhurried,
    );
    intake.flush();
    expect(series("vpn.network.io")).toEqual([
      'vpn.network.io.rollup{network.io.direction="transmit",network.transport="tcp",vpn.traffic_type="virtual",vpn.src.node="alpha",vpn.dst.node="unverified:gamma",vpn.dst.service="https",vpn.src.tags="tag:ci,tag:web",vpn.src.os="linux",vpn.dst.tags="tag:a,tag:b",vpn.dst.os="ios"} 1200',
    ]);
  });

  it("leaves absent what is absent: no destination, no port 0, no device where a relay is", async () => {
    const { intake, series, logged } = openIntake();
    const physicalTraffic = [
      { src: "100.64.0.9:0", dst: "127.3.3.40:4", txBytes: 10 },
      { src: "100.64.0.9:0", dst: "[2001:db8::1]:41641", txBytes: 20 },
    ];
    await intake.accept(
      {
        records: [
          record({
            virtualTraffic: [],
            exitTraffic: [{ proto: 17, src: "100.64.0.7:0", txBytes: 300, txPkts: 4 }],
            physicalTraffic,
          }),
        ],
        source: "poll",
      },
      unhurried,
    );
    intake.flush();
    expect(series("vpn.network.io")).toEqual([
      'vpn.network.io.rollup{network.io.direction="transmit",network.transport="udp",vpn.traffic_type="exit",vpn.src.node="alpha"} 300',
      'vpn.network.io.rollup{network.io.direction="transmit",network.transport="unknown",vpn.traffic_type="physical",vpn.src.node="beta",vpn.dst.node="external",vpn.path="direct"} 20',
      'vpn.network.io.rollup{network.io.direction="transmit",network.transport="unknown",vpn.traffic_type="physical",vpn.src.node="beta",vpn.path="derp",vpn.derp.region_id="4"} 10',
    ]);
    expect(series("vpn.network.unique.dst_peers")).toEqual([
      'vpn.network.unique.dst_peers{vpn.src.node="alpha"} 0',
      'vpn.network.unique.dst_peers{vpn.src.node="beta"} 1',
    ]);
    expect(series("vpn.exit_node.")).toEqual([
      'vpn.exit_node.io{vpn.exit_node="alpha",network.io.direction="receive"} 0',
      'vpn.exit_node.io{vpn.exit_node="alpha",network.io.direction="transmit"} 300',
      'vpn.exit_node.packets{vpn.exit_node="alpha",network.io.direction="receive"} 0',
      'vpn.exit_node.packets{vpn.exit_node="alpha",network.io.direction="transmit"} 4',
    ]);
    expect(
      series("vpn.network.field").filter(
        (line) => line.includes('"exit"') && line.includes("missing"),
      ),
    ).toHaveLength(3);
    expect(
      Object.keys(logged[0]?.attributes ?? {}).filter(
        (name) => name.startsWith("destination") && logged[0]?.attributes[name] !== undefined,
      ),
    ).toEqual([]);
  });

  it("refuses a record whole and counts each reason, beside records that are taken", async () => {
    const { intake, series } = openIntake();
    const bad = record({ virtualTraffic: [connection(), connection({ proto: 300, txBytes: -1 })] });
    expect(
      await intake.accept({ records: [bad, 7, record()], source: "stream" }, unhurried),
    ).toEqual({
      accepted: 1,
      refused: { invalid_protocol: 1, negative_counters: 1, malformed: 1 },
    });
    expect(series("vpn.network.data_quality")).toEqual(
      ["invalid_protocol", "malformed", "negative_counters"].map(
        (reason) => `vpn.network.data_quality{source="stream",reason="${reason}"} 1`,
      ),
    );
    expect(series("vpn.network.flows")).toEqual([
      'vpn.network.flows{network.transport="tcp",vpn.traffic_type="virtual"} 1',
    ]);
  });

  it("counts nothing of what it saw before, and says conflicts by where they came from", async () => {
    const { intake, series, logged } = openIntake();
    const other = record({ virtualTraffic: [connection({ txBytes: 1 })] });
    await intake.accept({ records: [record(), record()], source: "poll" }, unhurried);
    expect(await intake.accept({ records: [other], source: "poll" }, unhurried)).toEqual({
      accepted: 0,
      refused: {},
    });
    await intake.accept({ records: [other], source: "stream" }, unhurried);
    await intake.accept(
      {
        records: [
          { ...record(), virtualTraffic: [] },
          { ...record(), virtualTraffic: [] },
        ],
        source: "stream",
      },
      unhurried,
    );
    expect(series("vpn.network.dedup")).toEqual([
      'vpn.network.dedup.conflicts{scope="cross_source",vpn.traffic_type="virtual"} 1',
      'vpn.network.dedup.conflicts{scope="poll_boundary",vpn.traffic_type="virtual"} 1',
    ]);
    expect(series("svc.ingest.records")).toEqual([
      'svc.ingest.records{source="poll",signal="flow"} 1',
      'svc.ingest.records{source="stream",signal="flow"} 1',
    ]);
    expect(logged).toHaveLength(1);
    expect(intake.dedupSets()).toEqual([
      { name: "flow", size: 2, capacity: 16_384, hits: 4, evictions: 0 },
    ]);
  });

  it("stores the digests of a replayed batch once, after everything else, and asks them after a restart", async () => {
    const stored: (readonly string[])[] = [];
    const seen = {
      has: (digest: string) => stored.flat().includes(digest),
      add: async (digests: readonly string[], untilMs: number) => (
        expect(untilMs).toBe(5),
        void stored.push(digests)
      ),
      size: 0,
    };
    const batch = {
      records: [record(), record({ nodeId: "nB" })],
      source: "poll",
      replay: { seen, untilMs: 5 },
    } as const;
    await openIntake().intake.accept(batch, unhurried);
    expect(stored.map((digests) => digests.length)).toEqual([2]);
    const restarted = openIntake();
    expect(await restarted.intake.accept(batch, unhurried)).toEqual({ accepted: 0, refused: {} });
    expect(stored).toHaveLength(1);
    expect(restarted.series("vpn.network.flows")).toEqual([]);
  });

  it("stops between two records, having stored what it counted", async () => {
    const { intake, series } = openIntake();
    const stop = new AbortController();
    const stored: string[] = [];
    const replay = {
      seen: {
        has: () => false,
        add: async (digests: readonly string[]) => void stored.push(...digests),
        size: 0,
      },
      untilMs: 5,
    };
    const second = {
      get nodeId() {
        stop.abort(new Error("enough"));
        return "nB";
      },
      virtualTraffic: [connection()],
    };
    await expect(
      intake.accept(
        { records: [record(), second, record({ nodeId: "nC" })], source: "poll", replay },
        stop.signal,
      ),
    ).rejects.toThrow("enough");
    expect(stored).toHaveLength(2);
    expect(series("vpn.network.flows")).toEqual([
      'vpn.network.flows{network.transport="tcp",vpn.traffic_type="virtual"} 2',
    ]);
  });

  it("rejects when digests cannot be stored", async () => {
    const replay = {
      seen: { has: () => false, add: () => Promise.reject(new Error("disk full")), size: 0 },
      untilMs: 5,
    };
    await expect(
      openIntake().intake.accept({ records: [record()], source: "poll", replay }, unhurried),
    ).rejects.toThrow("disk full");
  });

  it("flushes before a snapshot, once in each metric interval", async () => {
    const { intake, scope, clock, series } = openIntake();
    await intake.accept({ records: [record()], source: "poll" }, unhurried);
    scope.snapshot(() => undefined);
    expect(series("vpn.network.io")).toEqual([]);
    await clock.advance(59_000);
    scope.snapshot(() => undefined);
    expect(series("vpn.network.unique")).toHaveLength(2);
    await clock.advance(60_000);
    scope.snapshot(() => undefined);
    expect(series("vpn.network.unique")).toHaveLength(2);
    expect(series("vpn.network.io")).toHaveLength(2);
  });

  it("gives way every few milliseconds", async () => {
    let nowMs = 0;
    const { intake } = openIntake({
      clock: {
        now: () => NOW_MS,
        monotonic: () => (nowMs += 1),
        timer: () => ({ [Symbol.dispose]: () => undefined }),
      },
    });
    let turns = 0;
    let handle = setImmediate(function turn() {
      turns += 1;
      handle = setImmediate(turn);
    });
    await intake.accept(
      {
        records: [
          record({
            virtualTraffic: Array.from({ length: 960 }, (_, at) =>
              connection({ src: `100.64.0.7:${at}` }),
            ),
          }),
        ],
        source: "poll",
      },
      unhurried,
    );
    clearImmediate(handle);
    // Each of the 30 looks at the clock takes it a millisecond on, a stretch lasts five.
    expect(turns).toBeGreaterThanOrEqual(5);
  });
});

describe("Records of flows", () => {
  const golden = {
    name: "vpn.network.flow",
    body: "virtual tcp connection from 100.64.0.7 port 51514 (alpha) to 100.64.0.9 port 443 (beta): 1200 bytes sent, 5400 received",
    timeMs: NOW_MS - 60_000,
    observedMs: NOW_MS - 50_000,
    attributes: {
      "source.address": "100.64.0.7",
      "source.port": 51_514,
      "destination.address": "100.64.0.9",
      "destination.port": 443,
      "network.transport": "tcp",
      "network.type": "ipv4",
      "vpn.traffic_type": "virtual",
      "vpn.src.node": "alpha",
      "vpn.dst.node": "beta",
      "vpn.dst.service": "https",
      "vpn.node.id": "nA",
      "vpn.node.hostname": "alpha",
      "vpn.flow.window.start": ago(60),
      "vpn.flow.window.end": ago(55),
      "vpn.src.tags": "tag:ci,tag:web",
      "vpn.src.os": "linux",
      "vpn.dst.user": "ada@corp.test",
      "vpn.dst.os": "macOS",
      "vpn.reporter.trust": "unconfigured",
      "vpn.reporter.consistency": "missing_reference",
      "vpn.tx.bytes": 1_200,
      "vpn.rx.bytes": 5_400,
      "vpn.tx.packets": 9,
      "vpn.rx.packets": 8,
    },
  };

  it("say everything of a connection, at the time it happened", async () => {
    const { intake, logged } = openIntake();
    await intake.accept({ records: [record()], source: "poll" }, unhurried);
    expect(JSON.parse(JSON.stringify(logged))).toEqual([golden]);
  });

  it.each([
    [{ start: undefined }, NOW_MS - 55_000],
    [{ start: undefined, end: undefined }, NOW_MS - 50_000],
  ])("have the next best time without %j", async (change, timeMs) => {
    const { intake, logged } = openIntake();
    await intake.accept({ records: [record(change)], source: "poll" }, unhurried);
    expect(logged[0]?.timeMs).toBe(timeMs);
  });

  it("sum up a record in the mode per_record, and are none in the mode off", async () => {
    const { intake, logged } = openIntake({ log: { logMode: "per_record" } });
    await intake.accept(
      {
        records: [record({ subnetTraffic: [connection({ src: "[::ffff:100.64.0.7]:9" })] })],
        source: "poll",
      },
      unhurried,
    );
    expect(JSON.parse(JSON.stringify(logged[0]?.attributes))).toEqual({
      "vpn.node.id": "nA",
      "vpn.node.hostname": "alpha",
      "vpn.flow.window.start": ago(60),
      "vpn.flow.window.end": ago(55),
      "vpn.reporter.trust": "unconfigured",
      "vpn.reporter.consistency": "missing_reference",
      "vpn.connections": 2,
      "vpn.tx.bytes": 2_400,
      "vpn.rx.bytes": 10_800,
      "vpn.tx.packets": 18,
      "vpn.rx.packets": 16,
    });
    expect(logged[0]?.body).toBe("2 connections seen by alpha: 2400 bytes sent, 10800 received");
    const off = openIntake({ log: { logMode: "off" } });
    await off.intake.accept({ records: [record()], source: "poll" }, unhurried);
    expect(off.logged).toEqual([]);
  });

  it("are withheld beyond the limit of a window, whose batches share it, and metrics are not", async () => {
    const { intake, logged, series } = openIntake({ log: { maxLogRecordsPerWindow: 2 } });
    const batch = (from: number, windowEndMs?: number) => ({
      records: [0, 1].map((at) => record({ nodeId: `n${from + at}` })),
      source: "poll" as const,
      ...(windowEndMs === undefined ? {} : { windowEndMs }),
    });
    await intake.accept(batch(0, 1), unhurried);
    await intake.accept(batch(2), unhurried);
    await intake.accept(batch(4, 1), unhurried);
    expect(logged).toHaveLength(4);
    await intake.accept(batch(6, 2), unhurried);
    expect(logged).toHaveLength(6);
    expect(series("vpn.network.flow.logs_dropped")).toEqual(["vpn.network.flow.logs_dropped 2"]);
    expect(series("vpn.network.flows")).toEqual([
      'vpn.network.flows{network.transport="tcp",vpn.traffic_type="virtual"} 8',
    ]);
  });
});

describe("Reporters", () => {
  it.each([
    [{ trustedReporterNodeIds: ["nA"] }, "configured"],
    [{ trustedReporterTags: ["tag:web"] }, "tagged"],
    [{ trustedReporterTags: ["tag:db"] }, "untrusted"],
    [{}, "unconfigured"],
  ])("are believed as %j says", async (log, trust) => {
    const { intake, series } = openIntake({ log });
    await intake.accept(
      { records: [record({ srcNode: { nodeId: "nA" } })], source: "poll" },
      unhurried,
    );
    expect(series("vpn.network.reporter")).toEqual([
      `vpn.network.reporter.observations{trust="${trust}",consistency="match"} 1`,
    ]);
  });

  it("that describe somebody else are told apart, and tags of their own give no trust", async () => {
    const { intake, series } = openIntake({ log: { trustedReporterTags: ["tag:made-up"] } });
    await intake.accept(
      { records: [record({ srcNode: { nodeId: "nX", tags: ["tag:made-up"] } })], source: "poll" },
      unhurried,
    );
    expect(series("vpn.network.reporter")).toEqual([
      'vpn.network.reporter.observations{trust="untrusted",consistency="mismatch"} 1',
    ]);
  });

  it("never give a name to an address that the control plane knows", async () => {
    const { intake, devices, logged } = openIntake();
    void devices.replaceDevices([
      alpha,
      beta,
      device({ nodeId: "nC", hostname: "gamma", addresses: ["fd7a:115c:a1e0::9"] }),
    ]);
    await intake.accept(
      {
        records: [
          record({
            srcNode: {
              nodeId: "nA",
              name: "evil.tail.test",
              addresses: ["100.64.0.9", "FD7A:115C:A1E0:0::9", "100.64.0.12"],
            },
            virtualTraffic: [
              connection({ dst: "[fd7a:115c:a1e0::9]:1" }),
              connection({ dst: "100.64.0.12:1" }),
            ],
          }),
        ],
        source: "poll",
      },
      unhurried,
    );
    expect(logged.map(({ attributes }) => attributes["vpn.dst.node"])).toEqual([
      "gamma",
      "unverified:evil",
    ]);
  });
});
