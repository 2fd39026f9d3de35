/**
 * Everything a monitor may ask, on loopback: both simulated control planes, node agents, a bucket,
 * a package index and a dashboard server.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { startHeadscale } from "../support/headscale/headscale.ts";
import type { Headscale } from "../support/headscale/types.ts";
import { startNodeAgents, type NodeAgents } from "../../src/demo/network/agents.ts";
import { createNetwork } from "../../src/demo/network/network.ts";
import { startTailscale } from "../../src/demo/tailscale/tailscale.ts";
import type { Tailscale } from "../../src/demo/tailscale/types.ts";
import { systemClock, type Clock } from "../../src/kernel/base/clock.ts";
import { systemIds, type Ids } from "../../src/kernel/base/ids.ts";
import { createLog } from "../../src/kernel/base/log.ts";
import { startBucket, type BucketServer } from "../monitor/objectstore/bucket-server.ts";

/** A running estate. */
export interface Estate extends AsyncDisposable {
  readonly clock: Clock;
  readonly tailscale: Tailscale;
  readonly headscale: Headscale;
  readonly agents: NodeAgents;
  readonly bucket: BucketServer;
  /** An agent that relays for others and drops packets: its counters grow with each request. */
  readonly relayUrl: string;
  /** Where the package index answers. */
  readonly packagesUrl: string;
  readonly dashboard: Dashboard;
}

/** A dashboard server that keeps what is written to it. */
interface Dashboard {
  readonly url: string;
  readonly marks: unknown[];
  /** What it answers. */
  status: number;
}

/** What it is made of. */
export interface EstateOptions {
  readonly devices?: number;
  /** Machines that begin conversations; 0: the flow log holds only what a test adds. */
  readonly talkers?: number;
  readonly clock?: Clock;
  readonly ids?: Ids;
  /** Whether the control plane compresses, as the real one does; true unless given. */
  readonly gzip?: boolean;
  /** Credentials that the control planes accept, instead of drawn ones. */
  readonly secrets?: { readonly client: string; readonly headscaleKey: string };
}

const SEED = 11;

/** Starts all of it. */
export async function startEstate({
  devices = 12,
  talkers = 12,
  clock = systemClock,
  ids = systemIds,
  gzip = true,
  secrets,
}: EstateOptions = {}): Promise<Estate> {
  const deps = {
    clock,
    ids,
    log: createLog({ level: "error", format: "text", write: () => undefined, now: () => 0 }),
  };
  const network = createNetwork({ seed: SEED, devices, talkers });
  const tailscale = await startTailscale({
    ...deps,
    network,
    gzip,
    streams: ["configuration", "network"],
    ...(secrets === undefined
      ? {}
      : { clients: [{ id: "kClient1CNTRL", secret: secrets.client }] }),
  });
  const headscale = await startHeadscale({
    ...deps,
    flavour: "release",
    seed: SEED + 1,
    devices,
    ...(secrets === undefined
      ? {}
      : { apiKeys: [{ key: secrets.headscaleKey, expiresAtMs: clock.now() + 86_400_000 }] }),
  });
  const agents = await startNodeAgents({ ...deps, network });
  const bucket = await startBucket();
  const packages = await startServer(
    (_request, response) =>
      void response
        .writeHead(200, { "content-type": "application/json" })
        .end('{"Version":"1.99.1","tag_name":"v99.0.0"}'),
  );
  const relay = await startRelay();
  const { dashboard, close } = await startDashboard();
  return {
    clock,
    tailscale,
    headscale,
    agents,
    bucket,
    relayUrl: `${relay.url}/metrics`,
    packagesUrl: packages.url,
    dashboard,
    async [Symbol.asyncDispose]() {
      await Promise.all([
        tailscale.stop(),
        headscale.stop(),
        agents.stop(),
        bucket.close(),
        packages.close(),
        relay.close(),
        close(),
      ]);
    },
  };
}

async function startRelay(): Promise<{
  readonly url: string;
  readonly close: () => Promise<void>;
}> {
  let isRead = 0;
  return await startServer((_request, response) => {
    isRead += 1;
    const counter = (name: string, labels: string): string =>
      `# TYPE tailscaled_${name} counter\ntailscaled_${name}{${labels}} ${isRead * 10}\n`;
    const text =
      counter("peer_relay_forwarded_bytes_total", 'transport_in="udp4",transport_out="udp6"') +
      counter("peer_relay_forwarded_packets_total", 'transport_in="udp4",transport_out="udp6"') +
      counter("inbound_dropped_packets_total", 'reason="acl"') +
      counter("inbound_bytes_total", 'path="derp"') +
      '# TYPE tailscaled_peer_relay_endpoints gauge\ntailscaled_peer_relay_endpoints{state="open"} 2\n';
    response.writeHead(200, { "content-type": "text/plain; version=0.0.4" }).end(text);
  });
}

async function startDashboard(): Promise<{
  readonly dashboard: Dashboard;
  readonly close: () => Promise<void>;
}> {
  const marks: unknown[] = [];
  const { url, close } = await startServer((request, response) => {
    let body = "";
    request
      .setEncoding("utf8")
      .on("data", (chunk: string) => (body += chunk))
      .on("end", () => {
        if (dashboard.status === 200) marks.push(JSON.parse(body));
        response.writeHead(dashboard.status, { "content-type": "application/json" }).end("{}");
      });
  });
  const dashboard: Dashboard = { url, marks, status: 200 };
  return { dashboard, close };
}

