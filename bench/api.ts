/**
 * The document service's API with 100,000 documents and 10,000 groups, synced from a simulated
 * Paperless-ngx in a process of its own. First the sync, beside a `fetch` loop that sends the same
 * requests with as many pages in flight and throws the bytes away, before and after it. Then
 * autocannon calls each endpoint, and a bare Node server that returns the same bytes. Prints rates,
 * latencies and memory; last, what the sync and the analysis of ten changed documents cost against
 * those of all. Ends 1 when a limit is missed. Takes five minutes. Run: `npm run
 * bench:api`; `-- --documents 1000 --groups 100 --seconds 2` makes it small.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { mapInOrder } from "../src/dedup/archives/ordered.ts";
import { PAPERLESS_PAGE_SIZE as PAGE_SIZE } from "../src/dedup/config.ts";
import { LISTED_AT_ONCE, PAGES_IN_FLIGHT } from "../src/dedup/paperless/archive.ts";
import { FULL_FIELDS, LISTED_FIELDS } from "../src/dedup/paperless/decode.ts";
import {
  type Daemon,
  jobEnd,
  removeTemporaryFolders,
  rest,
  runJob,
  startDaemon,
  temporaryFolder,
} from "../test/contract/daemon.ts";
import type { ArchiveReady } from "./api-archive.ts";

const LIMIT_P99_MS = 50;
const LIMIT_SYNC_RATIO = 0.6;
const CONNECTIONS = 4;
const CHANGED = 10;
const LIMIT_CHANGED_SHARE = 0.03;

const { values } = parseArgs({
  options: {
    documents: { type: "string", default: "100000" },
    groups: { type: "string", default: "10000" },
    seconds: { type: "string", default: "5" },
  },
});
const size = { documents: Number(values.documents), groups: Number(values.groups) };
const seconds = Number(values.seconds);

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

function judge(name: string, shown: string, met: boolean): void {
  print(`${met ? "met   " : "MISSED"} ${name}: ${shown}`);
  if (!met) process.exitCode = 1;
}

interface RunningArchive {
  readonly child: ChildProcess;
  readonly ready: ArchiveReady;
  /** Gives the last documents other texts. */
  change(count: number): Promise<void>;
}

