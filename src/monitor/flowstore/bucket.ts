/** Sums of the traffic of one minute: exact totals, and tables with limits. */
import type { FlowCapacity } from "./capacity.ts";
import { mirrored, Sum, SumTable, type Counts } from "./sums.ts";
import type { FlowObservation } from "./types.ts";

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
  tagMatrix: "cells",
  userMatrix: "cells",
  osMatrix: "cells",
  peerPaths: "peerPaths",
} as const satisfies Readonly<Record<string, keyof FlowCapacity>>;

export type FlowTable = keyof typeof tableLimits;
export type FlowTables = Readonly<Record<FlowTable, SumTable>>;
export const flowTables = Object.keys(tableLimits) as readonly FlowTable[];

/** Tags of one end that are counted; further ones are not. */
const MAX_TAGS = 32;

export interface Bucket {
  readonly totals: Sum;
  readonly tables: FlowTables;
  /** Observations with a part in `__other__`. */
  truncated: number;
}

export function createBucket(limits: FlowCapacity): Bucket {
  return {
    totals: new Sum(),
    tables: tablesWith((table) => limits[tableLimits[table]]),
    truncated: 0,
  };
}

export function tablesWith(limitOf: (table: FlowTable) => number): FlowTables {
  return Object.fromEntries(
    flowTables.map((table) => [table, new SumTable(limitOf(table))]),
  ) as Record<FlowTable, SumTable>;
}

/** False when a part of it went to `__other__`. */
export function addToBucket(bucket: Bucket, flow: FlowObservation): boolean {
  const counts: Counts = { ...countersOf(flow), flows: 1 };
  const { tables } = bucket;
  bucket.totals.add(counts);
  const fits = [
    addNodes(tables, flow, counts),
    addLabels(tables, flow, counts),
    addMatrices(tables, flow, counts),
    addPath(tables, flow, counts),
  ].every(Boolean);
  if (!fits) bucket.truncated += 1;
  return fits;
}

function countersOf({ txBytes, rxBytes, txPackets, rxPackets }: FlowObservation) {
  return { txBytes, rxBytes, txPackets, rxPackets };
}

function addNodes({ pairs, nodes, ports }: FlowTables, flow: FlowObservation, counts: Counts) {
  const { srcNode, dstNode, trafficType, dstPort, transport, dstService } = flow;
  let fits = true;
  if (srcNode !== "" && dstNode !== "")
    fits = pairs.add([srcNode, dstNode, trafficType], "first", counts);
  if (srcNode !== "") fits = nodes.add([srcNode], "first", counts) && fits;
  if (dstNode !== "") fits = nodes.add([dstNode], "second", mirrored(counts)) && fits;
  if (trafficType !== "physical" && dstPort !== "")
    fits = ports.add([dstPort, transport, dstService], "first", counts) && fits;
  return fits;
}

/** A label at both ends counts once. */
function addLabels(tables: FlowTables, flow: FlowObservation, counts: Counts): boolean {
  let fits = true;
  const add = (table: FlowTable, ...labels: string[]): void => {
    for (const label of new Set(labels))
      if (label !== "") fits = tables[table].add([label], "first", counts) && fits;
  };
  add("transports", flow.transport);
  add("trafficTypes", flow.trafficType);
  add("users", flow.srcUser, flow.dstUser);
  add("tags", ...tagsOf(flow.srcTags), ...tagsOf(flow.dstTags));
  add("oses", flow.srcOs, flow.dstOs);
  add("paths", flow.path);
  add("derpRegions", flow.derpRegion);
  return fits;
}

function addMatrices(tables: FlowTables, flow: FlowObservation, counts: Counts): boolean {
  let fits = true;
  const add = (table: FlowTable, sources: readonly string[], destinations: readonly string[]) => {
    for (const source of sources)
      for (const destination of destinations)
        if (source !== "" && destination !== "")
          fits = tables[table].add([source, destination], "first", counts) && fits;
  };
  add("tagMatrix", tagsOf(flow.srcTags), tagsOf(flow.dstTags));
  add("userMatrix", [flow.srcUser], [flow.dstUser]);
  add("osMatrix", [flow.srcOs], [flow.dstOs]);
  return fits;
}

/** The source of physical traffic is the peer. */
function addPath({ peerPaths }: FlowTables, { path, srcNode }: FlowObservation, counts: Counts) {
  if (path === "" || srcNode === "") return true;
  return peerPaths.add([srcNode], path === "derp" ? "second" : "first", counts);
}

function tagsOf(tags: string): readonly string[] {
  return tags === "" ? [] : tags.split(",", MAX_TAGS);
}
