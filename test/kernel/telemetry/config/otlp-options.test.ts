import { describe, expect, it } from "vitest";
import { defineSchema } from "../../../../src/kernel/config/key.ts";
import { loadConfig, type LoadResult } from "../../../../src/kernel/config/load.ts";
import { otlpChecks } from "../../../../src/kernel/telemetry/config/otlp-checks.ts";
import { otlpKeys } from "../../../../src/kernel/telemetry/config/otlp-keys.ts";
import {
  batchSettings,
  credentialReloadMs,
  exporterOptions,
  metricIntervalMs,
  stdoutOptions,
} from "../../../../src/kernel/telemetry/config/otlp-options.ts";
import { redactUrl } from "../../../../src/kernel/config/redact.ts";

const schema = defineSchema(otlpKeys);

function load(yaml: string, environment: Record<string, string> = {}): LoadResult {
  return loadConfig({
    file: "steward.yaml",
    environment,
    schema,
    checks: otlpChecks,
    readFile: (path) => (path === "steward.yaml" ? yaml : "from-a-file\n"),
  });
}

function options(yaml: string, environment: Record<string, string> = {}) {
  const { config, findings } = load(yaml, environment);
  if (config === undefined) throw new Error(JSON.stringify(findings));
  return exporterOptions(config, "metrics");
}

describe("where a signal is exported to", () => {
  it("is nowhere unless somebody says so", () => {
    expect(options("")).toBeUndefined();
    expect(
      options("otlp: {endpoint: 'http://localhost:4318', metrics: {enabled: false}}"),
    ).toBeUndefined();
  });

  it("is the shared address with the signal's path, over HTTP", () => {
    expect(options("otlp: {endpoint: 'http://localhost:4318/'}")).toMatchObject({
      protocol: "http",
      endpoint: "http://localhost:4318/v1/metrics",
      compression: "none",
      basic: undefined,
    });
    expect(options("otlp: {endpoint: 'http://localhost:4318/base'}")?.endpoint).toBe(
      "http://localhost:4318/base/v1/metrics",
    );
  });

  it("is a signal's own before the shared one", () => {
    const yaml =
      "otlp: {endpoint: 'http://localhost:4318', metrics: {protocol: grpc, endpoint: 'collector:4317', compression: gzip}}";
    expect(options(yaml)).toMatchObject({
      protocol: "grpc",
      endpoint: "collector:4317",
      compression: "gzip",
    });
  });

  it("follows OpenTelemetry's own variables below the file", () => {
    const environment = {
      OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4317",
      OTEL_EXPORTER_OTLP_PROTOCOL: "grpc",
    };
    expect(options("", environment)).toMatchObject({
      protocol: "grpc",
      endpoint: "collector:4317",
      tls: { insecure: true },
    });
    expect(options("otlp: {endpoint: 'mine:1'}", environment)).toMatchObject({
      endpoint: "mine:1",
    });
  });
});

describe("a signal on standard output", () => {
  it("needs no endpoint, and has an interval of its own", () => {
    const { config } = load(
      "otlp: {protocol: stdout, stdout: {pretty: true}, traces: {protocol: http, endpoint: 'http://localhost:4318'}, logs: {enabled: false}}",
    );
    if (config === undefined) throw new Error("it is sound");
    expect([
      stdoutOptions(config, "metrics"),
      stdoutOptions(config, "logs"),
      stdoutOptions(config, "traces"),
    ]).toEqual([{ pretty: true }, undefined, undefined]);
    expect([
      exporterOptions(config, "metrics"),
      exporterOptions(config, "traces")?.endpoint,
    ]).toEqual([undefined, "http://localhost:4318/v1/traces"]);
    expect(metricIntervalMs(config)).toBe(5_000);
  });

  it("is not judged by where it does not go", () => {
    expect(
      load("otlp: {protocol: stdout, endpoint: nowhere, tls: {ca_file: /gone}}").findings,
    ).toEqual([]);
  });
});