async function startArchive(): Promise<RunningArchive> {
  const program = join(import.meta.dirname, "api-archive.ts");
  const child = spawn(process.execPath, [program, JSON.stringify(size)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const next = async (): Promise<string> => {
    const line = await lines.next();
    if (line.done === true) throw new Error("the archive ended");
    return line.value;
  };
  return {
    child,
    ready: JSON.parse(await next()) as ArchiveReady,
    async change(count) {
      child.stdin.write(`change ${count}\n`);
      await next();
    },
  };
}

/** Documents a second of the requests of a first sync, all bytes read and thrown away. */
async function drain({ url, token }: ArchiveReady): Promise<number> {
  const headers = { authorization: `Token ${token}`, accept: "application/json; version=10" };
  const read = async (query: Record<string, string>): Promise<ArrayBuffer> => {
    const search = new URLSearchParams({ ordering: "id", ...query }).toString();
    const response = await fetch(`${url}/api/documents/?${search}`, { headers });
    if (!response.ok) throw new Error(`the archive answered with ${response.status}`);
    return await response.arrayBuffer();
  };
  const beganMs = performance.now();
  const lists = Array.from({ length: Math.ceil(size.documents / LISTED_AT_ONCE) }, (_, at) => ({
    page: String(at + 1),
    page_size: String(LISTED_AT_ONCE),
    fields: LISTED_FIELDS,
  }));
  const texts = Array.from({ length: Math.ceil(size.documents / PAGE_SIZE) }, (_, at) => ({
    id__in: Array.from({ length: PAGE_SIZE }, (__, index) => at * PAGE_SIZE + index + 1).join(","),
    page_size: String(PAGE_SIZE),
    fields: FULL_FIELDS,
  }));
  for (const queries of [lists, texts])
    for await (const _bytes of mapInOrder(queries, PAGES_IN_FLIGHT, read));
  return (size.documents * 1_000) / (performance.now() - beganMs);
}

function configOf({ url, token }: ArchiveReady): string {
  const folder = temporaryFolder();
  const file = join(folder, "token");
  writeFileSync(file, token, { mode: 0o600 });
  return `gateway: {listen: "127.0.0.1:0"}
state: {directory: ${join(folder, "state")}}
services: {monitor: false, tokens: false}
dedup:
  archives:
    - {name: papers, kind: paperless, url: "${url}", token_file: ${file}}
`;
}

function memoryMb(pid: number, field: "VmRSS" | "VmHWM"): string {
  const text = readFileSync(`/proc/${pid}/status`, "utf8");
  return ((Number(new RegExp(`${field}:\\s+(\\d+)`).exec(text)?.[1]) * 1_024) / 1e6).toFixed(0);
}

/** CPU time of all threads. */
function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /s, "")
    .split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

async function measureChanges(
  daemon: Daemon,
  archive: RunningArchive,
  fullSeconds: number,
): Promise<void> {
  await archive.change(CHANGED);
  const before = cpuSeconds(daemon.pid);
  await runJob(daemon, "/api/v1/sync");
  await waitForAnalysis(daemon);
  const spent = cpuSeconds(daemon.pid) - before;
  const share = spent / fullSeconds;
  judge(
    `${CHANGED} changed documents`,
    `${spent.toFixed(2)} CPU-seconds for sync and analysis, ${(100 * share).toFixed(1)} % of the ${fullSeconds.toFixed(1)} for all, limit <= ${100 * LIMIT_CHANGED_SHARE} %`,
    share <= LIMIT_CHANGED_SHARE,
  );
}

/** CPU seconds of the first sync and analysis. */
async function measureSync(daemon: Daemon, ready: ArchiveReady): Promise<number> {
  const before = await drain(ready);
  const cpuBefore = cpuSeconds(daemon.pid);
  const job = await runJob(daemon, "/api/v1/sync");
  if (job.status !== "completed") throw new Error(`the sync ended as ${JSON.stringify(job)}`);
  const elapsedMs = Date.parse(job.completedAt) - Date.parse(job.startedAt);
  const synced = (size.documents * 1_000) / elapsedMs;
  const peak = memoryMb(daemon.pid, "VmHWM");
  await waitForAnalysis(daemon);
  const spent = cpuSeconds(daemon.pid) - cpuBefore;
  const after = await drain(ready);
  const bare = (before + after) / 2;
  print(
    `sync of ${size.documents} documents: ${synced.toFixed(0)} a second; fetch loop ${before.toFixed(0)} before, ${after.toFixed(0)} after; daemon at its highest ${peak} MB`,
  );
  judge(
    "sync",
    `${((100 * synced) / bare).toFixed(0)} % of the fetch loop, limit >= ${100 * LIMIT_SYNC_RATIO} %`,
    synced / bare >= LIMIT_SYNC_RATIO,
  );
  return spent;
}

/** Waits for the analysis that the sync started. */
async function waitForAnalysis(daemon: Daemon): Promise<void> {
  const { json } = await rest(daemon, "GET", "/api/v1/jobs?type=analysis&limit=1");
  const [job] = json.data as readonly { readonly id: string }[];
  if (job === undefined) throw new Error("the sync started no analysis");
  const { status } = await jobEnd(daemon, job.id);
  if (status !== "completed") throw new Error(`the analysis ended as ${String(status)}`);
}

/** What autocannon reports of one run. */
interface Load {
  readonly latency: { readonly p50: number; readonly p99: number };
  readonly requests: { readonly average: number };
  readonly non2xx: number;
  readonly errors: number;
}

async function load(url: string): Promise<Load> {
  const program = fileURLToPath(import.meta.resolve("autocannon"));
  const args = ["--json", "-c", String(CONNECTIONS), "-d", String(seconds), url];
  const child = spawn(process.execPath, [program, ...args], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  let text = "";
  for await (const chunk of child.stdout.setEncoding("utf8")) text += String(chunk);
  const result = JSON.parse(text) as Load;
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${url}: ${result.non2xx} answers were no success, ${result.errors} failed`);
  return result;
}

async function serveBytes(body: Buffer, type: string): Promise<Server> {
  const headers = { "content-type": type, "content-length": body.length };
  const server = createServer((_request, response) => response.writeHead(200, headers).end(body));
  await once(server.listen(0, "127.0.0.1"), "listening");
  return server;
}

async function measureEndpoint(daemon: Daemon, path: string): Promise<void> {
  const askedMs = performance.now();
  const answer = await fetch(daemon.url + path);
  const body = Buffer.from(await answer.arrayBuffer());
  const firstMs = performance.now() - askedMs;
  if (!answer.ok) throw new Error(`GET ${path}: ${answer.status} ${body.toString()}`);
  await load(daemon.url + path); // compiles
  const steward = await load(daemon.url + path);
  const server = await serveBytes(body, answer.headers.get("content-type") ?? "");
  const bare = await load(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`);
  server.closeAllConnections();
  server.close();
  const ratio = (100 * steward.requests.average) / bare.requests.average;
  judge(
    `GET ${path}`,
    `first ${firstMs.toFixed(0)} ms, p50 ${steward.latency.p50} ms, p99 ${steward.latency.p99} ms, limit <= ${LIMIT_P99_MS}; ` +
      `${steward.requests.average.toFixed(0)} requests a second of ${body.length} bytes, ` +
      `${ratio.toFixed(0)} % of a bare server's ${bare.requests.average.toFixed(0)} (p99 ${bare.latency.p99} ms)`,
    steward.latency.p99 <= LIMIT_P99_MS,
  );
}

async function measureEndpoints(daemon: Daemon): Promise<void> {
  const { json } = await rest(daemon, "GET", "/api/v1/duplicates?limit=1");
  const total = json.meta.total as number;
  judge("groups", `${total} of ${size.groups}`, total === size.groups);
  const group = json.data[0].id as string;
  const { data } = (await rest(daemon, "GET", "/api/v1/documents?limit=1")).json;
  const deep = Math.floor(size.documents * 0.9);
  for (const path of [
    "/documents",
    `/documents?limit=100&offset=${deep}`,
    "/documents?search=77&tag=tag%203&processingStatus=completed",
    "/documents?correspondent=Correspondent%207",
    `/documents/${data[0].id}`,
    "/documents/stats",
    "/dashboard",
    "/duplicates",
    `/duplicates?limit=100&offset=${Math.floor(size.groups * 0.9)}&sortBy=created_at&sortOrder=asc`,
    "/duplicates?minConfidence=0.9&status=pending,ignored&sortBy=member_count",
    "/duplicates?search=Document%207",
    `/duplicates/${group}`,
    `/duplicates/${group}?light=true`,
    "/duplicates/stats",
    "/duplicates/graph",
    "/duplicates/graph?maxGroups=500",
  ])
    await measureEndpoint(daemon, `/api/v1${path}`);
  print(`daemon now ${memoryMb(daemon.pid, "VmRSS")} MB`);
}

async function run(): Promise<void> {
  const archive = await startArchive();
  const { child, ready } = archive;
  let daemon: Daemon | undefined;
  try {
    daemon = await startDaemon({ config: configOf(ready) });
    print(
      `${size.documents} documents, ${size.groups} groups; ${CONNECTIONS} connections, each waiting for its answer; ${seconds} s each`,
    );
    const fullSeconds = await measureSync(daemon, ready);
    await measureEndpoints(daemon);
    await measureChanges(daemon, archive, fullSeconds);
  } finally {
    await daemon?.stop();
    child.kill("SIGTERM");
    removeTemporaryFolders();
  }
}

await run();
