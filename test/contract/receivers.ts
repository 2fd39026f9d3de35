/** A daemon with one simulated network and receivers, and requests to them as senders make them. */
import { request, type IncomingHttpHeaders, type OutgoingHttpHeaders } from "node:http";
import { vi, expect } from "vitest";
import { receiversMetrics } from "../../src/monitor/catalogue/receivers.ts";
import { startReceiver, type Receiver } from "../support/otlp/receiver.ts";
import { listenPort, rest, startDaemon, temporaryFolder, type Daemon } from "./daemon.ts";
import { startEstate, type Estate, type Section } from "./monitor-estate.ts";

/** The token of the streaming receiver. */
export const TOKEN = "a-token-of-the-stream";

/** Sections of receivers with the names of their listeners. */
const RECEIVERS = [
  ["streaming", "stream"],
  ["webhook", "webhook"],
] as const;

export interface Received extends AsyncDisposable {
  readonly estate: Estate;
  readonly daemon: Daemon;
  readonly exported: Receiver;
  /** The port of a receiver by its name. */
  port(name: string): number;
  /** The last value of a sum by its attributes; 0 without one. */
  sum(metric: string, attributes?: Readonly<Record<string, string>>): number;
}

/** Starts the daemon with these sections and waits until it is ready. */
export async function startReceiving(
  sections: Section | ((estate: Estate) => Section),
): Promise<Received> {
  const estate = await startEstate({ talkers: 0 });
  const given = typeof sections === "function" ? sections(estate) : sections;
  const exported = await startReceiver({ protocol: "http" });
  const every = { interval: "1s" };
  const daemon = await startDaemon({
    config: JSON.stringify({
      gateway: { listen: "127.0.0.1:0" },
      state: { directory: temporaryFolder() },
      services: { dedup: false, tokens: false },
      tracing: { enabled: true, remote_parent: "trust" },
      otlp: { endpoint: exported.endpoint, metric_interval: "100ms" },
      vpn: {
        url: estate.tailscale.url,
        auth: {
          oauth: {
            client_id: estate.tailscale.credentials.clientId,
            client_secret: estate.tailscale.credentials.clientSecret,
          },
        },
      },
      collectors: {
        devices: every,
        ...(given["streaming"] === undefined
          ? { flowlogs: { interval: "30m" }, auditlogs: { interval: "30m" } }
          : { flowlogs: { source: "stream" }, auditlogs: { source: "stream" } }),
      },
      ...given,
    }),
  });
  const port = (name: string): number => listenPort(daemon, name);
  await vi.waitFor(
    async () => {
      expect((await rest(daemon, "GET", "/readyz")).status).toBe(200);
      // The lines of the thread that name the ports may come later.
      for (const [section, name] of RECEIVERS)
        if (JSON.stringify(given[section] ?? "").includes('"listen":"127.0.0.1:0"'))
          expect(port(name)).toBeGreaterThan(0);
    },
    { timeout: 60_000, interval: 50 },
  );
  return {
    estate,
    daemon,
    exported,
    port,
    sum: (metric, attributes = {}) =>
      exported
        .points()
        .findLast(
          (point) =>
            point.metric === metric &&
            Object.entries(attributes).every(([name, value]) => point.attributes[name] === value),
        )?.value ?? 0,
    async [Symbol.asyncDispose]() {
      await daemon.stop();
      await exported.close();
      await estate[Symbol.asyncDispose]();
    },
  };
}

/** Awaits what a request adds to a counter, once it is exported. */
export async function adds(
  receiving: Received,
  [metric, attributes]: readonly [string, Readonly<Record<string, string>>],
  by: number,
  send: () => Promise<void>,
): Promise<void> {
  // What earlier requests counted is exported by then.
  const exports = receiving.exported.batches.length;
  await vi.waitFor(() => expect(receiving.exported.batches.length).toBeGreaterThan(exports + 5), {
    timeout: 60_000,
    interval: 20,
  });
  const before = receiving.sum(metric, attributes);
  await send();
  await vi.waitFor(() => expect(receiving.sum(metric, attributes) - before).toBe(by), {
    timeout: 60_000,
    interval: 50,
  });
}

/** Metrics of a group of the catalogue that were not exported; attributes that its rows lack. */
export function unlike(receiving: Received, prefix: string): string[] {
  const rows = receiversMetrics.filter(({ name }) => name.startsWith(prefix));
  return rows.flatMap(({ name, attributes }) => {
    const points = receiving.exported.points().filter(({ metric }) => metric === name);
    const known = new Set<string>([...attributes, "vpn.network", "svc.provider"]);
    const others = new Set(
      points.flatMap((point) => Object.keys(point.attributes).filter((each) => !known.has(each))),
    );
    return points.length === 0 ? [name] : [...others].map((other) => `${name} ${other}`);
  });
}

export interface Sent {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string | Uint8Array;
  /** Sends the body in chunks, without its length. */
  readonly chunked?: boolean;
}

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** One request on a connection of its own; resolves with the answer even while it still sends. */
export function post(port: number, sent: Sent): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const { method = "POST", path = "/services/collector/event", body = "" } = sent;
    const outgoing = request(
      {
        host: "127.0.0.1",
        port,
        method,
        path,
        agent: false,
        headers: {
          ...(sent.chunked === true ? {} : { "content-length": Buffer.byteLength(body) }),
          ...sent.headers,
        },
      },
      (incoming) => {
        let text = "";
        incoming
          .setEncoding("utf8")
          .on("data", (chunk: string) => (text += chunk))
          .on("end", () => {
            resolve({
              status: incoming.statusCode ?? 0,
              headers: incoming.headers,
              body: text,
            });
            outgoing.destroy();
          });
      },
    );
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}