async function startServer(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<{ readonly url: string; readonly close: () => Promise<void> }> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

/** The plain parts of a configuration, which JSON writes as YAML reads it. */
export type Section = { readonly [key: string]: unknown };

/** Every collector of the control planes on, every second, and both networks. */
export function bothNetworks({
  clock,
  tailscale,
  headscale,
  agents,
  relayUrl,
  packagesUrl,
}: Estate): Section {
  const every = { interval: "1s" };
  const nodes = tailscale.estate.network.devices.at(clock.now()).slice(0, 3);
  return {
    vpn: { url: tailscale.url },
    networks: [
      {
        name: tailscale.tailnet,
        auth: {
          oauth: {
            client_id: tailscale.credentials.clientId,
            client_secret: tailscale.credentials.clientSecret,
          },
        },
      },
      { name: "home", provider: "headscale", url: headscale.url, api_key: headscale.apiKey },
    ],
    collectors: {
      ...Object.fromEntries(
        [
          "users",
          "settings",
          "acl",
          "dns",
          "contacts",
          "posture_integrations",
          "log_stream",
          "oauth_apps",
        ].map((name) => [name, every]),
      ),
      devices: {
        ...every,
        collect_routes: true,
        collect_posture: true,
        attribute_namespaces: ["*"],
      },
      keys: { ...every, expiry_warn: "8760h" },
      webhooks: { ...every, desired_events: ["nodeCreated", "userDeleted"] },
      services: { ...every, collect_hosts: true },
      node_metrics: {
        enabled: true,
        ...every,
        targets: [
          ...nodes.map(({ host }) => ({ url: agents.urlOf(host), instance: host })),
          { url: relayUrl, instance: "relay" },
        ],
        discovery: { enabled: true, include_tags: ["tag:nowhere"] },
      },
      flowlogs: { enabled: true, ...every, lag: "2s" },
      auditlogs: { enabled: true, ...every, lag: "2s", initial_lookback: "720h" },
    },
    cardinality: {
      flow: {
        metrics_mode: "both",
        destination_port: true,
        source_port: true,
        identity_dims: true,
      },
      derp_region_rollup: false,
      subnet_route_rollup: false,
    },
    version_checks: { devices: { url: `${packagesUrl}/stable` } },
  };
}

/** Feeds of an object store for the first network; `fill` puts objects of each kind there. */
export function objectStores({ bucket }: Estate): Section {
  const feed = (prefix: string, more: Section = {}): Section => ({
    endpoint: bucket.url,
    region: "eu-test-1",
    bucket: "logs",
    prefix,
    path_style: true,
    access_key_id: "AKTEST",
    secret_access_key: "bucket-secret",
    interval: "1s",
    initial_lookback: "6h",
    max_object_records: 20,
    ...more,
  });
  return {
    flow: feed("flow/"),
    audit: feed("audit/"),
    k8s_audit: feed("k8s/", { layout: "recorder" }),
  };
}

/**
 * Puts an object of each feed into the bucket, and for flows one that is broken and one with more
 * records than an object may have.
 */
export function fillBucket(
  { clock, bucket: { objects } }: Pick<Estate, "clock" | "bucket">,
  flows: readonly object[],
  events: readonly object[],
): void {
  const at = new Date(clock.now() - 600_000).toISOString();
  const day = at.slice(0, 10).replaceAll("-", "/");
  const stamp = at.slice(0, 19).replace("T", "-").replaceAll(":", "-");
  const lines = (rows: readonly object[]): Buffer =>
    Buffer.from(rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  objects.set(`flow/${day}/${stamp}.ndjson`, lines(flows));
  objects.set(`flow/${day}/${stamp}a.json.gz`, gzipSync("{").subarray(0, 12));
  objects.set(
    `flow/${day}/${stamp}b.ndjson`,
    lines(Array.from({ length: 21 }, () => ({ nodeId: "n" }))),
  );
  objects.set(`audit/${day}/${stamp}.ndjson`, lines(events));
  const source = { node: "laptop.example.test", nodeID: "nSim1", nodeUser: "ada@example.test" };
  const isRead = (
    verb: string,
    resource: string,
    more: object = {},
    path = "/api/v1/x",
  ): object => ({
    type: "kubernetes-api-request",
    id: "1",
    timestamp: Math.floor(Date.parse(at) / 1_000),
    userAgent: "kubectl/v1.34.1",
    request: { method: "GET", path, body: null },
    kubernetes: {
      IsResourceRequest: true,
      Path: "/api/v1/x",
      Verb: verb,
      Resource: resource,
      Namespace: "web",
      ...more,
    },
    source,
  });
  const exec = isRead(
    "create",
    "pods",
    { Subresource: "exec", Name: "app-1" },
    "/api/v1/namespaces/web/pods/app-1/exec?command=/bin/bash&container=main",
  );
  objects.set(
    `k8s/nRecorder/events/${at}.event`,
    lines([
      isRead("get", "secrets"),
      isRead("delete", "deployments"),
      isRead("create", "selfsubjectaccessreviews"),
      exec,
    ]),
  );
  const session = {
    version: 2,
    timestamp: Math.floor(Date.parse(at) / 1_000),
    command: "/bin/sh",
    srcNode: "laptop.example.test",
    srcNodeID: "nSim1",
    srcNodeUser: "ada@example.test",
    kubernetes: { PodName: "app-1", Namespace: "web", Container: "main", SessionType: "exec" },
  };
  objects.set(`k8s/nRecorder/${at}.cast`, lines([session]));
}
