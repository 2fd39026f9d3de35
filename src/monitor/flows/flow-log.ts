/** Writes flows as log records, per connection or per record, up to a limit per window. */
import type {
  AttributeValue,
  LazyLog,
  LogRow,
  Scope,
  Values,
} from "../../kernel/telemetry/types.ts";
import { networkFlowRecord } from "../catalogue/records.ts";
import type { Endpoint } from "../enrich/addresses.ts";
import type { Place } from "../geoip/types.ts";
import type { FlowLogOptions } from "../options.ts";
import type { EnrichedFlow } from "./enriched.ts";
import type { Connection, Counters, FlowRecord } from "./record.ts";
import type { Consistency, Trust } from "./reporter.ts";

/** Attributes common to the connections of one flow record. */
export interface ReporterFacts {
  readonly record: FlowRecord;
  /** Undefined for a reporter that the control plane does not know. */
  readonly hostname: string | undefined;
  readonly trust: Trust;
  readonly consistency: Consistency;
}

export interface FlowLog {
  readonly mode: FlowLogOptions["logMode"];
  /**
   * Starts a batch. Batches of one window, identified by its end, share its limit; a batch without
   * a window has its own.
   */
  begin(windowEndMs: number | undefined): void;
  connection(flow: EnrichedFlow, facts: ReporterFacts): void;
  /** Sums over the new connections of a record. */
  record(connections: number, sums: Counters, facts: ReporterFacts): void;
  /** Records suppressed since the last call. */
  withheld(): number;
}

type FlowAttribute = typeof networkFlowRecord extends LogRow<infer A> ? A : never;
/** Absent values are undefined. */
type FlowAttributes = { readonly [K in FlowAttribute]?: AttributeValue | undefined };

/** Without options: one record per connection, no limit. */
export function createFlowLog(
  scope: Pick<Scope, "logLazily">,
  options: Pick<FlowLogOptions, "logMode" | "maxLogRecordsPerWindow"> | undefined,
): FlowLog {
  const mode = options?.logMode ?? "per_connection";
  const most = options?.maxLogRecordsPerWindow ?? 0;
  const windowed = { endMs: Number.NEGATIVE_INFINITY, count: 0 };
  let current = { endMs: Number.NEGATIVE_INFINITY, count: 0 };
  let withheld = 0;
  const write = (make: () => LazyLog<FlowAttribute>): void => {
    current.count += 1;
    if (most > 0 && current.count > most) withheld += 1;
    else scope.logLazily(networkFlowRecord, make);
  };
  return {
    mode,
    begin(windowEndMs) {
      if (windowEndMs === undefined) current = { endMs: Number.NEGATIVE_INFINITY, count: 0 };
      else if (windowEndMs === windowed.endMs) current = windowed;
      else current = Object.assign(windowed, { endMs: windowEndMs, count: 0 });
    },
    connection(flow, facts) {
      write(() => logOf(facts, connectionBody(flow), connectionAttributes(flow, facts)));
    },
    record(connections, sums, facts) {
      write(() =>
        logOf(
          facts,
          `${connections} connections seen by ${facts.hostname ?? facts.record.nodeId}: ${bytesText(sums)}`,
          recordAttributes(connections, sums, facts),
        ),
      );
    },
    withheld() {
      const count = withheld;
      withheld = 0;
      return count;
    },
  };
}

// Repeats attribute values verbatim, so that the privacy filter can mask them.
function connectionBody({ connection, kind, source, destination }: EnrichedFlow): string {
  return `${kind.type} ${kind.transport} connection from ${endText(connection.source, source.node)} to ${endText(connection.destination, destination.node)}: ${bytesText(connection)}`;
}

function endText(end: Endpoint | undefined, node: string | undefined): string {
  const port = portOf(end);
  const named = node === undefined || node === end?.host.address ? "" : ` (${node})`;
  return end === undefined
    ? (node ?? "unknown")
    : `${end.host.address}${port === undefined ? "" : ` port ${port}`}${named}`;
}

