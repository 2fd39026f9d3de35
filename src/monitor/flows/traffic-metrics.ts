/** Byte and packet counters: per connection, and for rolled-up sums. */
import type { Row, Scope } from "../../kernel/telemetry/types.ts";
import {
  networkIo,
  networkIoRollup,
  networkPackets,
  networkPacketsRollup,
} from "../catalogue/flows.ts";
import type { CardinalityOptions } from "../options.ts";
import type { EnrichedFlow, EndpointInfo, FlowKind } from "./enriched.ts";
import type { EmitSum } from "./rollup.ts";

/** Optional dimensions. */
export type FlowDimensions = Pick<
  CardinalityOptions["flow"],
  "nodeDims" | "identityDims" | "geoDims" | "sourcePort" | "destinationPort"
>;

type TrafficAttributes =
  typeof networkIoRollup extends Row<infer A, "counter">
    ? { readonly [K in Exclude<A, "network.io.direction">]: string | undefined }
    : never;

/** Writes single connections, including directions without traffic. */
export function createDirectTraffic(
  scope: Pick<Scope, "add">,
  dimensions: FlowDimensions,
): (flow: EnrichedFlow) => void {
  const identity = dimensions.identityDims && dimensions.nodeDims;
  return ({ connection, kind, source, destination }) => {
    const shared = {
      ...attributesOf(kind, source, destination, {
        node: dimensions.nodeDims,
        identity,
        geo: dimensions.geoDims,
      }),
      "source.port": dimensions.sourcePort ? portOf(connection.source?.port) : undefined,
      "destination.port": dimensions.destinationPort
        ? portOf(connection.destination?.port)
        : undefined,
    };
    const transmit = { ...shared, "network.io.direction": "transmit" };
    const receive = { ...shared, "network.io.direction": "receive" };
    scope.add(networkIo, connection.txBytes, transmit);
    scope.add(networkIo, connection.rxBytes, receive);
    scope.add(networkPackets, connection.txPackets, transmit);
    scope.add(networkPackets, connection.rxPackets, receive);
  };
}

/** Writes sums; a direction without traffic is skipped. */
export function createRollupTraffic(scope: Pick<Scope, "add">): EmitSum {
  return (kind, source, destination, sums) => {
    const shared = attributesOf(kind, source, destination, {
      node: true,
      identity: true,
      geo: true,
    });
    for (const [direction, bytes, packets] of [
      ["transmit", sums.txBytes, sums.txPackets],
      ["receive", sums.rxBytes, sums.rxPackets],
    ] as const) {
      const attributes = { ...shared, "network.io.direction": direction };
      if (bytes > 0) scope.add(networkIoRollup, bytes, attributes);
      if (packets > 0) scope.add(networkPacketsRollup, packets, attributes);
    }
  };
}

function attributesOf(
  kind: FlowKind,
  source: EndpointInfo,
  destination: EndpointInfo,
  {
    node,
    identity,
    geo,
  }: { readonly node: boolean; readonly identity: boolean; readonly geo: boolean },
): TrafficAttributes {
  return {
    "network.transport": kind.transport,
    "vpn.traffic_type": kind.type,
    "vpn.dst.service": kind.service,
    "vpn.path": kind.path,
    "vpn.derp.region_id": kind.region,
    "vpn.src.node": node ? source.node : undefined,
    "vpn.dst.node": node ? destination.node : undefined,
    "vpn.src.user": identity ? source.user : undefined,
    "vpn.src.tags": identity ? source.tags : undefined,
    "vpn.src.os": identity ? source.os : undefined,
    "vpn.dst.user": identity ? destination.user : undefined,
    "vpn.dst.tags": identity ? destination.tags : undefined,
    "vpn.dst.os": identity ? destination.os : undefined,
    "source.geo.country.iso_code": geo ? source.place?.country : undefined,
    "source.geo.continent.code": geo ? source.place?.continent : undefined,
    "destination.geo.country.iso_code": geo ? destination.place?.country : undefined,
    "destination.geo.continent.code": geo ? destination.place?.continent : undefined,
  };
}

// 0 means no port.
function portOf(port: number | undefined): number | undefined {
  return port === 0 ? undefined : port;
}
