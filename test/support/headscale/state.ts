/**
 * What has happened to nodes since the server was started, on top of what the network does by
 * itself.
 */
import { StewardError } from "../../../src/kernel/base/errors.ts";
import type { Device } from "../../../src/demo/network/devices.ts";
import type { Network } from "../../../src/demo/network/network.ts";

/** A node as the server knows it at one instant. */
export interface Node {
  readonly id: string;
  readonly device: Device;
  /** As the client calls itself. */
  readonly name: string;
  readonly givenName: string;
  readonly online: boolean;
  /** The last connect or disconnect. */
  readonly lastSeenMs: number;
  readonly expiryMs: number | undefined;
  readonly tags: readonly string[];
  readonly approved: readonly string[];
  readonly available: readonly string[];
  /** Which of its routes it serves: first of its kind, and online. */
  readonly serving: readonly string[];
}

/** The changes to one node. */
interface NodeChange {
  readonly expiryMs?: number;
  readonly offlineAtMs?: number;
  readonly gone?: boolean;
  readonly givenName?: string;
  readonly tags?: readonly string[];
  readonly approved?: readonly string[];
  readonly available?: readonly string[];
}

/** The nodes over time. */
export interface Nodes {
  /** Ascending by id. */
  at(nowMs: number): readonly Node[];
  /** Throws `not_found`. */
  change(id: string, nowMs: number, change: NodeChange): void;
  /** Every node is offline from now on until its client comes back. */
  restart(nowMs: number): void;
}

/** How long a server takes to notice that a client has gone. */
export const NOTICED_AFTER_MS = 10_000;

const LONGEST_BACKOFF_S = 9;
const WEEK_MS = 7 * 86_400_000;
const FIRST_MORTAL_ID = 100_000;
const TURNS = 46_656;

/** Changes are kept per node, bounded by the number of nodes that were ever changed. */
export function createNodes(network: Network): Nodes {
  const changes = new Map<string, NodeChange>();
  let restartedMs = -Infinity;
  const list = (nowMs: number): readonly Node[] => {
    const nodes = network.devices
      .at(nowMs)
      .filter(({ machine }) => machine.kind !== "external")
      .flatMap((device) => {
        const change = changes.get(idOf(device)) ?? {};
        return change.gone === true ? [] : [nodeOf(device, change, restartedMs, nowMs)];
      });
    return withPrimaries(nodes).toSorted((a, b) => Number(a.id) - Number(b.id));
  };
  return {
    at: list,
    change(id, nowMs, change) {
      if (!list(nowMs).some((node) => node.id === id))
        throw new StewardError("not_found", `the simulated Headscale has no node ${id}`);
      changes.set(id, { ...changes.get(id), ...change });
    },
    restart: (nowMs) => void (restartedMs = nowMs),
  };
}

/** Ephemeral machines come as new nodes. */
function idOf({ machine, createdMs }: Device): string {
  if (machine.life === undefined) return String(machine.index + 1);
  const turn = Math.floor((createdMs - machine.life.cycle.phaseMs) / machine.life.cycle.periodMs);
  return String(FIRST_MORTAL_ID + (turn % TURNS) * 10_000 + (machine.index % 10_000));
}

function nodeOf(device: Device, change: NodeChange, restartedMs: number, nowMs: number): Node {
  const { machine } = device;
  return {
    id: idOf(device),
    device,
    name:
      machine.kind === "laptop"
        ? `${device.host.charAt(0).toUpperCase()}${device.host.slice(1)}`
        : device.host,
    givenName: change.givenName ?? device.host,
    ...connectionOf(device, change, restartedMs, nowMs),
    expiryMs: change.expiryMs ?? device.expiresMs,
    tags: change.tags ?? machine.tags,
    approved: change.approved ?? device.enabledRoutes,
    available: change.available ?? machine.advertisedRoutes,
    serving: [],
  };
}

function connectionOf(
  device: Device,
  { offlineAtMs = Infinity }: NodeChange,
  restartedMs: number,
  nowMs: number,
): Pick<Node, "online" | "lastSeenMs"> {
  // Servers never go by themselves; their clients reconnect weekly.
  const connectedMs =
    device.machine.presence === undefined
      ? Math.max(device.createdMs, nowMs - (nowMs % WEEK_MS))
      : device.connectedMs;
  const backMs = restartedMs + (1 + (device.machine.index % LONGEST_BACKOFF_S)) * 1000;
  if (!device.online) return { online: false, lastSeenMs: device.lastSeenMs };
  if (offlineAtMs <= nowMs)
    return { online: false, lastSeenMs: Math.max(connectedMs, offlineAtMs) };
  if (restartedMs > connectedMs)
    return nowMs < backMs
      ? { online: false, lastSeenMs: connectedMs }
      : { online: true, lastSeenMs: backMs };
  return { online: true, lastSeenMs: connectedMs };
}

// Of several routers with the same approved subnet the first that is online serves it; exits serve
// side by side, and keep their routes when offline.
function withPrimaries(nodes: readonly Node[]): Node[] {
  const taken = new Set<string>();
  return nodes.map((node) => {
    const both = node.approved.filter((route) => node.available.includes(route));
    const subnets = node.online ? both.filter((route) => !isExit(route) && !taken.has(route)) : [];
    for (const route of subnets) taken.add(route);
    return { ...node, serving: [...subnets, ...both.filter(isExit)] };
  });
}

/** Whether a route is everything of its family. */
export function isExit(route: string): boolean {
  return route === "0.0.0.0/0" || route === "::/0";
}