function bytesText({ txBytes, rxBytes }: Counters): string {
  return `${txBytes} bytes sent, ${rxBytes} received`;
}

// Uses the time of the event: a record may arrive minutes after its window.
function logOf(
  { record: { start, end, logged } }: ReporterFacts,
  body: string,
  attributes: FlowAttributes,
): LazyLog<FlowAttribute> {
  return {
    body,
    attributes: attributes as Values<FlowAttribute>,
    timeMs: (start ?? end ?? logged)?.ms,
    observedMs: logged?.ms,
  };
}

function recordAttributes(
  connections: number,
  { txBytes, rxBytes, txPackets, rxPackets }: Counters,
  { record, hostname, trust, consistency }: ReporterFacts,
): FlowAttributes {
  return {
    "vpn.node.id": record.nodeId,
    "vpn.node.hostname": hostname,
    "vpn.flow.window.start": record.start?.text,
    "vpn.flow.window.end": record.end?.text,
    "vpn.reporter.trust": trust,
    "vpn.reporter.consistency": consistency,
    "vpn.connections": connections,
    "vpn.tx.bytes": txBytes,
    "vpn.rx.bytes": rxBytes,
    "vpn.tx.packets": txPackets,
    "vpn.rx.packets": rxPackets,
  };
}

// One literal: merging objects of this size takes several times as long, for each connection.
function connectionAttributes(
  { connection, kind, source, destination }: EnrichedFlow,
  { record, hostname, trust, consistency }: ReporterFacts,
): FlowAttributes {
  const attributes: FlowAttributes = {
    "vpn.node.id": record.nodeId,
    "vpn.node.hostname": hostname,
    "vpn.flow.window.start": record.start?.text,
    "vpn.flow.window.end": record.end?.text,
    "vpn.reporter.trust": trust,
    "vpn.reporter.consistency": consistency,
    "source.address": connection.source?.host.address,
    "source.port": portOf(connection.source),
    "destination.address": connection.destination?.host.address,
    "destination.port": portOf(connection.destination),
    "network.transport": kind.transport,
    "network.type": familyOf(connection),
    "vpn.traffic_type": kind.type,
    "vpn.src.node": source.node,
    "vpn.dst.node": destination.node,
    "vpn.dst.service": kind.service,
    "vpn.src.user": source.user,
    "vpn.src.tags": source.tags,
    "vpn.src.os": source.os,
    "vpn.dst.user": destination.user,
    "vpn.dst.tags": destination.tags,
    "vpn.dst.os": destination.os,
    "vpn.tx.bytes": connection.txBytes,
    "vpn.rx.bytes": connection.rxBytes,
    "vpn.tx.packets": connection.txPackets,
    "vpn.rx.packets": connection.rxPackets,
  };
  return source.place === undefined && destination.place === undefined
    ? attributes
    : {
        ...attributes,
        ...placeAttributes("source", source.place),
        ...placeAttributes("destination", destination.place),
      };
}

function placeAttributes(end: "source" | "destination", place: Place | undefined): FlowAttributes {
  return place === undefined
    ? {}
    : {
        [`${end}.geo.country.iso_code`]: place.country,
        [`${end}.geo.continent.code`]: place.continent,
        [`${end}.geo.locality.name`]: place.locality,
        [`${end}.geo.region.iso_code`]: place.region,
        [`${end}.geo.location.lat`]: place.latitude,
        [`${end}.geo.location.lon`]: place.longitude,
        [`${end}.as.number`]: place.asNumber,
        [`${end}.as.organization.name`]: place.asOrganization,
      };
}

function portOf(end: Endpoint | undefined): number | undefined {
  return end === undefined || end.port === 0 ? undefined : end.port;
}

function familyOf({
  source,
  destination,
}: Pick<Connection, "source" | "destination">): "ipv4" | "ipv6" | undefined {
  for (const end of [source, destination])
    if (end !== undefined && end.host.kind !== "name") return end.host.kind;
  return undefined;
}
