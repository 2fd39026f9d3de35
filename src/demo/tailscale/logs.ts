/**
 * The logs on the vendor's wire: records of a window, chronological, none before the control plane
 * has it.
 */
import type { AuditEvent } from "../network/audit.ts";
import type { Window } from "../network/cycle.ts";
import type { Device } from "../network/devices.ts";
import type { FlowReport } from "../network/flows.ts";
import type { Network } from "../network/network.ts";
import { nameOf, stamp } from "./devices.ts";

/** A record that a test has added. */
export interface AddedFlow {
  readonly record: object;
  readonly startMs: number;
  readonly loggedMs: number;
}

/** How far back records go. */
const RETENTION_MS = 30 * 86_400_000;
/** The longest window that is answered. */
const MAX_WINDOW_MS = 7 * 86_400_000;

/**
 * Most flow records in a response; clients of a busier network must use shorter windows. Audit
 * events are few.
 */
const MAX_RECORDS = 100_000;

const MINUTE_MS = 60_000;
const RFC_3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/;

/** The window of a query, or what is wrong with it. */
export function windowOf(query: URLSearchParams): Window | { readonly wrong: string } {
  for (const name of ["start", "end"]) {
    const text = query.get(name);
    if (text === null || text === "") return { wrong: `missing required query parameter ${name}` };
    if (!RFC_3339.test(text) || Number.isNaN(Date.parse(text)))
      return { wrong: `query parameter ${name} is not an RFC 3339 time` };
  }
  const fromMs = Date.parse(query.get("start") ?? "");
  const toMs = Date.parse(query.get("end") ?? "");
  if (toMs < fromMs) return { wrong: "end is before start" };
  return toMs - fromMs > MAX_WINDOW_MS ? { wrong: "time range is too long" } : { fromMs, toMs };
}

/**
 * Records known by now whose window begins in the requested one. Undefined when there are too many.
 */
export function flowLogs(
  network: Network,
  { fromMs, toMs }: Window,
  options: {
    readonly nowMs: number;
    readonly embed: boolean;
    readonly added: readonly AddedFlow[];
  },
): unknown {
  const { nowMs, embed, added } = options;
  const fromMinute = Math.ceil(Math.max(fromMs, nowMs - RETENTION_MS) / MINUTE_MS);
  const logs: { readonly startMs: number; readonly record: object }[] = [];
  for (let minute = fromMinute; minute * MINUTE_MS < Math.min(toMs, nowMs); minute++) {
    if (logs.length > MAX_RECORDS) return undefined;
    for (const report of network.flows.inMinute(minute))
      if (report.loggedMs <= nowMs)
        logs.push({ startMs: report.fromMs, record: flowObject(network, report, embed) });
  }
  for (const { record, startMs, loggedMs } of added)
    if (startMs >= fromMs && startMs < toMs && loggedMs <= nowMs) logs.push({ startMs, record });
  return { logs: logs.toSorted((a, b) => a.startMs - b.startMs).map(({ record }) => record) };
}

function flowObject(
  network: Network,
  { reporter, peers, fromMs, toMs, loggedMs, traffic }: FlowReport,
  embed: boolean,
): object {
  return {
    logged: new Date(loggedMs).toISOString(),
    nodeId: reporter.nodeId,
    start: stamp(fromMs),
    end: stamp(toMs),
    ...(traffic.virtual.length === 0 ? {} : { virtualTraffic: traffic.virtual }),
    ...(traffic.subnet.length === 0 ? {} : { subnetTraffic: traffic.subnet }),
    ...(traffic.exit.length === 0 ? {} : { exitTraffic: traffic.exit }),
    ...(traffic.physical.length === 0 ? {} : { physicalTraffic: traffic.physical }),
    ...(embed
      ? {
          srcNode: nodeObject(network, reporter),
          dstNodes: peers.map((peer) => nodeObject(network, peer)),
        }
      : {}),
  };
}

function nodeObject(network: Network, device: Device): object {
  const { machine } = device;
  return {
    nodeId: device.nodeId,
    name: nameOf(network, device),
    addresses: machine.addresses,
    os: machine.platform.os,
    ...(machine.tags.length === 0
      ? { user: machine.owner?.loginName ?? "" }
      : { tags: machine.tags }),
  };
}

/** The events of a window that have happened by now. */
export function auditLogs(
  network: Network,
  { fromMs, toMs }: Window,
  { nowMs, added }: { readonly nowMs: number; readonly added: readonly AuditEvent[] },
): unknown {
  const window = { fromMs: Math.max(fromMs, nowMs - RETENTION_MS), toMs: Math.min(toMs, nowMs) };
  const own = added.filter(({ atMs }) => atMs >= window.fromMs && atMs < window.toMs);
  const events = [...network.audit(window), ...own].toSorted((a, b) => a.atMs - b.atMs);
  return {
    version: "1.1",
    tailnet: network.domain,
    tailnetId: network.tailnetId,
    logs: events.map(auditObject),
  };
}

function auditObject(event: AuditEvent): object {
  return {
    eventTime: new Date(event.atMs).toISOString(),
    type: "CONFIG",
    ...(event.deferredMs === undefined
      ? {}
      : { deferredAt: new Date(event.deferredMs).toISOString() }),
    eventGroupID: event.groupId,
    origin: event.origin,
    actor: event.actor,
    target: event.target,
    action: event.action,
    ...(event.old === undefined ? {} : { old: event.old }),
    ...(event.new === undefined ? {} : { new: event.new }),
    ...(event.details === undefined ? {} : { actionDetails: event.details }),
    ...(event.error === undefined ? {} : { error: event.error }),
  };
}
