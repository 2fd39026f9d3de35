/** Describes an enriched connection for the store. */
import type { EnrichedFlow } from "../flows/enriched.ts";
import type { ReporterFacts } from "../flows/flow-log.ts";
import type { Judgement } from "../policy/access-policy.ts";
import type { FlowObservation } from "./types.ts";

/** The time is the end of the record's window, else its start, else when it was logged. */
export function observationOf(
  { connection, kind, source, destination }: EnrichedFlow,
  { record, trust, consistency }: ReporterFacts,
  judgement: Judgement,
): FlowObservation {
  const port = connection.destination?.port ?? 0;
  const { txBytes, rxBytes, txPackets, rxPackets } = connection;
  return {
    timeMs: (record.end ?? record.start ?? record.logged)?.ms,
    trafficType: kind.type,
    transport: kind.transport,
    srcAddr: connection.source?.host.address ?? "",
    dstAddr: connection.destination?.host.address ?? "",
    srcNode: source.node ?? "",
    dstNode: destination.node ?? "",
    dstPort: port === 0 ? "" : String(port),
    dstService: kind.service ?? "",
    srcUser: source.user ?? "",
    dstUser: destination.user ?? "",
    srcTags: source.tags ?? "",
    dstTags: destination.tags ?? "",
    srcOs: source.os ?? "",
    dstOs: destination.os ?? "",
    reporterNodeId: record.nodeId,
    reporterTrust: trust,
    reporterConsistency: consistency,
    path: pathOf(kind.path, connection.destination?.host.kind === "ipv6"),
    derpRegion: kind.region ?? "",
    txBytes,
    rxBytes,
    txPackets,
    rxPackets,
    ...judgement,
  };
}

function pathOf(path: EnrichedFlow["kind"]["path"], isIpv6: boolean): FlowObservation["path"] {
  if (path === undefined) return "";
  if (path === "derp") return path;
  return isIpv6 ? "direct_ipv6" : "direct_ipv4";
}
