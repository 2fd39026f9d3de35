import { describe, expect, it } from "vitest";
import { noEndpointInfo } from "../../../src/monitor/flows/enriched.ts";
import type { EnrichedFlow } from "../../../src/monitor/flows/enriched.ts";
import {
  MAX_SOURCES,
  SILENT_FLUSHES,
  UniqueDestinations,
} from "../../../src/monitor/flows/unique.ts";
import { keepingScope } from "./fixtures.ts";

function flow(
  source: string | undefined,
  destination: string | undefined,
  port: number,
): EnrichedFlow {
  const end = { host: { kind: "ipv4", address: "1.2.3.4", overlay: false }, port } as const;
  return {
    connection: {
      type: 0,
      protocol: 6,
      source: undefined,
      destination: end,
      sourceText: "",
      destinationText: "",
      txBytes: 0,
      rxBytes: 0,
      txPackets: 0,
      rxPackets: 0,
    },
    kind: {
      code: 0,
      transport: "tcp",
      type: "virtual",
      service: undefined,
      path: undefined,
      region: undefined,
    },
    source: { ...noEndpointInfo, node: source },
    destination: { ...noEndpointInfo, node: destination },
  };
}

describe("Distinct destinations", () => {
  it("are counted by source, and anew after each flush", () => {
    const { scope, series } = keepingScope();
    const unique = new UniqueDestinations();
    for (const each of [
      flow("a", "x", 1),
      flow("a", "y", 1),
      flow("a", "y", 2),
      flow("a", "y", 0),
      flow("b", undefined, 4),
      flow(undefined, "x", 1),
    ])
      unique.add(each);
    unique.flush(scope);
    expect(series()).toEqual([
      'vpn.network.unique.dst_peers{vpn.src.node="a"} 2',
      'vpn.network.unique.dst_peers{vpn.src.node="b"} 0',
      'vpn.network.unique.dst_ports{vpn.src.node="a"} 2',
      'vpn.network.unique.dst_ports{vpn.src.node="b"} 0',
    ]);
    unique.add(flow("a", "x", 1));
    unique.flush(scope);
    expect(series().toSorted()).toEqual([
      'vpn.network.unique.dst_peers{vpn.src.node="a"} 1',
      'vpn.network.unique.dst_peers{vpn.src.node="b"} 0',
      'vpn.network.unique.dst_ports{vpn.src.node="a"} 1',
      'vpn.network.unique.dst_ports{vpn.src.node="b"} 0',
    ]);
  });

  it("stay as they are over flushes without a flow, and end after many", () => {
    const { scope, series } = keepingScope();
    const unique = new UniqueDestinations();
    for (const each of [flow("a", "x", 1), flow("a", "y", 1)]) unique.add(each);
    unique.flush(scope);
    const shown = series();
    expect(shown).toEqual([
      'vpn.network.unique.dst_peers{vpn.src.node="a"} 2',
      'vpn.network.unique.dst_ports{vpn.src.node="a"} 1',
    ]);
    for (let at = 0; at < SILENT_FLUSHES; at++) {
      unique.flush(scope);
      expect(series()).toEqual(shown);
    }
    unique.flush(scope);
    expect(series()).toEqual([]);
  });

  it("end at once when the nodes get other names", () => {
    const { scope, series } = keepingScope();
    const unique = new UniqueDestinations();
    unique.add(flow("a", "x", 1));
    unique.flush(scope);
    unique.end(scope);
    expect(series()).toEqual([]);
  });

  it("leave out the longest silent source where a new one has no room", () => {
    const { scope, series } = keepingScope();
    const unique = new UniqueDestinations();
    for (let at = 0; at < MAX_SOURCES; at++) unique.add(flow(`s${at}`, "x", 1));
    unique.flush(scope);
    unique.add(flow("new", "x", 1));
    unique.flush(scope);
    const peers = series("vpn.network.unique.dst_peers");
    expect(peers).toHaveLength(MAX_SOURCES);
    expect(peers.some((line) => line.includes('"s0"'))).toBe(false);
    expect(peers.some((line) => line.includes('"new"'))).toBe(true);
  });

  it("are counted for so many sources, and no more values than the memory has room for", () => {
    const { scope, series } = keepingScope();
    const unique = new UniqueDestinations();
    for (let at = 0; at <= MAX_SOURCES; at++) unique.add(flow(`s${at}`, "x", 1));
    for (let port = 1; port < 66_000; port++) unique.add(flow("s0", `p${port}`, port % 65_536));
    unique.flush(scope);
    expect(series("vpn.network.unique.dst_peers")).toHaveLength(MAX_SOURCES);
    expect(series('vpn.network.unique.dst_peers{vpn.src.node="s0"}')).toEqual([
      'vpn.network.unique.dst_peers{vpn.src.node="s0"} 65536',
    ]);
  });
});
