import { release } from "node:os";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { processMetricRows } from "../../../src/kernel/telemetry/report/service-metrics.ts";
import { familyName } from "../../../src/kernel/telemetry/exposition/naming.ts";
import type { AnyRow } from "../../../src/kernel/telemetry/types.ts";
import { dedupMetrics } from "../../../src/dedup/telemetry/metrics.ts";
import { tokensMetrics } from "../../../src/tokens/telemetry/metrics.ts";
import { folderConfig, smallArchive, writeFiles } from "../../contract/corpus.ts";
import {
  type Daemon,
  jobEnd,
  removeTemporaryFolders,
  rest,
  runJob,
  startDaemon,
  temporaryFolder,
} from "../../contract/daemon.ts";
import { grpcUnary } from "../../contract/rpc.ts";
import { appKey, startCodeHost, vaultRequest } from "../../contract/vault.ts";
import { SystemService } from "../../../src/gen/steward/dedup/v1/system_pb.ts";
import { parseExposition } from "../../kernel/telemetry/exposition-parser.ts";
import type { ReceivedPoint } from "../../support/otlp/decode.ts";
import { type Receiver, startReceiver } from "../../support/otlp/receiver.ts";

/** Rows that have no value while nothing goes wrong; each has a test that makes it go wrong. */
const MISFORTUNES: ReadonlySet<string> = new Set([
  "svc.export.failures",
  "svc.export.lost",
  "svc.tokens.audit.failures",
]);
/** Every row that this process can write; those with a condition have a test where it holds. */
const catalogueRows: readonly AnyRow[] = [...processMetricRows, ...dedupMetrics, ...tokensMetrics];
/** What `/api/v1/metrics` shows of the process. */
const SHOWN = /^(svc\.(jobs_total|jobs\.|runtime\.|build_info|up$)|process\.)/;

let receiver: Receiver;
let daemon: Daemon;
let scraped: string;
let points: readonly ReceivedPoint[];

beforeAll(async () => {
  receiver = await startReceiver({ protocol: "http" });
  const folder = temporaryFolder();
  writeFiles(folder, smallArchive);
  const config = folderConfig(
    temporaryFolder(),
    folder,
    `otlp: {endpoint: '${receiver.endpoint}', metric_interval: 1s, batch: {logs: {export_interval: 20ms}}}\ntracing: {enabled: true}\nlogging: {level: debug}\n`,
  );
  daemon = await startDaemon({
    config,
    env: { OTEL_METRICS_SCRAPE_ENABLED: "true", STEWARD_SERVICES__MONITOR: "false" },
  });
  await runJob(daemon, "/api/v1/sync");
  // The analysis that follows has metrics only once it ends.
  const { currentJobId } = (await rest(daemon, "GET", "/api/v1/analysis/status")).json.data;
  if (currentJobId !== null) await jobEnd(daemon, currentJobId as string);
  await rest(daemon, "GET", "/api/v1/documents?limit=2");
  await rest(daemon, "GET", "/nowhere/at/all/4711", undefined, {
    "x-request-id": "my-request",
    traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
  });
  await rest(daemon, "POST", "/api/v1/sync", "{}", { origin: "https://elsewhere.example" });
  await rest(daemon, "GET", "/api/v1/jobs", undefined, {
    traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
  });
  await grpcUnary(daemon.host, SystemService.method.getHealth, {});
  await rest(daemon, "POST", "/steward.dedup.v1.JobService/GetJob", { jobId: "nobody" });
  await useTokens();
  scraped = (await rest(daemon, "GET", "/api/v1/metrics")).text;
  // What is open is told while it is open: the last export, after the stop, has no stores any more.
  while (
    documents() === undefined ||
    answered({ route: "/api/v1/metrics", code: "200" }) === undefined
  )
    await new Promise((resolve) => setTimeout(resolve, 20));
  expect(await daemon.stop()).toEqual({ code: 0, signal: null });
  points = receiver.points();
});

