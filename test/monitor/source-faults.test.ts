import type { ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import type { Fault } from "../../src/demo/control-plane/faults.ts";
import { startNodeAgents } from "../../src/demo/network/agents.ts";
import { createNetwork } from "../../src/demo/network/network.ts";
import { startTailscale } from "../../src/demo/tailscale/tailscale.ts";
import { systemIds } from "../../src/kernel/base/ids.ts";
import { createLog } from "../../src/kernel/base/log.ts";
import type { ObjectStoreOptions } from "../../src/monitor/options.ts";
import { refusal, startBucket } from "./objectstore/bucket-server.ts";
import { createStageClock, STAGE_BEGINS_MS, startStage } from "./stage.ts";
import { everyCollector, tailscaleNetwork } from "./stage-options.ts";

const log = createLog({ level: "error", format: "text", write: () => undefined, now: () => 0 });
const INTERVAL_MS = 600_000;
const total = (requests: Readonly<Record<string, number>>): number =>
  Object.values(requests).reduce((sum, count) => sum + count, 0);

const AGENT_FAULTS: Readonly<Record<string, Fault>> = {
  "401": { kind: "status", status: 401 },
  "403": { kind: "status", status: 403 },
  "404": { kind: "status", status: 404 },
  "429": { kind: "limited", retryAfterS: 5 },
  "500": { kind: "status", status: 500 },
  "no answer": { kind: "hang" },
  "a reset": { kind: "reset" },
  "the page of a proxy": { kind: "html" },
  "a redirect": { kind: "redirect", location: "http://127.0.0.1:9/metrics" },
  "truncated gzip": { kind: "truncated_gzip" },
  "100 MB": { kind: "oversize", bytes: 100e6, chunked: true },
  "a body that ends too early": { kind: "truncate" },
};

it("node agents meet every fault: they are down, the run fails when all are, totals stay, and all is well with the next run", async () => {
  const clock = createStageClock();
  const network = createNetwork({ seed: 3, devices: 4 });
  const plane = await startTailscale({ clock, ids: systemIds, log, network, gzip: false });
  const agents = await startNodeAgents({ clock, ids: systemIds, log, network });
  const targets = network.devices
    .at(clock.now())
    .slice(0, 2)
    .map(({ host }) => ({ url: agents.urlOf(host), instance: host }));
  const stage = await startStage(
    clock,
    tailscaleNetwork(plane, everyCollector(INTERVAL_MS, targets)),
    { progress: () => total(plane.requests()) + total(agents.requests()) },
  );
  await clock.advance(1.5 * INTERVAL_MS);
  const totals = (): string[] => stage.exposition(({ name }) => name === "vpn.node.io");
  const up = (): number[] =>
    stage
      .exposition(({ name }) => name === "vpn.node.up")
      .map((line) => Number(line.split(" ").at(-1)));
  expect([up(), stage.collector("nodemetrics").failures]).toEqual([[1, 1], 0]);
  for (const [name, fault] of Object.entries(AGENT_FAULTS)) {
    const [before, runs] = [totals(), agents.requests().metrics ?? 0];
    expect(before.length, name).toBeGreaterThan(0);
    agents.faults.next("metrics", fault, Infinity);
    await clock.advance(INTERVAL_MS);
    agents.faults.clear();
    expect(
      [
        up(),
        stage.collector("nodemetrics").last?.error === undefined,
        totals(),
        (agents.requests().metrics ?? 0) - runs,
      ],
      name,
    ).toEqual([[0, 0], false, before, 2]);
    await clock.advance(INTERVAL_MS);
    expect([up(), stage.collector("nodemetrics").last?.error], `after ${name}`).toEqual([
      [1, 1],
      undefined,
    ]);
  }
  await stage[Symbol.asyncDispose]();
  await Promise.all([plane.stop(), agents.stop()]);
});

const page =
  (status: number, body: string | Buffer, headers: Record<string, string> = {}) =>
  (response: ServerResponse): void =>
    void response.writeHead(status, headers).end(body);
/**
 * Too many requests are not among them: the library waits by a clock of its own before it asks
 * again.
 */
const BUCKET_FAULTS: Readonly<Record<string, (response: ServerResponse) => void>> = {
  "a refused key": refusal(403, "InvalidAccessKeyId"),
  "no such bucket": refusal(404, "NoSuchBucket"),
  "an error of its own": refusal(500, "InternalError"),
  "a reset": (response) => void response.socket?.destroy(),
  "a page": page(200, "<html>log in</html>", { "content-type": "text/html" }),
  "no XML at all": page(200, "{}"),
  "truncated gzip": page(200, gzipSync(" ".repeat(9_000)).subarray(0, 20), {
    "content-encoding": "gzip",
  }),
};

it("a bucket that fails to list fails the run and loses nothing: what it holds counts once, when it answers again", async () => {
  const clock = createStageClock();
  const plane = await startTailscale({
    clock,
    ids: systemIds,
    log,
    network: createNetwork({ seed: 3, devices: 4 }),
    gzip: false,
  });
  const bucket = await startBucket();
  const limits = { wireBytes: 1e6, decompressedBytes: 1e6, records: 1_000 };
  const objectStore: ObjectStoreOptions = {
    intervalMs: INTERVAL_MS,
    endpoint: bucket.url,
    region: "eu-test-1",
    bucket: "logs",
    prefix: "",
    pathStyle: true,
    layout: "flat",
    lookbackMs: 3_600_000,
    initialLookbackMs: 6 * 3_600_000,
    maxObjects: 100,
    credentials: {
      accessKeyId: { sentSecret: "AKCANARY", origin: "t" },
      secretAccessKey: { sentSecret: "canary-secret", origin: "t" },
      sessionToken: undefined,
    },
    object: limits,
    cycle: limits,
  };
  const collectors = everyCollector(INTERVAL_MS);
  const { flowlogs } = collectors;
  const stage = await startStage(
    clock,
    tailscaleNetwork(plane, {
      ...collectors,
      flowlogs: flowlogs && { ...flowlogs, source: "objectstore", objectStore },
    }),
    { progress: () => total(plane.requests()) + bucket.asked.length },
  );
  let written = 0;
  const write = (): void => {
    written += 1;
    const at = new Date(clock.now() - 60_000).toISOString();
    const flow = {
      nodeId: "nSim1",
      logged: at,
      start: at,
      end: at,
      virtualTraffic: [
        {
          proto: 6,
          src: `100.64.0.9:${1_000 + written}`,
          dst: "100.64.0.10:443",
          txPkts: 1,
          txBytes: 100,
        },
      ],
    };
    bucket.objects.set(
      `${at.slice(0, 19).replace("T", "-").replaceAll(":", "-")}.ndjson`,
      Buffer.from(JSON.stringify(flow)),
    );
  };
  const counted = (): number =>
    stage
      .exposition(({ name }) => name === "vpn.network.flows")
      .reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
  expect(clock.now()).toBe(STAGE_BEGINS_MS);
  write();
  await clock.advance(INTERVAL_MS / 2);
  expect([counted(), stage.collector("objectstore").last?.error]).toEqual([1, undefined]);
  for (const [name, fault] of Object.entries(BUCKET_FAULTS)) {
    bucket.faults.set("list", fault);
    const asked = bucket.asked.length;
    write();
    await clock.advance(INTERVAL_MS);
    expect([counted(), stage.collector("objectstore").last?.error === undefined], name).toEqual([
      written - 1,
      false,
    ]);
    expect(bucket.asked.length - asked, name).toBeLessThanOrEqual(4);
    bucket.faults.clear();
    await clock.advance(INTERVAL_MS);
    expect([counted(), stage.collector("objectstore").last?.error], `after ${name}`).toEqual([
      written,
      undefined,
    ]);
  }
  expect([...stage.lines, ...stage.exposition()].join("\n")).not.toMatch(/AKCANARY|canary-secret/);
  await stage[Symbol.asyncDispose]();
  await Promise.all([plane.stop(), bucket.close()]);
});
