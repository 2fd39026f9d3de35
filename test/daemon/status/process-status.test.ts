import { once } from "node:events";
import { fromBinary } from "@bufbuild/protobuf";
import { describe, expect, it, vi } from "vitest";
import {
  processStatusReply,
  type ProcessStatusSources,
} from "../../../src/daemon/status/answer.ts";
import { componentRows, serviceStates } from "../../../src/daemon/status/components.ts";
import { processConstants } from "../../../src/daemon/status/constants.ts";
import { createProcessStatusPorts } from "../../../src/daemon/status/process-status-ports.ts";
import { watchStores } from "../../../src/daemon/status/stores.ts";
import { UpdateState } from "../../../src/gen/steward/monitor/v1/process_pb.ts";
import { StatusSchema } from "../../../src/gen/steward/monitor/v1/status_pb.ts";
import type { Log } from "../../../src/kernel/base/log.ts";
import type { Env, StateFactory } from "../../../src/kernel/state/types.ts";
import type { ComponentState } from "../../../src/kernel/supervisor/component.ts";
import type { PullView } from "../../../src/kernel/telemetry/status.ts";
import type { ProcessStatusMessage } from "../../../src/monitor/status/process/process-status.ts";
import { configOf, configurationOf } from "./config-of.ts";

const state = (
  name: string,
  phase: ComponentState["phase"] = "ready",
  reason?: string,
): ComponentState => ({ name, phase, reason, readiness: "required", crashes: 0, sinceMs: 0 });

describe("components", () => {
  const names = [
    "admin",
    "metrics",
    "stream",
    "webhook",
    "ingress_wal",
    "coordination",
    "gateway",
    "state",
    "pool",
    "dedup",
    "tokens",
  ];

  it("are the six fixed rows and the process's, enabled or not", () => {
    const rows = componentRows({
      config: configOf({ STEWARD_SERVICES__TOKENS: "false" }),
      states: ["gateway", "pool", "dedup"].map((name) => state(name)),
      stores: { ok: true },
      idle: true,
    });
    expect(rows.map(({ name }) => name)).toEqual(names);
    expect(rows.filter(({ enabled }) => enabled).map(({ name }) => name)).toEqual([
      "admin",
      "gateway",
      "state",
      "pool",
      "dedup",
    ]);
    expect(rows.filter(({ failed }) => failed)).toEqual([]);
  });

  it("fail with their reason", () => {
    const config = configOf({
      STEWARD_ADMIN__LISTEN: "127.0.0.1:1",
      STEWARD_SCRAPE__ENABLED: "true",
      STEWARD_SCRAPE__LISTEN: "127.0.0.1:2112",
    });
    const states = [
      state("admin", "degraded", "127.0.0.1:1 is already in use by another process"),
      state("metrics", "failed"),
      state("gateway"),
      state("pool"),
      state("dedup", "starting"),
      state("tokens", "degraded", "sealed"),
    ];
    const rows = componentRows({
      config,
      states,
      stores: { ok: false, reason: "dedup: the disk is full" },
      idle: false,
    });
    expect(rows.filter(({ failed }) => failed).map(({ name, reason }) => [name, reason])).toEqual([
      ["admin", "127.0.0.1:1 is already in use by another process"],
      ["metrics", "failed"],
      ["state", "dedup: the disk is full"],
      ["tokens", "sealed"],
    ]);
  });

  it("stand beside the services' states: off, idle, or the phase", () => {
    const facts = {
      config: configOf({ STEWARD_SERVICES__DEDUP: "false" }),
      states: [state("monitor"), state("tokens", "degraded", "sealed")],
      stores: { ok: true },
      idle: true,
    };
    expect(serviceStates(facts)).toEqual({ monitor: "idle", dedup: "off", tokens: "degraded" });
    expect(serviceStates({ ...facts, idle: false }).monitor).toBe("ready");
  });
});

