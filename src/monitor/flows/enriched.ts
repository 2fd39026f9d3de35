/** A connection with everything that is known of it, and how that is found out. */
import type { Endpoint } from "../enrich/addresses.ts";
import { nodeName } from "../enrich/names.ts";
import { transportName } from "../enrich/transports.ts";
import type { DeviceCache } from "../enrich/types.ts";
import { wellKnownService } from "../enrich/well-known-services.ts";
import { createIdentities } from "./identity.ts";
import type { Identities, Identity, References } from "./identity.ts";
import { PHYSICAL, trafficTypes } from "./record.ts";
import type { Connection } from "./record.ts";

/** Everything of a connection that is not about who: equal kinds have equal codes. */
export interface FlowKind {
  readonly code: number;
  readonly transport: string;
  readonly type: (typeof trafficTypes)[number];
  /** Registered name of the destination's port. */
  readonly service: string | undefined;
  /** Of physical traffic with a destination only. */
  readonly path: "direct" | "derp" | undefined;
  readonly region: string | undefined;
}

/** One end, as it is shown. Everything is undefined where the record names no such end. */
export interface EndpointInfo extends Identity {
  readonly node: string | undefined;
}

/** A connection as metrics and records need it. */
export interface EnrichedFlow {
  readonly connection: Connection;
  readonly kind: FlowKind;
  readonly source: EndpointInfo;
  readonly destination: EndpointInfo;
}

/** What decides how much is found out. */
export interface EnricherOptions {
  readonly collapseExternal: boolean;
  /** Users, tags and systems are wanted. */
  readonly identity: boolean;
}

/** By this address a node writes that it talks through a relay; the port is the relay's region. */
const RELAY = "127.3.3.40";
/** Kinds remembered; all are forgotten when they are more. */
const MOST_KINDS = 8_192;
const PORTS = 65_536;
const NO_PATH = 0;
const DIRECT = 1;
const DERP = 2;
const paths = [undefined, "direct", "derp"] as const;

/** The face of an end that is not there. */
export const noEndpointInfo: EndpointInfo = {
  node: undefined,
  user: undefined,
  tags: undefined,
  os: undefined,
};

/** Enriches connections. `references` are those of the record that the connection is of. */
export function createEnricher(
  devices: DeviceCache,
  options: EnricherOptions,
): (connection: Connection, references: References) => EnrichedFlow {
  const kinds = new Map<number, FlowKind>();
  const identities: Identities | undefined = options.identity ? createIdentities() : undefined;
  const endpointInfoOf = (end: Endpoint | undefined, references: References): EndpointInfo => {
    if (end === undefined) return noEndpointInfo;
    const device = devices.byAddress(end.host.address);
    const node = nodeName(devices, device, end.host, options.collapseExternal);
    return identities === undefined
      ? { ...noEndpointInfo, node }
      : { node, ...identities.of(device ?? references.get(end.host.address)) };
  };
  return (connection, references) => {
    const kind = kindOf(connection, kinds);
    return {
      connection,
      kind,
      source: endpointInfoOf(connection.source, references),
      destination:
        kind.path === "derp" ? noEndpointInfo : endpointInfoOf(connection.destination, references),
    };
  };
}

function kindOf(
  { type, protocol = 0, destination }: Connection,
  kinds: Map<number, FlowKind>,
): FlowKind {
  const path =
    type !== PHYSICAL || destination === undefined
      ? NO_PATH
      : destination.host.address === RELAY
        ? DERP
        : DIRECT;
  const port = destination?.port ?? 0;
  const service = path === DERP ? undefined : wellKnownService(protocol, port);
  const code =
    ((protocol * trafficTypes.length + type) * paths.length + path) * 2 * PORTS +
    (path === DERP ? PORTS + port : (service?.id ?? 0));
  const known = kinds.get(code);
  if (known !== undefined) return known;
  if (kinds.size >= MOST_KINDS) kinds.clear();
  const kind: FlowKind = {
    code,
    transport: transportName(protocol),
    type: trafficTypes[type],
    service: service?.name,
    path: paths[path],
    region: path === DERP && port > 0 ? String(port) : undefined,
  };
  kinds.set(code, kind);
  return kind;
}

/** The kind without service and region, for when there are too many of those. */
export function coarseKind(kind: FlowKind): FlowKind {
  return {
    ...kind,
    code: kind.code - (kind.code % (2 * PORTS)),
    service: undefined,
    region: undefined,
  };
}