function documents(): number | undefined {
  return receiver
    .points()
    .findLast(
      (point) =>
        point.metric === "svc.state.rows" &&
        point.attributes["environment"] === "dedup" &&
        point.attributes["table"] === "documents" &&
        point.value > 0,
    )?.value;
}

/** A token that is minted and revoked, and one request that nobody may make. */
async function useTokens(): Promise<void> {
  const host = await startCodeHost();
  const token =
    daemon.stderr
      .map((line) => /root token[^:]*: (\S+)/.exec(line)?.[1])
      .find((found) => found !== undefined) ?? "";
  const ask = async (path: string, body: object): Promise<void> => {
    expect((await vaultRequest(daemon.url, "POST", path, { token, body })).status).toBeLessThan(
      300,
    );
  };
  await ask("github/config", { app_id: 7, prv_key: appKey.privateKey, base_url: host.url });
  await ask("github/token", { installation_id: 1001 });
  await ask("sys/leases/revoke-prefix/github/token", {});
  await vaultRequest(daemon.url, "GET", "secret/4711", { token: "kanarienvogel" });
  await host.stop();
}

afterAll(async () => {
  await receiver.close();
  removeTemporaryFolders();
});

/** How many requests were answered with these labels. */
function answered(attributes: object): number | undefined {
  return receiver
    .points()
    .findLast(
      (point) =>
        point.metric === "svc.gateway.requests" &&
        Object.entries(attributes).every(([name, value]) => point.attributes[name] === value),
    )?.value;
}

function pointsOf(row: Pick<AnyRow, "name">): ReceivedPoint[] {
  return points.filter((point) => point.metric === row.name);
}

describe("the catalogue of the process", () => {
  it("has no row that nobody writes: a daemon that worked a little has pushed each", () => {
    const unwritten = catalogueRows
      .filter(
        (row) => row.when === undefined && !MISFORTUNES.has(row.name) && pointsOf(row).length === 0,
      )
      .map((row) => row.name);
    expect(unwritten).toEqual([]);
  });

  it("holds every metric that is pushed, so that none has no help", () => {
    const known = new Set(catalogueRows.map((row) => row.name));
    expect(
      [...new Set(points.map((point) => point.metric))].filter((name) => !known.has(name)),
    ).toEqual([]);
  });

  it("is what the endpoint shows, as far as that shows the process", () => {
    const families = new Set(
      parseExposition(scraped).samples.map((sample) =>
        sample.name.replace(/_(bucket|sum|count)$/, ""),
      ),
    );
    const shown = processMetricRows
      .filter((row) => row.when === undefined && SHOWN.test(row.name))
      .map(familyName);
    expect(shown.length).toBeGreaterThan(12);
    expect(shown.filter((name) => !families.has(name.replace(/_(bucket|sum|count)$/, "")))).toEqual(
      [],
    );
    expect(
      [...families].filter((name) => /^svc_(gateway|state|pool|export|tokens)/.test(name)),
    ).toEqual([]);
  });
});