describe("what a signal inherits", () => {
  it("is also the retry, unless its own group has a value other than 0", () => {
    const yaml = (own: string): string =>
      `otlp: {endpoint: 'http://localhost:4318', retry: {initial_interval: 7s, max_interval: 20s}, metrics: {retry: {${own}}}}`;
    expect(
      options(yaml("initial_interval: 0, max_interval: 0s, max_elapsed_time: 0"))?.retry,
    ).toEqual({ enabled: true, initialMs: 7_000, maxMs: 20_000, elapsedMs: 60_000 });
    expect(options(yaml("initial_interval: 2s, max_interval: 0"))?.retry).toEqual({
      enabled: true,
      initialMs: 2_000,
      maxMs: 30_000,
      elapsedMs: 60_000,
    });
  });

  it("is each setting for itself, 0 being none of its own", () => {
    const yaml =
      "otlp: {endpoint: 'http://localhost:4318', max_request_size: 1MiB, grpc_reconnection_period: 5m, metrics: {max_request_size: 2048}}";
    expect(options(yaml)).toMatchObject({ maxRequestSize: 2_048, grpcReconnectionMs: 300_000 });
    expect(options("otlp: {endpoint: 'http://localhost:4318'}")).toMatchObject({
      maxRequestSize: 0,
      grpcReconnectionMs: 0,
    });
  });
});

describe("credentials that are read again", () => {
  it("are so only when asked, and not too often", () => {
    const { config } = load("otlp: {credential_reload: {enabled: true}}");
    expect(config && credentialReloadMs(config)).toBe(30_000);
    const off = load("otlp: {credential_reload: {interval: 1s}}");
    expect(off.findings).toEqual([]);
    expect(off.config && credentialReloadMs(off.config)).toBeUndefined();
    expect(load("otlp: {credential_reload: {enabled: true, interval: 4s}}").findings).toMatchObject(
      [
        {
          severity: "error",
          path: "otlp.credential_reload.interval",
          line: 1,
          rule: "must be at least 5s while otlp.credential_reload.enabled is true",
        },
      ],
    );
  });
});

describe("headers", () => {
  it("are secrets, from the file, from variables and from files", () => {
    const { config } = load(
      "otlp: {endpoint: 'http://localhost:4318', headers: {x-org: canary, x-key_file: /run/key}}",
      { STEWARD_OTLP__HEADERS__X_ORG: "other-canary" },
    );
    const headers = config && exporterOptions(config, "metrics")?.headers;
    expect(headers?.get("x-org")?.use((value) => value)).toBe("canary");
    expect(headers?.get("x-key")?.use((value) => value)).toBe("from-a-file");
    expect(JSON.stringify(config?.effective({ provenance: true }))).not.toContain("canary");
  });

  it("leave no value in a message", () => {
    expect(
      JSON.stringify(load("", { OTEL_EXPORTER_OTLP_HEADERS: "canary" }).findings),
    ).not.toContain("canary");
  });
});

describe("what is refused", () => {
  it.each([
    ["otlp: {endpoint: 'collector:4318'}", "otlp.endpoint", /http or https/],
    ["otlp: {endpoint: 'http://user:canary@host'}", "otlp.endpoint", /credentials/],
    ["otlp: {protocol: grpc, endpoint: 'http://host:1'}", "otlp.endpoint", /host:port/],
    ["otlp: {protocol: smoke}", "otlp.protocol", /one of/],
  ])("%s", (yaml, path, rule) => {
    const { config, findings } = load(yaml);
    expect(config).toBeUndefined();
    expect(findings).toContainEqual(
      expect.objectContaining({
        severity: "error",
        path,
        rule: expect.stringMatching(rule) as string,
      }),
    );
    expect(JSON.stringify(findings)).not.toContain("canary");
  });
});

/** One value below `otlp`, each section in its own braces, beside a shared endpoint. */
function beside(endpoint: string, path: string, value: unknown): string {
  const inner = path
    .split(".")
    .slice(1)
    .reduceRight<unknown>((below, name) => ({ [name]: below }), value);
  return JSON.stringify({ otlp: { endpoint, ...(inner as object) } });
}

