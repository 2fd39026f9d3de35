import { request as requestHttps } from "node:https";
import { join } from "node:path";
import { writeFileSync } from "node:fs";
import { afterAll, describe, expect, it } from "vitest";
import { hasOpenssl, makePair } from "../kernel/listen/test-certificates.ts";
import { startReceiver } from "../support/otlp/receiver.ts";
import { folderConfig, smallArchive, writeFiles } from "./corpus.ts";
import {
  listenAddress,
  removeTemporaryFolders,
  rest,
  runJob,
  runSteward,
  startDaemon,
  temporaryFolder,
} from "./daemon.ts";

afterAll(removeTemporaryFolders);

function config(more = ""): string {
  const folder = temporaryFolder();
  writeFiles(folder, smallArchive);
  return folderConfig(temporaryFolder(), folder, more);
}

describe("the metrics endpoint (contract 4.1)", () => {
  it("is 404 as text while its switch is off", async () => {
    const daemon = await startDaemon({ config: config() });
    const answer = await rest(daemon, "GET", "/api/v1/metrics");
    expect([answer.status, answer.headers.get("content-type")]).toEqual([
      404,
      "text/plain; charset=utf-8",
    ]);
    expect(answer.text).toContain("OTEL_METRICS_SCRAPE_ENABLED");
    await daemon.stop();
  });

  it("answers text by default and OpenMetrics when asked", async () => {
    const daemon = await startDaemon({
      config: config(),
      env: { OTEL_METRICS_SCRAPE_ENABLED: "true" },
    });
    const text = await rest(daemon, "GET", "/api/v1/metrics");
    expect(text.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    expect(text.text).toMatch(/^process_cpu_time_seconds_total\{cpu_mode="user"\} /m);
    expect(text.text).toMatch(/^svc_build_info_ratio\{version="0\.1\.0",/m);
    const open = await rest(daemon, "GET", "/api/v1/metrics", undefined, {
      accept: "application/openmetrics-text",
    });
    expect(open.headers.get("content-type")).toMatch(/^application\/openmetrics-text/);
    expect(open.text.endsWith("# EOF\n")).toBe(true);
    await daemon.stop();
  });
});

describe("metrics that are pushed", () => {
  it.each(["grpc", "http"] as const)(
    "reach an OTLP receiver over %s, with headers, and once more at the end",
    async (protocol) => {
      const receiver = await startReceiver({ protocol });
      const endpoint = protocol === "grpc" ? `127.0.0.1:${receiver.port}` : receiver.endpoint;
      const otlp = `otlp:\n  protocol: ${protocol}\n  endpoint: ${endpoint}\n  tls: {insecure: true}\n  metric_interval: 1h\n  headers: {x-org: canary-value}\n`;
      const daemon = await startDaemon({ config: config(otlp) });
      await runJob(daemon, "/api/v1/sync");
      expect(await daemon.stop()).toEqual({ code: 0, signal: null });
      const up = receiver.points().find((point) => point.metric === "svc.up");
      expect(up).toMatchObject({ value: 1, resource: { "service.name": "steward" } });
      expect(receiver.headers["x-org"]).toBe("canary-value");
      expect(daemon.stderr.join("\n")).not.toContain("canary");
      await receiver.close();
    },
  );

  it.each(["grpc", "http"] as const)(
    "may find nobody there over %s: everything else goes on, and the log says so once for each signal and class",
    async (protocol) => {
      const endpoint = protocol === "grpc" ? "127.0.0.1:1" : "http://127.0.0.1:1";
      const daemon = await startDaemon({
        config: config(
          `otlp: {protocol: ${protocol}, endpoint: '${endpoint}', metric_interval: 200ms, timeout: 100ms}\n`,
        ),
      });
      expect((await runJob(daemon, "/api/v1/sync")).status).toBe("completed");
      expect(await daemon.stop()).toEqual({ code: 0, signal: null });
      const said = daemon.stderr
        .filter((line) => /warn|error/.test(line) && line.includes("telemetry"))
        .map((line) => /(metrics|logs) export failed.* class=(\S+)/.exec(line)?.slice(1, 3) ?? []);
      expect(new Set(said.map(([signal]) => signal))).toEqual(new Set(["logs", "metrics"]));
      // On a busy machine an attempt may also run out of time, which is a class of its own.
      expect(new Set(said.map(String)).size).toBe(said.length);
    },
  );
});

describe("metrics that are pulled from a port of their own", () => {
  it("are behind scrape.auth.token, beside those that are pushed; the port is in the log", async () => {
    const receiver = await startReceiver({ protocol: "http" });
    const daemon = await startDaemon({
      config: config(
        `otlp: {endpoint: '${receiver.endpoint}', metric_interval: 200ms}\nscrape: {enabled: true, listen: '127.0.0.1:0'}\n`,
      ),
      env: { STEWARD_SCRAPE__AUTH__TOKEN: "canary-scrape-token" },
    });
    const address = listenAddress(daemon, "metrics");
    expect((await fetch(`http://${address}/metrics`)).status).toBe(401);
    const answer = await fetch(`http://${address}/metrics`, {
      headers: { authorization: "Bearer canary-scrape-token" },
    });
    expect(answer.status).toBe(200);
    const text = await answer.text();
    expect(text).toMatch(/^svc_up_ratio 1$/m);
    expect(text).toMatch(/^svc_component_errors_total\{component="metrics"\} 0$/m);
    expect((await rest(daemon, "GET", "/readyz")).status).toBe(200);
    expect(await daemon.stop()).toEqual({ code: 0, signal: null });
    expect(receiver.points().some(({ metric }) => metric === "svc.up")).toBe(true);
    expect(daemon.stderr.join("\n")).not.toContain("canary");
    await receiver.close();
  });
});

describe("metrics and records on standard output", () => {
  it("come after the start line, a line of JSON each", async () => {
    const daemon = await startDaemon({
      config: config("otlp: {protocol: stdout, stdout: {metric_interval: 100ms}}\n"),
    });
    expect(await daemon.stop()).toEqual({ code: 0, signal: null });
    const [first, ...rest] = daemon.stdout;
    expect(first).toMatch(/^steward listening on /);
    expect(
      new Set(
        rest
          .filter((line) => line !== "")
          .flatMap((line) => Object.keys(JSON.parse(line) as object)),
      ),
    ).toEqual(new Set(["resourceMetrics", "resourceLogs"]));
  });
});

if (!hasOpenssl)
  process.stderr.write(
    "skipped: TLS on the running daemon (no openssl to make a certificate with)\n",
  );

describe.skipIf(!hasOpenssl)("with a certificate", () => {
  it("the gateway speaks TLS, and the health check finds it", async () => {
    const folder = temporaryFolder();
    const { cert, key } = makePair("a");
    writeFileSync(join(folder, "cert.pem"), cert);
    writeFileSync(join(folder, "key.pem"), key, { mode: 0o600 });
    const files = {
      STEWARD_GATEWAY__TLS__CERT_FILE: join(folder, "cert.pem"),
      STEWARD_GATEWAY__TLS__KEY_FILE: join(folder, "key.pem"),
    };
    const daemon = await startDaemon({ config: config(), env: files });
    expect(daemon.url).toMatch(/^https:/);
    const status = await new Promise<[number | undefined, string | undefined]>(
      (resolve, reject) => {
        requestHttps(
          `${daemon.url}/api/v1/health`,
          { ca: cert, servername: "localhost" },
          (answer) => resolve([answer.statusCode, answer.headers["strict-transport-security"]]),
        )
          .on("error", reject)
          .end();
      },
    );
    expect(status).toEqual([200, expect.stringContaining("max-age") as string]);
    const check = await runSteward(["-healthcheck"], {
      env: { ...files, STEWARD_GATEWAY__LISTEN: daemon.host },
    });
    expect([check.code, check.stdout]).toEqual([
      0,
      `healthcheck: ready (${daemon.url}/readyz -> 200)\n`,
    ]);
    await daemon.stop();
  });

  it("that is none, the start is refused without a word of the key", async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "cert.pem"), "no certificate");
    writeFileSync(join(folder, "key.pem"), "canary");
    const env = {
      STEWARD_GATEWAY__TLS__CERT_FILE: join(folder, "cert.pem"),
      STEWARD_GATEWAY__TLS__KEY_FILE: join(folder, "key.pem"),
    };
    const refusal = await startDaemon({ config: config(), env }).then(() => "started", String);
    expect(refusal).toMatch(/ended with 1[\s\S]*gateway\.tls\.cert_file/);
    expect(refusal).not.toContain("canary");
  });
});

describe("pages of other origins", () => {
  it("may use the document service when they are allowed, and nothing else may", async () => {
    const daemon = await startDaemon({
      config: config(),
      env: { CORS_ALLOW_ORIGIN: "https://archive.example.org" },
    });
    const origin = { origin: "https://archive.example.org" };
    const preflight = await rest(daemon, "OPTIONS", "/api/v1/sync", undefined, {
      ...origin,
      "access-control-request-method": "POST",
    });
    expect([
      preflight.status,
      preflight.headers.get("access-control-allow-origin"),
      preflight.headers.get("access-control-max-age"),
    ]).toEqual([204, origin.origin, "86400"]);
    expect((await rest(daemon, "POST", "/api/v1/sync", "{}", origin)).status).toBe(202);
    expect(
      (await rest(daemon, "POST", "/api/v1/sync", "{}", { origin: "https://elsewhere.example" }))
        .status,
    ).toBe(401);
    await daemon.stop();
  });
});