describe("stores", () => {
  it("are well when every open one is", async () => {
    const healthy = new Map([
      ["a", true],
      ["b", true],
    ]);
    const factory: StateFactory = {
      open: (spec) =>
        Promise.resolve({
          name: spec.name,
          status: () => ({
            name: spec.name,
            healthy: healthy.get(spec.name),
            reason: "the map is full",
          }),
          close: () => Promise.resolve(),
        } as unknown as Env),
    };
    const stores = watchStores(factory);
    const open = async (name: string) =>
      await stores.state.open({ name } as Parameters<StateFactory["open"]>[0]);
    const [, b] = [await open("a"), await open("b")];
    expect(stores.health()).toEqual({ ok: true });
    healthy.set("b", false);
    expect(stores.health()).toEqual({ ok: false, reason: "b: the map is full" });
    await b.close();
    expect(stores.health()).toEqual({ ok: true });
  });
});

describe("what never changes", () => {
  const facts = {
    version: "1.2.3",
    startedAtMs: 1_700_000_000_000,
    monitor: { networks: [], several: false },
  };
  const told = (environment: Record<string, string>) =>
    fromBinary(
      StatusSchema,
      processConstants({ ...facts, configuration: configurationOf(environment) }).status,
    );

  it("is there whole when everything is off", () => {
    const status = told({});
    expect(status.service).toMatchObject({
      name: "steward",
      version: "1.2.3",
      runtimeVersion: process.version,
      selfObservability: true,
      demo: false,
      network: "",
      startedAt: { seconds: 1_700_000_000n },
    });
    expect(status.telemetry).toMatchObject({
      endpoint: "",
      insecure: false,
      protocol: "http",
      metricIntervalSeconds: 60,
      metricExportBatchSize: 5_000,
    });
    expect([status.provider, status.refreshMs, status.receivers?.streamingEnabled]).toEqual([
      "tailscale",
      5_000,
      false,
    ]);
    for (const part of [status.receivers, status.config]) expect(part).toBeDefined();
  });

  it("says where telemetry goes without what may be secret", () => {
    expect(
      told({ STEWARD_OTLP__ENDPOINT: "https://otlp.example.org/base?key=kanarienvogel" }).telemetry,
    ).toMatchObject({ endpoint: "https://otlp.example.org/base?key=redacted" });
    expect(
      told({
        STEWARD_OTLP__PROTOCOL: "grpc",
        STEWARD_OTLP__ENDPOINT: "localhost:4317",
        STEWARD_OTLP__TLS__INSECURE: "true",
        STEWARD_OTLP__METRIC_INTERVAL: "90s",
      }).telemetry,
    ).toMatchObject({
      endpoint: "localhost:4317",
      protocol: "grpc",
      insecure: true,
      metricIntervalSeconds: 90,
    });
    expect(
      told({ STEWARD_OTLP__LOGS__ENDPOINT: "http://logs.example.org/v1/logs" }).telemetry,
    ).toMatchObject({ endpoint: "http://logs.example.org/v1/logs" });
  });

  it("brings the catalogue of the process and of the other services, as data that can be sent", () => {
    const { metrics } = structuredClone(
      processConstants({ ...facts, configuration: configurationOf({}) }),
    );
    const names = metrics.map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining(["svc.up", "svc.gateway.requests", "svc.tokens.mints"]),
    );
    expect(new Set(names).size).toBe(names.length);
  });
});

function sources(changes: Partial<ProcessStatusSources>): ProcessStatusSources {
  return {
    config: configOf({}),
    idle: true,
    states: () => [],
    stores: () => ({ ok: true }),
    telemetry: {
      status: () =>
        ({ ledger: undefined }) as ReturnType<ProcessStatusSources["telemetry"]["status"]>,
    },
    delivery: { delivery: () => [], throughput: () => ({}) },
    runtime: { read: () => ({}) },
    certificates: () => ({}),
    cardinality: () => ({
      series: 0,
      limitPerMetric: 0,
      refused: { limit: 0, suppressed: 0, invalid: 0, overflowed: 0 },
      metrics: [],
    }),
    profiling: () => ({
      profileEndpointEnabled: false,
      profilerEnabled: false,
      profilerServer: "",
      profilerHeaderNames: [],
      profilerTlsClientCert: false,
      profilerTlsCustomCa: false,
      profilerTlsInsecureSkipVerify: false,
      profilerAuthSet: false,
      profilerUpload: undefined,
    }),
    updates: () => ({
      enabled: false,
      state: "disabled",
      currentVersion: undefined,
      latestVersion: undefined,
      minorsBehind: 0,
      lastCheckedAtMs: undefined,
      lastErrorClass: undefined,
      releaseUrl: "",
    }),
    ...changes,
  };
}

