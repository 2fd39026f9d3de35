/** Enriches connections with names, identities and services. */
import type { Endpoint } from "../enrich/addresses.ts";
import { nodeName, type NameOptions } from "../enrich/names.ts";
import { transportName } from "../enrich/transports.ts";
import type { Place, Places } from "../geoip/types.ts";
import type { DeviceCache } from "../enrich/types.ts";
import { wellKnownService } from "../enrich/well-known-services.ts";
import { createIdentities } from "./identity.ts";
import type { Identities, Identity, References } from "./identity.ts";
import { PHYSICAL, trafficTypes } from "./record.ts";
import type { Connection } from "./record.ts";

/** Dimensions of a connection other than its endpoints; equal kinds have equal codes. */
export interface FlowKind {
  readonly code: number;
  readonly transport: string;
  readonly type: (typeof trafficTypes)[number];
  /** Registered service of the destination port. */
  readonly service: string | undefined;
  /** Only for physical traffic with a destination. */
  readonly path: "direct" | "derp" | undefined;
  readonly region: string | undefined;
}

/** One endpoint. All fields are undefined where the record has none. */
export interface EndpointInfo extends Identity {
  readonly node: string | undefined;
  readonly place: Place | undefined;
}

export interface EnrichedFlow {
  readonly connection: Connection;
  readonly kind: FlowKind;
  readonly source: EndpointInfo;
  readonly destination: EndpointInfo;
}

export interface EnricherOptions extends NameOptions {
  /** Whether users, tags and operating systems are looked up. */
  readonly identity: boolean;
  /** Undefined where places are not wanted. */
  readonly places?: Places | undefined;
}

/** Address by which a node marks relayed traffic; the port is the relay region. */
const RELAY = "127.3.3.40";
/** Cached kinds; the cache is cleared when full. */
const MAX_KINDS = 8_192;
const PORTS = 65_536;
const NO_PATH = 0;
const DIRECT = 1;
const DERP = 2;
const paths = [undefined, "direct", "derp"] as const;

/** A missing endpoint. */
export const noEndpointInfo: EndpointInfo = {
  node: undefined,
  user: undefined,
  tags: undefined,
  os: undefined,
  place: undefined,
};

/** `references` are the node references of the connection's record. */
export function createEnricher(
  devices: DeviceCache,
  options: EnricherOptions,
): (connection: Connection, references: References) => EnrichedFlow {
  const kinds = new Map<number, FlowKind>();
  const identities: Identities | undefined = options.identity ? createIdentities() : undefined;
  const endpointInfoOf = (end: Endpoint | undefined, references: References): EndpointInfo => {
    if (end === undefined) return noEndpointInfo;
    const device = devices.byAddress(end.host.address);
    const node = nodeName(devices, device, end.host, options);
    const { user, tags, os } =
      identities?.of(device ?? references.get(end.host.address)) ?? noEndpointInfo;
    const place = end.host.kind === "name" ? undefined : options.places?.placeOf(end.host.address);
    return { node, user, tags, os, place };
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
  if (kinds.size >= MAX_KINDS) kinds.clear();
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

/** The kind without service and region, used when there are too many. */
export function coarseKind(kind: FlowKind): FlowKind {
  return {
    ...kind,
    code: kind.code - (kind.code % (2 * PORTS)),
    service: undefined,
    region: undefined,
  };
}
