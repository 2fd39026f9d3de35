/**
 * A sender of `bench/flows.ts`, in a process of its own: bodies as the control plane streams them,
 * every one with new windows and addresses, one request at a time on a kept connection.
 */
import { Agent, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { CONNECTIONS, RECORDS, type Load, type LoadReport } from "./flows-protocol.ts";

const WINDOW_MS = 5_000;
const FIRST_PORT = 1_024;
const PORTS = 64_000;
const members = [
  "virtualTraffic",
  "virtualTraffic",
  "virtualTraffic",
  "virtualTraffic",
  "subnetTraffic",
  "exitTraffic",
] as const;
const services = [22, 53, 80, 443, 5432, 8443];

/** Numbers that look random, 32 bits; the same for the same seed. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x9e3779b9) | 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return (mixed ^ (mixed >>> 15)) >>> 0;
  };
}

function overlayAddress(bits: number): string {
  return `100.${64 + (bits & 63)}.${(bits >>> 6) & 255}.${(bits >>> 14) & 255}`;
}

/** One line per record, wrapped as Splunk's collector takes it. */
function createBodies({ seed, reporters }: Load): () => string {
  const random = createRandom(seed);
  const connection = (source: string, at: number): string => {
    const bits = random();
    const destination =
      members[at] === "exitTraffic"
        ? `${1 + (bits & 127)}.${(bits >>> 7) & 255}.${(bits >>> 15) & 255}.7`
        : overlayAddress(bits);
    const size = 64 + (bits >>> 12);
    return `{"proto":${at % 3 === 0 ? 17 : 6},"src":"${source}:${FIRST_PORT + (random() % PORTS)}","dst":"${destination}:${services[at % services.length]}","txPkts":${1 + (size & 63)},"txBytes":${size},"rxPkts":${1 + (size & 31)},"rxBytes":${size >>> 1}}`;
  };
  const record = (nowMs: number): string => {
    const { nodeId, address } = reporters[random() % reporters.length] ?? reporters[0]!;
    const endMs = nowMs - (random() % WINDOW_MS);
    const [start, end, logged] = [endMs - WINDOW_MS, endMs, nowMs].map((ms) =>
      new Date(ms).toISOString(),
    );
    const lists: Record<string, string[]> = {};
    for (let at = 0; at < CONNECTIONS; at += 1)
      (lists[members[at] ?? "virtualTraffic"] ??= []).push(connection(address, at));
    const traffic = Object.entries(lists)
      .map(([member, list]) => `"${member}":[${list.join(",")}]`)
      .join(",");
    return `{"time":${nowMs / 1000},"event":{"logged":"${logged}","nodeId":"${nodeId}","start":"${start}","end":"${end}",${traffic},"srcNode":{"nodeId":"${nodeId}","name":"node.example.net","addresses":["${address}"]}},"fields":{"recorded":"${logged}"}}`;
  };
  return () => {
    const nowMs = Date.now();
    return Array.from({ length: RECORDS }, () => record(nowMs)).join("\n");
  };
}

function post(load: Load, agent: Agent, body: string): Promise<number> {
  return new Promise((resolve, reject) => {
    request(
      {
        host: "127.0.0.1",
        port: load.port,
        method: "POST",
        path: "/services/collector/event",
        agent,
        headers: {
          authorization: load.authorization,
          "content-type": "application/json",
          "content-length": body.length,
        },
      },
      (response) =>
        response.resume().once("end", () => {
          resolve(response.statusCode ?? 0);
        }),
    )
      .once("error", reject)
      .end(body);
  });
}

async function send(load: Load): Promise<LoadReport> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const bodies = createBodies(load);
  const report = { times: [] as number[], refused: {} as Record<string, number>, bytes: 0 };
  const beganMs = performance.now();
  for (let sent = 0; performance.now() - beganMs < load.ms; sent += 1) {
    if (load.requestsPerSecond !== undefined) {
      const waitMs = beganMs + (sent * 1_000) / load.requestsPerSecond - performance.now();
      if (waitMs > 0) await sleep(waitMs);
    }
    const body = bodies();
    const sentMs = performance.now();
    const status = await post(load, agent, body);
    if (status === 200) {
      report.times.push(performance.now() - sentMs);
      report.bytes += body.length;
    } else report.refused[status] = (report.refused[status] ?? 0) + 1;
  }
  agent.destroy();
  return report;
}

process.on("message", (load: Load) => void send(load).then((report) => process.send?.(report)));
process.on("disconnect", () => process.exit());