const answered = (changes: Partial<ProcessStatusSources>) =>
  fromBinary(StatusSchema, processStatusReply(sources(changes), { labels: false }).status);

describe("an answer", () => {
  it("lists the certificate of each listener that has one", () => {
    const certificate = {
      fingerprint: "ab",
      notBefore: 1_000,
      notAfter: 2_000,
      lastReloadAt: 4_000,
      loadedAt: 5,
      failures: 1,
      lastFailureAt: 3_000,
      lastFailure: "no such file",
    };
    expect(
      answered({ certificates: () => ({ gateway: certificate, admin: undefined }) })
        .tlsCertificates,
    ).toMatchObject([
      {
        name: "gateway",
        fingerprint: "ab",
        notBefore: { seconds: 1n },
        notAfter: { seconds: 2n },
        lastReloadAt: { seconds: 4n },
        lastReloadFailureAt: { seconds: 3n },
        lastReloadFailureReason: "no such file",
      },
    ]);
  });

  it("tells of the pull endpoint: settings also while it is off, figures of pulls that got past its token", () => {
    expect(answered({}).metricsServing).toMatchObject({
      enabled: false,
      config: {
        listen: ":2112",
        maxRequestsInFlight: 4,
        timeoutMs: 8_000,
        coalesceGather: true,
        tlsEnabled: false,
        clientAuthMode: "",
      },
    });
    const pull: Partial<PullView> = {
      requests: { success: 5, unavailable: 2, error: 1 },
      rejected: { auth_required: 1, missing_credentials: 2, bad_credentials: 3 },
      gatherErrors: { duplicate_series: 4 },
      lastGatherError: "duplicate_series",
      lastGatherErrorAtMs: 9_000,
      inFlight: 1,
      lastMs: 12.4,
      lastAtMs: 8_000,
    };
    const status = answered({
      telemetry: {
        status: () =>
          ({ ledger: { pull } }) as unknown as ReturnType<
            ProcessStatusSources["telemetry"]["status"]
          >,
      },
    });
    expect(status.metricsServing).toMatchObject({
      scrapesTotal: 8n,
      scrapesShed: 2n,
      scrapesFailed: 1n,
      authRejected: 6n,
      gatherErrors: 4n,
      lastGatherError: "duplicate_series",
      inFlight: 1,
      lastScrapeDurationMs: 12,
      lastScrapeAt: { seconds: 8n },
      lastGatherErrorAt: { seconds: 9n },
    });
  });

  it("tells of profiles without credentials, and of newer releases", () => {
    const upload = {
      attempts: 9,
      failures: 5,
      consecutiveFailures: 3,
      healthy: false,
      lastDurationSeconds: 0.5,
      lastSuccessAtMs: 1_000,
      lastFailureAtMs: 2_000,
      lastErrorClass: "timeout" as const,
    };
    const profiling = {
      ...sources({}).profiling(),
      profilerEnabled: true,
      profilerServer: "https://user:kanarienvogel@profiles.example.org",
      profilerHeaderNames: ["X-Org"],
      profilerUpload: upload,
    };
    const { profiling: shown, update } = answered({
      profiling: () => profiling,
      updates: () => ({
        enabled: true,
        state: "available",
        currentVersion: "1.0.0",
        latestVersion: "1.2.0",
        minorsBehind: 2,
        lastCheckedAtMs: 7_000,
        lastErrorClass: "network",
        releaseUrl: "https://example.org/releases",
      }),
    });
    expect(shown).toMatchObject({
      profilerServer: "https://redacted@profiles.example.org",
      profilerHeaderNames: ["X-Org"],
      profilerUpload: {
        attempts: 9n,
        failures: 5n,
        consecutiveFailures: 3,
        healthy: false,
        lastDurationSeconds: 0.5,
        lastErrorClass: "timeout",
        lastSuccessAt: { seconds: 1n },
        lastFailureAt: { seconds: 2n },
      },
    });
    const recovered = { ...upload, consecutiveFailures: 0, healthy: true };
    expect(
      answered({ profiling: () => ({ ...profiling, profilerUpload: recovered }) }).profiling
        ?.profilerUpload,
    ).toMatchObject({ consecutiveFailures: 0, healthy: true });
    expect(answered({}).profiling?.profilerUpload).toBeUndefined();
    expect(update).toMatchObject({
      enabled: true,
      state: UpdateState.AVAILABLE,
      currentVersion: "1.0.0",
      latestVersion: "1.2.0",
      minorsBehind: 2,
      lastErrorClass: "network",
      lastCheckedAt: { seconds: 7n },
    });
    expect(answered({}).update).toMatchObject({ enabled: false, state: UpdateState.DISABLED });
  });

  it("counts series, with values of labels only when these are asked for", () => {
    const metrics = [
      {
        name: "svc.up",
        group: "g",
        series: 1,
        overflowing: false,
        labels: () => [{ name: "a", distinct: 1, capped: false, examples: ["x"] }],
      },
      { name: "svc.none", group: "g", series: 0, overflowing: false, labels: () => [] },
    ];
    const given = sources({
      cardinality: () => ({
        series: 1,
        limitPerMetric: 1,
        refused: { limit: 0, suppressed: 0, invalid: 0, overflowed: 0 },
        metrics,
      }),
    });
    expect(processStatusReply(given, { labels: false }).series).toEqual([
      { name: "svc.up", series: 1, overflowing: true, labels: [] },
    ]);
    expect(processStatusReply(given, { labels: true }).series).toEqual([
      {
        name: "svc.up",
        series: 1,
        overflowing: true,
        labels: [{ label: "a", distinct: 1, capped: false, examples: ["x"] }],
      },
    ]);
  });
});