/** The path and severity of all that is said, each path once. */
const said = (yaml: string): string[] =>
  [...new Set(load(yaml).findings.map(({ severity, path }) => `${severity} ${path}`))].toSorted();

describe("a mistake below otlp", () => {
  it.each(otlpKeys.map(({ path }) => path))(
    "is a finding whatever its key, and throws nothing: %s",
    (path) => {
      for (const value of [["x"], [["x"]]])
        expect(said(beside("http://localhost:4318", path, value))).toEqual([`error ${path}`]);
    },
  );

  it.each([
    ["compression", "zstd"],
    ["timeout", "-1s"],
    ["max_request_size", -1],
    ["grpc_reconnection_period", "-1s"],
    ["headers", "x"],
    ["tls.insecure", "maybe"],
    ["tls.insecure_skip_verify", "maybe"],
    ["retry.initial_interval", "x"],
    ["metrics.compression", "zstd"],
    ["logs.timeout", "-1s"],
    ["traces.retry.enabled", "maybe"],
    ["batch.logs.max_queue_size", -1],
    ["backend_cloud.token", ["x"]],
  ])("leaves the others to be found: %s", (name, value) => {
    const yaml = beside("nohost", `otlp.${name}`, value);
    expect(said(yaml)).toEqual(["error otlp.endpoint", `error otlp.${name}`].toSorted());
    expect(
      load(yaml).findings.every(
        ({ rule, remedy, line }) => rule !== "" && (remedy ?? rule) !== "" && line === 1,
      ),
    ).toBe(true);
  });

  it.each([
    ["{endpoint: nohost}", "otlp.endpoint"],
    ["{endpoint: 'http://'}", "otlp.endpoint"],
    ["{endpoint: 'http://h', metrics: {endpoint: nohost}}", "otlp.metrics.endpoint"],
    ["{endpoint: 'http://h:99999'}", "otlp.endpoint"],
  ])("may be the address itself: %s", (yaml, path) => {
    expect(load(`otlp: ${yaml}`).findings).toEqual([
      {
        severity: "error",
        path,
        line: 1,
        rule: "must be an http or https address with protocol http",
        remedy: "write e.g. http://localhost:4318.",
      },
    ]);
  });

  it("is told with those of other rules", () => {
    const yaml =
      "otlp: {endpoint: nohost, batch: {logs: {max_queue_size: 1, export_max_batch_size: 2}}, credential_reload: {enabled: true, interval: 1s}, backend_cloud: {instance_id: '1'}, traces: {tls: {cert_file: /c}}}";
    expect(said(yaml)).toEqual([
      "error otlp.batch.logs.export_max_batch_size",
      "error otlp.credential_reload.interval",
      "error otlp.endpoint",
      "error otlp.tls.key_file",
      "warning otlp.backend_cloud",
    ]);
  });
});

describe("credentials that others on the network can read", () => {
  const KEY = "headers: {authorization: canary}";
  it.each([
    [`{endpoint: 'http://host:4318', ${KEY}}`, ["warning otlp.endpoint"]],
    ["{endpoint: 'http://host:4318', headers: {x-api-key: canary}}", ["warning otlp.endpoint"]],
    [
      "{endpoint: 'http://host:4318', backend_cloud: {instance_id: '1', token: canary}}",
      ["warning otlp.endpoint"],
    ],
    [
      `{endpoint: 'https://host', ${KEY}, logs: {endpoint: 'http://host:4318'}}`,
      ["warning otlp.logs.endpoint"],
    ],
    [`{endpoint: 'http://host:4318', logs: {${KEY}}}`, ["warning otlp.endpoint"]],
    [
      `{protocol: grpc, endpoint: 'host:4317', tls: {insecure: true}, ${KEY}}`,
      ["warning otlp.endpoint"],
    ],
    [`{protocol: grpc, endpoint: 'host:4317', ${KEY}}`, []],
    [`{protocol: grpc, endpoint: 'localhost:4317', tls: {insecure: true}, ${KEY}}`, []],
    [`{endpoint: 'https://host', ${KEY}}`, []],
    [`{endpoint: 'http://127.0.0.1:4318', ${KEY}}`, []],
    [`{endpoint: 'http://100.64.0.7:4318', ${KEY}}`, []],
    ["{endpoint: 'http://host:4318', headers: {x-scope-orgid: home}}", []],
    [`{protocol: stdout, endpoint: 'http://host:4318', ${KEY}}`, []],
    [
      "{endpoint: 'http://host:4318', backend_cloud: {token: canary}}",
      ["warning otlp.backend_cloud"],
    ],
  ])("%s: %j", (yaml, expected) => {
    expect(said(`otlp: ${yaml}`)).toEqual(expected);
    expect(JSON.stringify(load(`otlp: ${yaml}`).findings)).not.toContain("canary");
  });
});

