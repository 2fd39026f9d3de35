/**
 * Decodes a flow record from parsed JSON. An invalid record is rejected whole, with every distinct
 * reason. Absent fields stay undefined.
 */
import { boundName } from "../../kernel/base/text/bounded-name.ts";
import { createEndpointReader } from "../enrich/addresses.ts";
import type { Endpoint, EndpointReader } from "../enrich/addresses.ts";
import { createInstantReader } from "../ingest/instants.ts";
import type { Instant, InstantReader } from "../ingest/instants.ts";

/** Traffic types in the order of their numbers. */
export const trafficTypes = ["virtual", "subnet", "exit", "physical"] as const;
/** Index into `trafficTypes`. */
export type TrafficType = 0 | 1 | 2 | 3;
export const EXIT: TrafficType = 2;
export const PHYSICAL: TrafficType = 3;

/** Why a record was rejected: five rules, and `malformed` for a wrong shape. */
export type RefusalReason =
  | "negative_counters"
  | "inverted_window"
  | "invalid_endpoint"
  | "future_timestamp"
  | "invalid_protocol"
  | "malformed";

export interface Counters {
  readonly txBytes: number;
  readonly rxBytes: number;
  readonly txPackets: number;
  readonly rxPackets: number;
}

/** One connection within a window. */
export interface Connection extends Counters {
  readonly type: TrafficType;
  /** IANA number; undefined means absent, which differs from 0. */
  readonly protocol: number | undefined;
  readonly source: Endpoint | undefined;
  readonly destination: Endpoint | undefined;
  /** As written, empty if absent; part of the deduplication key. */
  readonly sourceText: string;
  readonly destinationText: string;
}

/** A reporter's description of a node; unverified. */
export interface NodeReference {
  readonly nodeId: string;
  readonly name: string;
  readonly addresses: readonly string[];
  readonly tags: readonly string[];
  readonly user: string;
  readonly os: string;
}

/** Traffic seen by one node in one window. */
export interface FlowRecord {
  /** The reporter, verified by the control plane. */
  readonly nodeId: string;
  readonly start: Instant | undefined;
  readonly end: Instant | undefined;
  readonly logged: Instant | undefined;
  readonly connections: readonly Connection[];
  readonly sourceNode: NodeReference | undefined;
  readonly destinationNodes: readonly NodeReference[];
}

export interface FlowDecoder {
  /** Never throws. */
  decode(
    value: unknown,
    nowMs: number,
  ): FlowRecord | { readonly refused: readonly RefusalReason[] };
}

/** Tolerated clock difference for times in the future. */
const MAX_AHEAD_MS = 5 * 60_000;

const members = ["virtualTraffic", "subnetTraffic", "exitTraffic", "physicalTraffic"] as const;
const malformed = { refused: ["malformed"] } as const;

/** With a cache of hosts and times. */
export function createFlowDecoder(): FlowDecoder {
  const readers: Readers = { endpoints: createEndpointReader(), instants: createInstantReader() };
  return { decode: (value, nowMs) => decode(value, nowMs, readers) };
}

interface Readers {
  readonly endpoints: EndpointReader;
  readonly instants: InstantReader;
}

type Json = Readonly<Record<string, unknown>>;

function decode(
  value: unknown,
  nowMs: number,
  readers: Readers,
): ReturnType<FlowDecoder["decode"]> {
  if (!isObject(value)) return malformed;
  const { nodeId } = value;
  const start = readers.instants.read(value["start"]);
  const end = readers.instants.read(value["end"]);
  const logged = readers.instants.read(value["logged"]);
  if (
    typeof nodeId !== "string" ||
    nodeId === "" ||
    start === "invalid" ||
    end === "invalid" ||
    logged === "invalid"
  )
    return malformed;
  const reasons = new Set<RefusalReason>();
  if (start !== undefined && end !== undefined && start.ms > end.ms) reasons.add("inverted_window");
  if (
    [start, end, logged].some(
      (instant) => instant !== undefined && instant.ms > nowMs + MAX_AHEAD_MS,
    )
  )
    reasons.add("future_timestamp");
  const connections: Connection[] = [];
  for (const [type, member] of members.entries()) {
    const list = value[member] ?? [];
    if (!Array.isArray(list)) return malformed;
    for (const each of list as readonly unknown[]) {
      const connection = decodeConnection(each, type as TrafficType, readers.endpoints, reasons);
      if (connection === undefined) return malformed;
      connections.push(connection);
    }
  }
  if (reasons.size > 0) return { refused: [...reasons] };
  return {
    nodeId: boundName(nodeId),
    start,
    end,
    logged,
    connections,
    sourceNode: referenceOf(value["srcNode"]),
    destinationNodes: referencesOf(value["dstNodes"]),
  };
}

function decodeConnection(
  value: unknown,
  type: TrafficType,
  endpoints: EndpointReader,
  reasons: Set<RefusalReason>,
): Connection | undefined {
  if (!isObject(value)) return undefined;
  const txBytes = integer(value["txBytes"] ?? 0);
  const rxBytes = integer(value["rxBytes"] ?? 0);
  const txPackets = integer(value["txPkts"] ?? 0);
  const rxPackets = integer(value["rxPkts"] ?? 0);
  const protocol = value["proto"] == null ? undefined : integer(value["proto"]);
  const sourceText = value["src"] ?? "";
  const destinationText = value["dst"] ?? "";
  if (
    Number.isNaN(txBytes + rxBytes + txPackets + rxPackets + (protocol ?? 0)) ||
    typeof sourceText !== "string" ||
    typeof destinationText !== "string"
  )
    return undefined;
  const source = sourceText === "" ? undefined : endpoints.read(sourceText);
  const destination = destinationText === "" ? undefined : endpoints.read(destinationText);
  if (
    (source === undefined && sourceText !== "") ||
    (destination === undefined && destinationText !== "")
  )
    reasons.add("invalid_endpoint");
  if (txBytes < 0 || rxBytes < 0 || txPackets < 0 || rxPackets < 0)
    reasons.add("negative_counters");
  if (protocol !== undefined && (protocol < 0 || protocol > 255)) reasons.add("invalid_protocol");
  return {
    type,
    protocol,
    source,
    destination,
    sourceText,
    destinationText,
    txBytes,
    rxBytes,
    txPackets,
    rxPackets,
  };
}

/** NaN unless the value is a safe integer. */
function integer(value: unknown): number {
  return typeof value === "number" && Number.isSafeInteger(value) ? value : Number.NaN;
}

// References are optional: a malformed one must not reject the record's traffic.
function referencesOf(value: unknown): readonly NodeReference[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((each) => referenceOf(each) ?? []);
}

function referenceOf(value: unknown): NodeReference | undefined {
  if (!isObject(value)) return undefined;
  return {
    nodeId: textOf(value["nodeId"]),
    name: textOf(value["name"]),
    addresses: textsOf(value["addresses"]),
    tags: textsOf(value["tags"]),
    user: textOf(value["user"]),
    os: textOf(value["os"]),
  };
}

function textOf(value: unknown): string {
  return typeof value === "string" ? boundName(value) : "";
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value)
    ? value.filter((each): each is string => typeof each === "string").map(boundName)
    : [];
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