describe("a port to the process status", () => {
  const constants = {
    kind: "constants" as const,
    status: new Uint8Array([1]),
    metrics: [],
    records: [],
  };
  const heard: unknown[] = [];
  const log = { error: (...line: unknown[]) => void heard.push(line) } as unknown as Log;

  it("tells first what never changes, then answers by number; what cannot be told is logged", async () => {
    let broken = false;
    const ports = createProcessStatusPorts(log, {
      constants: () => constants,
      answer({ labels }) {
        if (broken) throw new Error("odd");
        return { status: new Uint8Array([labels ? 2 : 3]), series: [] };
      },
      counts: () => ({
        hours: [{ atMs: 5, documents: 1, groups: undefined, leases: undefined }],
        days: [],
      }),
    });
    const port = ports.port();
    const told: ProcessStatusMessage[] = [];
    port.on("message", (message: ProcessStatusMessage) => void told.push(message));
    const next = async (id: number, labels: boolean) => {
      port.postMessage({ kind: "ask", id, labels });
      await once(port, "message");
    };
    await once(port, "message");
    await next(7, true);
    await next(8, false);
    port.postMessage({ kind: "counts", id: 10 });
    await once(port, "message");
    expect(told.pop()).toEqual({
      kind: "counted",
      id: 10,
      counts: {
        hours: [{ atMs: 5, documents: 1, groups: undefined, leases: undefined }],
        days: [],
      },
    });
    expect(
      told.map((message) =>
        message.kind === "counted" ? message : { ...message, status: [...message.status] },
      ),
    ).toMatchObject([
      { kind: "constants" },
      { kind: "answer", id: 7, status: [2] },
      { kind: "answer", id: 8, status: [3] },
    ]);
    broken = true;
    port.postMessage({ kind: "ask", id: 9, labels: false });
    await vi.waitFor(() => expect(heard).toHaveLength(1), { timeout: 60_000 });
    // The one before closes when there is another.
    const closed = once(port, "close");
    const second = ports.port();
    await closed;
    second.close();
  });
});
