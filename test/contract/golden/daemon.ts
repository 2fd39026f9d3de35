/**
 * A process with the whole daemon and the estate that it monitors, on one clock that stands still
 * until the parent moves it: what the daemon tells depends on the seeds and on nothing else. Its
 * arguments come as JSON, its orders over the channel of `fork`.
 */
import { createHash } from "node:crypto";
import { subscribe } from "node:diagnostics_channel";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate, setTimeout } from "node:timers/promises";
import { configureDaemon } from "../../../src/daemon/configuration.ts";
import { endProcess } from "../../../src/daemon/end-process.ts";
import { serve } from "../../../src/daemon/serve.ts";
import { processReadings } from "../../../src/daemon/status/runtime.ts";
import { createIds } from "../../../src/kernel/base/ids.ts";
import { createStopSignals } from "../../../src/kernel/supervisor/stop-signals.ts";
import { createBucket } from "../../../src/monitor/objectstore/bucket.ts";
import { createStageClock } from "../../monitor/stage.ts";
import { startEstate } from "../monitor-estate.ts";
import { arrangeScene, type SceneName } from "./scenes.ts";

/** What the process is started with. */
export interface GoldenArguments {
  readonly scene: SceneName;
  /** For the configuration and the state. */
  readonly folder: string;
  /** Receives OTLP. */
  readonly endpoint: string;
}

/**
 * From the parent: move on by so much. The answer is the same number, once everything that was due
 * has come to its end.
 */
export interface GoldenOrder {
  readonly advanceMs: number;
}

/** First what the estate's addresses stand for, then the answers to orders. */
export type GoldenReply = { readonly addresses: Readonly<Record<string, string>> } | { readonly advancedMs: number };

/** Turns of the loop without a request on its way before time moves on. */
const CALM_TURNS = 100;
/** The last look, which also sees what is under way in other threads. */
const LOOKS = 10;
const LOOK_MS = 40;
const SEED = "golden";
/** What undici and Node's own client tell of a request. */
const BEGUN = ["undici:request:create", "http.client.request.start"];
const ENDED = ["undici:request:trailers", "undici:request:error", "http.client.response.finish", "http.client.request.error"];

let inFlight = 0;
const clock = createStageClock();
clock.settle = settle;
watchRequests();
const { scene, folder, endpoint } = JSON.parse(process.argv[2] ?? "") as GoldenArguments;
const ids = seededIds();
const secrets = { client: "tskey-client-golden", headscaleKey: `hskey-api-${"golden".repeat(2)}-${"0".repeat(64)}` };
const estate = await startEstate({ devices: 9, talkers: 3, clock, ids, gzip: false, secrets });
await loadLibraries();
const file = join(folder, "steward.yaml");
writeFileSync(file, JSON.stringify(arrangeScene(estate, { scene, folder, endpoint })), { mode: 0o600 });
const configuration = configureDaemon({ config: file, demo: false }, process.env);
const readings = { ...processReadings(), heapBytes: () => 64 * 2 ** 20, collections: () => 2, uptimeMs: () => clock.monotonic() };
process.once("disconnect", () => process.exit(1)); // the test process is gone
process.on("message", ({ advanceMs }: GoldenOrder) => void advance(advanceMs));
const { tailscale, headscale, agents, relayUrl, packagesUrl, bucket, dashboard } = estate;
send({
  addresses: {
    [endpoint]: "receiver", [tailscale.url]: "tailscale", [headscale.url]: "headscale", [agents.url]: "agents",
    [new URL(relayUrl).origin]: "relay", [packagesUrl]: "packages", [bucket.url]: "bucket", [dashboard.url]: "dashboard",
  },
});
const end = (status: number): Promise<never> => endProcess(status, (last) => process.exit(last));
const code = await serve(configuration, createStopSignals(process), end, { clock, ids, readings, monitorOn: "main" });
await end(code);

/**
 * What is loaded at its first use, from the disk and in the machine's time: before the clock
 * counts.
 */
async function loadLibraries(): Promise<void> {
  await import("undici");
  const secret = { sentSecret: "x", origin: "golden" };
  const limits = { wireBytes: 1, decompressedBytes: 1, records: 1 };
  const { bucket: { url, objects } } = estate;
  const opened = createBucket({
    endpoint: url, region: "eu-test-1", bucket: "logs", prefix: "", pathStyle: true,
    credentials: { accessKeyId: secret, secretAccessKey: secret, sessionToken: undefined },
    layout: "flat", lookbackMs: 0, initialLookbackMs: 0, maxObjects: 1, intervalMs: 1, object: limits, cycle: limits,
  });
  const { signal } = new AbortController();
  objects.set("first", Buffer.from("{}"));
  await opened.list("", "", 1, signal);
  for await (const bytes of await opened.read("first", signal)) void bytes;
  opened.close();
  objects.delete("first");
}

async function advance(ms: number): Promise<void> {
  await clock.advance(ms);
  for (let look = 0; look < LOOKS; look++) {
    await setTimeout(LOOK_MS);
    await settle();
  }
  send({ advancedMs: ms });
}

function send(reply: GoldenReply): void {
  process.send?.(reply);
}

/** The requests of the daemon on their way, of undici and of Node's own client. */
function watchRequests(): void {
  for (const begun of BEGUN) subscribe(begun, () => void (inFlight += 1));
  for (const ended of ENDED) subscribe(ended, () => void (inFlight -= 1));
}

/** Until no request is on its way, and nothing that an answer set off is. */
async function settle(): Promise<void> {
  for (let calm = 0; calm < CALM_TURNS; calm++) {
    await setImmediate();
    if (inFlight > 0) calm = 0;
    if (calm === CALM_TURNS / 2) await setTimeout(1);
  }
}

/** The same identifiers in each run. */
function seededIds(): ReturnType<typeof createIds> {
  let drawn = 0;
  return createIds((length) => {
    const bytes: Buffer[] = [];
    for (let size = 0; size < length; size += 32) bytes.push(createHash("sha256").update(`${SEED} ${drawn++}`).digest());
    return new Uint8Array(Buffer.concat(bytes).subarray(0, length));
  });
}
