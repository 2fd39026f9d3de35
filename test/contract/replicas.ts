/** Daemons that share one lease and export to one receiver, and who of them did what. */
import { inspect } from "node:util";
import { expect, vi } from "vitest";
import type { Etcd } from "../monitor/coordination/etcd.ts";
import type { ReceivedLog, ReceivedPoint } from "../support/otlp/decode.ts";
import type { Receiver } from "../support/otlp/receiver.ts";
import { listenPort, rest, startDaemon, temporaryFolder, type Daemon } from "./daemon.ts";
import type { Estate, Section } from "./monitor-estate.ts";

/** Of the lease of all replicas in tests. */
export const TTL_MS = 5_000;
export const SOON = { timeout: 60_000, interval: 50 };

export interface Replica {
  readonly name: string;
  readonly daemon: Daemon;
}

export interface ReplicaOptions {
  readonly estate: Estate;
  readonly exported: Receiver;
  /** Where this replica reaches etcd: the server itself, or a proxy in front of it. */
  readonly etcd: Pick<Etcd, "endpoint">;
  readonly sections?: Section;
  /** Default: a new folder. */
  readonly state?: string;
}

export async function startReplica(
  name: string,
  { estate, exported, etcd, sections = {}, state = temporaryFolder() }: ReplicaOptions,
): Promise<Replica> {
  const { clientId, clientSecret } = estate.tailscale.credentials;
  const daemon = await startDaemon({
    config: JSON.stringify({
      gateway: { listen: "127.0.0.1:0" },
      state: { directory: state },
      services: { dedup: false, tokens: false },
      scrape: { enabled: true, listen: "127.0.0.1:0", timeout: "60s" },
      otlp: { endpoint: exported.endpoint, metric_interval: "100ms" },
      self_observability: { instance_id: name },
      coordination: {
        mode: "etcd",
        endpoints: [`http://${etcd.endpoint}`],
        lease_ttl: `${TTL_MS / 1_000}s`,
      },
      vpn: {
        url: estate.tailscale.url,
        auth: { oauth: { client_id: clientId, client_secret: clientSecret } },
      },
      collectors: { devices: { interval: "1s" }, flowlogs: { interval: "30m" } },
      ...sections,
    }),
  });
  return { name, daemon };
}

/** The port of a receiver: the last one that it opened. */
export function portOf({ daemon }: Replica, receiver: string): number {
  return listenPort(daemon, receiver);
}

/**
 * What the status says of the lease. Rejects with what the replica logged last when it has no
 * status.
 */
export async function roleOf({ name, daemon }: Replica): Promise<string> {
  const { status, text, json } = await rest(daemon, "GET", "/api/status.json").catch(
    (error: Error) => ({ status: 0, text: inspect(error), json: undefined }),
  );
  if (status !== 200)
    throw new Error(
      `replica ${name} answers ${status}, ${text}\n${daemon.stderr.slice(-40).join("\n")}`,
    );
  const rows = json.components as {
    name: string;
    enabled: boolean;
    failed: boolean;
    reason?: string;
  }[];
  const { enabled, failed, reason = "" } = rows.find(({ name }) => name === "coordination")!;
  return `${enabled ? "on" : "off"}${failed ? ", failed" : ""}: ${reason}`;
}

/** Waits until one of the replicas holds the lease, and says which. */
export async function holderOf(replicas: readonly Replica[]): Promise<Replica> {
  return await vi.waitFor(async () => {
    const roles = await Promise.all(replicas.map(roleOf));
    const at = roles.findIndex((role) => role.startsWith("on: holds the lease"));
    expect(at, roles.join("; ")).toBeGreaterThanOrEqual(0);
    return replicas[at]!;
  }, SOON);
}

type Sent = Pick<ReceivedPoint | ReceivedLog, "resource" | "attributes">;

/** The replica that sent something of the network; undefined for what belongs to a process. */
export function senderOf({ resource, attributes }: Sent): string | undefined {
  if (attributes["vpn.network"] === undefined) return undefined;
  return String(resource["service.instance.id"]).split("/")[0];
}

/** Senders of the network's batches, in the order of their arrival. */
export function senders(batches: readonly (readonly Sent[])[]): string[] {
  return batches.flatMap((batch) => [...new Set(batch.flatMap((each) => senderOf(each) ?? []))]);
}

/** How often a sender's batch came after another replica had taken over from it. */
export function late(order: readonly string[]): number {
  let count = 0;
  const gone = new Set<string>();
  let current = order[0];
  for (const sender of order) {
    if (sender === current) continue;
    if (gone.has(sender)) {
      count += 1;
      continue;
    }
    if (current !== undefined) gone.add(current);
    current = sender;
  }
  return count;
}