describe("the resource", () => {
  it("of all three signals says by the conventions what runs where, and which of them", () => {
    for (const received of [points, receiver.logs(), receiver.spans()]) {
      expect(received[0]?.schemaUrl).toMatch(
        /^https:\/\/opentelemetry\.io\/schemas\/\d+\.\d+\.\d+$/,
      );
      expect(received[0]?.resource).toMatchObject({
        "service.name": "steward",
        "service.version": "0.1.0",
        "telemetry.sdk.name": "opentelemetry",
        "telemetry.sdk.language": "nodejs",
        "telemetry.sdk.version": expect.stringMatching(/^\d+\.\d+\.\d+$/) as string,
        "host.arch": process.arch === "x64" ? "amd64" : process.arch,
        "os.description": expect.stringContaining(release()) as string,
      });
    }
  });

  it("names the process in logs and spans, and nowhere among metrics", () => {
    for (const received of [receiver.logs(), receiver.spans()])
      expect(received[0]?.resource["process.pid"]).toBeGreaterThan(1);
    expect(points[0]?.resource).not.toHaveProperty(["process.pid"]);
    expect(scraped).not.toMatch(/process_pid/);
    expect(scraped.match(/^target_info\{.*$/gm)).toHaveLength(1);
  });
});

describe("requests", () => {
  it("are counted by route, method, protocol and outcome", () => {
    expect(
      answered({ route: "/api/v1/documents", method: "GET", protocol: "rest", code: "200" }),
    ).toBe(1);
    expect(answered({ route: "/api/v1/sync", method: "POST", protocol: "rest", code: "202" })).toBe(
      1,
    );
    expect(
      answered({
        route: "/steward.dedup.v1.SystemService/GetHealth",
        protocol: "grpc",
        code: "ok",
      }),
    ).toBe(1);
    expect(
      answered({ route: "/steward.dedup.v1.JobService/GetJob", protocol: "connect", code: "404" }),
    ).toBe(1);
  });

  it("never make a label of what the client chose", () => {
    expect(answered({ route: "(none)", method: "GET", protocol: "rest", code: "404" })).toBe(1);
    // The labels alone: a sum or a time may well have these digits.
    expect(JSON.stringify(points.map(({ attributes }) => attributes))).not.toMatch(
      /4711|nobody|nowhere/,
    );
  });

  it("that access refuses are counted by the reason", () => {
    expect(
      pointsOf({ name: "svc.gateway.refused" }).findLast(
        (point) => point.attributes["reason"] !== "busy" && point.value > 0,
      )?.value,
    ).toBeGreaterThanOrEqual(1);
  });
});

describe("jobs and stores", () => {
  it("have the numbers of what happened", () => {
    const sync = (name: string): ReceivedPoint | undefined =>
      pointsOf({ name }).findLast((point) => point.attributes["type"] === "sync");
    expect(sync("svc.jobs_total")).toMatchObject({
      value: 1,
      attributes: { outcome: "completed" },
    });
    expect(sync("svc.jobs.running")?.value).toBe(0);
    expect(sync("svc.jobs.duration")?.histogram?.count).toBe(1);
    expect(documents()).toBe(Object.keys(smallArchive).length);
    expect(
      pointsOf({ name: "svc.state.commits" }).findLast(
        (point) => point.attributes["environment"] === "dedup",
      )?.value,
    ).toBeGreaterThan(0);
  });
});

describe("tokens", () => {
  it("have the numbers of what happened, and no label that a client chose", () => {
    const last = (name: string, attributes: object): number | undefined =>
      pointsOf({ name }).findLast((point) =>
        Object.entries(attributes).every(([key, value]) => point.attributes[key] === value),
      )?.value;
    expect(last("svc.tokens.mints", { mount: "github/", outcome: "ok" })).toBe(1);
    expect(pointsOf({ name: "svc.tokens.mint.duration" }).at(-1)?.histogram?.count).toBe(1);
    expect(last("svc.tokens.revocations", { mount: "github/", outcome: "revoked" })).toBe(1);
    expect(
      last("svc.tokens.requests", { mount: "(none)", operation: "read", outcome: "denied" }),
    ).toBe(1);
    expect([
      last("svc.tokens.audit.records", { type: "request" }),
      last("svc.tokens.audit.records", { type: "response" }),
    ]).toEqual([4, 4]);
    expect([
      last("svc.tokens.sealed", {}),
      last("svc.tokens.orphans", {}),
      last("svc.tokens.stored", {}),
      last("svc.tokens.leases", { state: "held" }),
    ]).toEqual([0, 0, 1, 0]);
    expect(JSON.stringify(points)).not.toContain("kanarienvogel");
  });
});

describe("lines of the log", () => {
  it("reach the receiver, those before the exporter was there too, with the process's resource", () => {
    const state = receiver.logs().find((record) => record.body === "state");
    expect(state).toMatchObject({
      severity: "INFO",
      severityNumber: 9,
      resource: { "service.name": "steward", "service.version": "0.1.0" },
    });
    expect(receiver.logs().find((record) => record.body === "listening")?.attributes).toMatchObject(
      { component: "gateway", name: "gateway" },
    );
    expect(receiver.logs().find((record) => record.body === "stopping")?.attributes).toMatchObject({
      signal: "SIGTERM",
    });
  });

  it("of a traced request belong to its span, written and exported", () => {
    const span = receiver
      .spans()
      .find((each) => each.attributes["steward.request_id"] === "my-request");
    const record = receiver
      .logs()
      .find((each) => each.body === "request" && each.attributes["request_id"] === "my-request");
    expect(record).toMatchObject({
      traceId: "0af7651916cd43dd8448eb211c80319c",
      spanId: span?.spanId,
    });
    expect(record?.attributes["trace_id"]).toBeUndefined();
    expect(daemon.stderr.find((line) => line.includes("request_id=my-request"))).toContain(
      "trace_id=0af7651916cd43dd8448eb211c80319c",
    );
  });
});

describe("spans", () => {
  it("are one for each request, named by route, and children of what the client said", () => {
    const jobs = receiver.spans().find((span) => span.name === "GET /api/v1/jobs");
    expect(jobs).toMatchObject({
      kind: 2,
      traceId: "0af7651916cd43dd8448eb211c80319c",
      parentSpanId: "b7ad6b7169203331",
      status: 0,
      attributes: { "http.route": "/api/v1/jobs", "http.response.status_code": 200 },
      resource: { "service.name": "steward" },
    });
    expect(
      receiver.spans().find((span) => span.name === "steward.dedup.v1.SystemService/GetHealth"),
    ).toMatchObject({
      parentSpanId: "",
      attributes: { "rpc.system.name": "grpc", "rpc.response.status_code": "OK" },
    });
    expect(
      receiver.spans().find((span) => span.name === "POST /api/v1/sync")?.endMs,
    ).toBeGreaterThan(0);
  });
});

describe("secrets", () => {
  it("reach no line, record, span or point, not even when a receiver repeats one", async () => {
    const [header, token, cloud] = [
      "kanarienvogel-eins",
      "kanarienvogel-zwei",
      "kanarienvogel-drei",
    ];
    const strict = await startReceiver({ protocol: "grpc" });
    strict.answer = {
      kind: "refuse",
      grpc: 7,
      http: 403,
      words: `no, ${header} may not`,
      only: "metrics",
    };
    const folder = temporaryFolder();
    writeFiles(folder, smallArchive);
    const otlp = `otlp: {protocol: grpc, endpoint: '127.0.0.1:${strict.port}', tls: {insecure: true}, headers: {x-org: ${header}}, metric_interval: 200ms, batch: {logs: {export_interval: 20ms}}, backend_cloud: {instance_id: me, token: ${cloud}}}\ntracing: {enabled: true}\nlogging: {level: debug}\nauth: {token: ${token}}\n`;
    const one = await startDaemon({ config: folderConfig(temporaryFolder(), folder, otlp) });
    while (!one.stderr.some((line) => line.includes("metrics export failed")))
      await new Promise((resolve) => setTimeout(resolve, 20));
    strict.answer = { kind: "accept" };
    for (const authorization of [
      `Bearer ${token}`,
      `Bearer ${token}-wrong`,
      `Basic ${Buffer.from(`me:${cloud}`).toString("base64")}`,
    ])
      await rest(one, "GET", "/api/v1/jobs", undefined, { authorization });
    await one.stop();
    expect(strict.headers["x-org"]).toBe(header);
    expect(
      strict.logs().find((record) => record.body === "metrics export failed")?.attributes["reason"],
    ).toMatch(/no, \[secret\] may not/);
    expect(
      strict
        .points()
        .some(
          (point) =>
            point.metric === "svc.export.failures" &&
            point.attributes["error.type"] === "unauthenticated" &&
            point.value > 0,
        ),
    ).toBe(true);
    const everything = JSON.stringify([
      strict.logs(),
      strict.spans(),
      strict.points(),
      one.stderr,
      one.stdout,
    ]);
    expect(everything).not.toMatch(/kanarienvogel/);
    expect(everything).not.toContain(Buffer.from(`me:${cloud}`).toString("base64"));
    await strict.close();
  });
});