describe("certificate files", () => {
  const tls = "otlp: {protocol: grpc, endpoint: 'host:1', tls: {ca_file: /ca, cert_file: /cert";
  it.each([
    [
      `${tls}}}`,
      ["otlp.tls.ca_file: holds no", "otlp.tls.key_file: is missing, otlp.tls.cert_file is set"],
    ],
    [
      `${tls}, key_file: /gone}}`,
      ["otlp.tls.ca_file: holds no", "otlp.tls.key_file: /gone cannot be read"],
    ],
    [
      `${tls}, key_file: /key}}`,
      [
        "otlp.tls.ca_file: holds no",
        "otlp.tls.cert_file: /cert and /key are not a certificate and its key",
      ],
    ],
    [
      "otlp: {protocol: grpc, endpoint: 'host:1', metrics: {tls: {key_file: /key}}}",
      ["otlp.tls.cert_file: is missing, otlp.metrics.tls.key_file is set"],
    ],
    ["otlp: {tls: {ca_file: /gone}}", []],
  ])("are judged where something is exported: %s", (yaml, expected) => {
    const readFile = (path: string): string => {
      if (path === "/gone") throw new Error("gone");
      return path === "steward.yaml" ? yaml : "canary";
    };
    const { findings } = loadConfig({
      file: "steward.yaml",
      environment: {},
      schema,
      checks: otlpChecks,
      readFile,
    });
    const said = findings
      .filter(({ severity }) => severity === "error")
      .map(({ path, rule }) => `${path}: ${rule.replace(/^\/ca /, "")}`);
    expect(said.toSorted()).toEqual(
      expected.map((line) => expect.stringContaining(line) as string),
    );
    expect(JSON.stringify(findings)).not.toContain("canary");
  });
});

describe("queues", () => {
  it("are what is configured, by OpenTelemetry's variables below the file", () => {
    const { config } = load(
      "otlp: {batch: {logs: {max_queue_size: 100, export_max_batch_size: 10}}}",
      { OTEL_BSP_SCHEDULE_DELAY: "250", OTEL_BLRP_EXPORT_TIMEOUT: "5000" },
    );
    expect(config && batchSettings(config, "logs")).toEqual({
      capacity: 100,
      batchSize: 10,
      batchDelayMs: 0,
      exportTimeoutMs: 5_000,
    });
    expect(config && batchSettings(config, "traces")).toEqual({
      capacity: 0,
      batchSize: 0,
      batchDelayMs: 250,
      exportTimeoutMs: 0,
    });
  });

  it("hold at least one batch", () => {
    expect(
      load("otlp: {batch: {traces: {max_queue_size: 10, export_max_batch_size: 11}}}").findings,
    ).toContainEqual(
      expect.objectContaining({
        severity: "error",
        path: "otlp.batch.traces.export_max_batch_size",
        rule: "must be at most otlp.batch.traces.max_queue_size, which is 10, got 11",
      }),
    );
  });
});

describe("an address that is shown", () => {
  it.each([
    [
      "http://user:canary@host/path?token=canary#canary",
      "http://redacted@host/path?token=redacted",
    ],
    ["http://host", "http://host"],
    ["plain text", "plain text"],
    ["http://[broken", "(unparseable url)"],
  ])("%s", (text, shown) => {
    expect(redactUrl(text)).toBe(shown);
  });
});
