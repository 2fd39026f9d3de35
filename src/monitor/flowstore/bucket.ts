/** Sums of the traffic of one minute: exact totals, and tables with limits. */
import type { FlowCapacity } from "./capacity.ts";
import { mirrored, Sum, SumTable, type Counts } from "./sums.ts";
import type { FlowObservation } from "./types.ts";

export const BUCKET_MS = 60_000;

/** Each table, and the limit of its entries. */
const tableLimits = {
  pairs: "pairs",
  nodes: "nodes",
  ports: "ports",
  transports: "labels",
  trafficTypes: "labels",
  users: "labels",
  tags: "labels",
  oses: "labels",
  paths: "labels",
  derpRegions: "labels",
  verdicts: "labels",
  tagMatrix: "cells",
  userMatrix: "cells",
  osMatrix: "cells",
  peerPaths: "peerPaths",
  unexplained: "unexplained",
  rules: "rules",
} as const satisfies Readonly<Record<string, keyof FlowCapacity>>;

export type FlowTable = keyof typeof tableLimits;
export type FlowTables = Readonly<Record<FlowTable, SumTable>>;
export const flowTables = Object.keys(tableLimits) as readonly FlowTable[];

/** Tags of one end that are counted; further ones are not. */
const MAX_TAGS = 32;
const noTags: readonly string[] = [];

export interface Bucket {
  readonly totals: Sum;
  /** Empty once the minute is reduced to its totals. */
  tables: FlowTables;
  /** Of all tables. */
  entries: number;
  /** Observations with a part in `__other__`. */
  truncated: number;
}

export function createBucket(limits: FlowCapacity): Bucket {
  const created = (): void => void (bucket.entries += 1);
  const bucket: Bucket = {
    totals: new Sum(),
    tables: tablesWith((table) => limits[tableLimits[table]], created),
    entries: 0,
    truncated: 0,
  };
  return bucket;
}

/** `created` is called for each new entry of a table. */
export function tablesWith(
  limitOf: (table: FlowTable) => number,
  created?: () => void,
): FlowTables {
  return Object.fromEntries(
    flowTables.map((table) => [table, new SumTable(limitOf(table), created)]),
  ) as Record<FlowTable, SumTable>;
}

/** Of a minute that is reduced to its totals; nothing is added to them. */
const noTables = tablesWith(() => 0);

export function isReduced({ tables }: Bucket): boolean {
  return tables === noTables;
}

/** Leaves the totals, and counts every observation as truncated. */
export function reduceToTotals(bucket: Bucket): void {
  bucket.tables = noTables;
  bucket.entries = 0;
  bucket.truncated = bucket.totals.flows;
}

/** False when a part of it went to `__other__`, or into totals alone. */
export function addToBucket(bucket: Bucket, flow: FlowObservation): boolean {
  const { tables, totals } = bucket;
  const counts = new Sum();
  counts.addConnection(flow);
  totals.add(counts);
  if (isReduced(bucket)) {
    bucket.truncated += 1;
    return false;
  }
  const sourceTags = tagsOf(flow.srcTags);
  const destinationTags = tagsOf(flow.dstTags);
  let fits = addNodes(tables, flow, counts);
  fits = addLabels(tables, flow, counts) && fits;
  fits = addVerdict(tables, flow, counts) && fits;
  fits = addBoth(tables.users, flow.srcUser, flow.dstUser, counts) && fits;
  fits = addBoth(tables.oses, flow.srcOs, flow.dstOs, counts) && fits;
  for (const tag of sourceTags) fits = tables.tags.add([tag], "first", counts) && fits;
  for (const tag of destinationTags)
    if (!sourceTags.includes(tag)) fits = tables.tags.add([tag], "first", counts) && fits;
  for (const source of sourceTags)
    for (const destination of destinationTags)
      fits = tables.tagMatrix.add([source, destination], "first", counts) && fits;
  if (flow.srcUser !== "" && flow.dstUser !== "")
    fits = tables.userMatrix.add([flow.srcUser, flow.dstUser], "first", counts) && fits;
  if (flow.srcOs !== "" && flow.dstOs !== "")
    fits = tables.osMatrix.add([flow.srcOs, flow.dstOs], "first", counts) && fits;
  if (!fits) bucket.truncated += 1;
  return fits;
}

function addNodes(
  { pairs, nodes, ports, peerPaths }: FlowTables,
  { srcNode, dstNode, trafficType, dstPort, transport, dstService, path }: FlowObservation,
  counts: Counts,
): boolean {
  let fits = true;
  if (srcNode !== "" && dstNode !== "")
    fits = pairs.add([srcNode, dstNode, trafficType], "first", counts);
  if (srcNode !== "") fits = nodes.add([srcNode], "first", counts) && fits;
  if (dstNode !== "") fits = nodes.add([dstNode], "second", mirrored(counts)) && fits;
  if (trafficType !== "physical" && dstPort !== "")
    fits = ports.add([dstPort, transport, dstService], "first", counts) && fits;
  // The source of physical traffic is the peer.
  if (path !== "" && srcNode !== "")
    fits = peerPaths.add([srcNode], path === "derp" ? "second" : "first", counts) && fits;
  return fits;
}

function addLabels(
  { transports, trafficTypes, paths, derpRegions }: FlowTables,
  { transport, trafficType, path, derpRegion }: FlowObservation,
  counts: Counts,
): boolean {
  let fits = transports.add([transport], "first", counts);
  fits = trafficTypes.add([trafficType], "first", counts) && fits;
  if (path !== "") fits = paths.add([path], "first", counts) && fits;
  if (derpRegion !== "") fits = derpRegions.add([derpRegion], "first", counts) && fits;
  return fits;
}

function addVerdict(
  { verdicts, unexplained, rules }: FlowTables,
  flow: FlowObservation,
  counts: Counts,
): boolean {
  const { verdict, reversed, rule, policyVersion } = flow;
  if (verdict === "") return true;
  let fits = verdicts.add([reversed ? `${verdict}_reverse` : verdict], "first", counts);
  if (verdict === "permitted")
    fits = rules.add([policyVersion, String(rule)], "first", counts) && fits;
  if (verdict === "no_rule") {
    const source = firstOf(flow.srcTags, flow.srcUser, flow.srcNode, flow.srcAddr);
    const destination = firstOf(flow.dstTags, flow.dstUser, flow.dstNode, flow.dstAddr);
    const names = [source, destination, flow.transport, flow.dstPort];
    fits = unexplained.add(names, "first", counts) && fits;
  }
  return fits;
}

function firstOf(...names: readonly string[]): string {
  return names.find((name) => name !== "") ?? "unidentified";
}

/** A label at both ends counts once. */
function addBoth(table: SumTable, source: string, destination: string, counts: Counts): boolean {
  let fits = true;
  if (source !== "") fits = table.add([source], "first", counts);
  if (destination !== "" && destination !== source)
    fits = table.add([destination], "first", counts) && fits;
  return fits;
}

function tagsOf(tags: string): readonly string[] {
  return tags === "" ? noTags : tags.split(",", MAX_TAGS);
}
