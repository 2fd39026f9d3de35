import { describe, expect, it } from "vitest";
import { aclSection } from "../../../src/monitor/collectors/acl.ts";
import {
  auditlogsSection,
  flowlogsSection,
  k8sAuditSection,
} from "../../../src/monitor/collectors/log-sections.ts";
import {
  preflightOptions,
  validatesPolicy,
  withoutVersionCheck,
} from "../../../src/monitor/cycle/preflight-options.ts";
import type {
  FlowLogOptions,
  MonitorOptions,
  NetworkOptions,
  ObjectStoreOptions,
  TailscaleOptions,
} from "../../../src/monitor/options.ts";
import { networkOptions } from "../collectors/harness.ts";

const HOUR_MS = 3_600_000;
const secret = { sentSecret: "s", origin: "test" };
const tailscale: TailscaleOptions = {
  kind: "tailscale",
  url: "http://127.0.0.1:9",
  network: "-",
  auth: { method: "apikey", key: secret },
  maxResponseBytes: 1,
  maxLogResponseBytes: 1,
  http: { timeoutMs: 1, maxAttempts: 1, baseDelayMs: 1, maxDelayMs: 1, rateLimit: 0 },
};
const limits = { wireBytes: 1, decompressedBytes: 1, records: 1 };
const store: ObjectStoreOptions = {
  intervalMs: 60_000,
  endpoint: "",
  region: "",
  bucket: "b",
  prefix: "",
  pathStyle: false,
  credentials: undefined,
  layout: "flat",
  lookbackMs: HOUR_MS,
  initialLookbackMs: 24 * HOUR_MS,
  maxObjects: 1_000,
  object: limits,
  cycle: limits,
};
const flowlogs: FlowLogOptions = {
  intervalMs: 60_000,
  source: "poll",
  lagMs: 1,
  initialLookbackMs: 24 * HOUR_MS,
  maxWindowMs: 0,
  objectStore: store,
  replayOverlapMs: 0,
  replaySeenCapacity: 1,
  logMode: "off",
  maxLogRecordsPerWindow: 0,
  trustedReporterNodeIds: [],
  trustedReporterTags: [],
};

function options(network: NetworkOptions): MonitorOptions {
  return {
    version: "1.0.0",
    networks: [network],
    several: false,
    privacy: {} as MonitorOptions["privacy"],
    resource: {},
    logs: undefined,
    metricIntervalMs: 1,
    checkpoint: {
      store: "file",
      filePath: "/var/lib/steward/checkpoints.mdb",
      isDefault: true,
      evidenceStore: "file",
    },
    versionChecks: { devices: true, url: "http://127.0.0.1:9", cacheTtlMs: 1, timeoutMs: 1 },
    annotations: {
      url: "http://127.0.0.1:9",
      token: secret,
      dashboardUid: "",
      timeoutMs: 1,
      maxPerMinute: 1,
      queueSize: 1,
      rollupIntervalMs: 1,
      dedupeRetentionMs: 1,
      extraTags: [],
      categories: {
        config_change: { enabled: true, rollup: false },
        expiry: { enabled: true, rollup: false },
      },
    },
    events: { enabled: true, maxEvents: 100 },
    selfObservability: { enabled: true, instanceId: "" },
    configWarnings: 0,
  };
}

const network: NetworkOptions = {
  ...networkOptions({ collectors: { flowlogs, k8s_audit: { objectStore: store } } }),
  provider: tailscale,
};

describe("A preflight", () => {
  it("stores, publishes and validates nothing, and asks nobody beside the network", () => {
    const { checkpoint, annotations, versionChecks, networks } = preflightOptions(options(network));
    expect([
      checkpoint.store,
      checkpoint.evidenceStore,
      annotations,
      versionChecks.devices,
      aclSection.of(networks[0] ?? network)?.validate,
    ]).toEqual(["memory", "memory", undefined, false, false]);
  });

  it("reads a short part of logs, and keeps a shorter one as it is", () => {
    const reduced = preflightOptions(options(network)).networks[0] ?? network;
    expect(flowlogsSection.of(reduced)).toMatchObject({
      initialLookbackMs: 300_000,
      objectStore: { initialLookbackMs: HOUR_MS, maxObjects: 20 },
    });
    expect(k8sAuditSection.of(reduced)?.objectStore).toMatchObject({
      initialLookbackMs: HOUR_MS,
      maxObjects: 20,
    });
    expect(auditlogsSection.of(reduced)).toBe(undefined);
    const short = preflightOptions(
      options({
        ...network,
        collectors: {
          ...network.collectors,
          flowlogs: { ...flowlogs, initialLookbackMs: 1, objectStore: undefined },
        },
      }),
    );
    expect(short.networks[0]?.collectors.flowlogs).toMatchObject({
      initialLookbackMs: 1,
      objectStore: undefined,
    });
  });

  it("leaves what it was given as it was, and all else with it", () => {
    const given = options(network);
    preflightOptions(given);
    expect(given).toEqual(options(network));
    const { versionChecks, ...rest } = withoutVersionCheck(given);
    expect(versionChecks.devices).toBe(false);
    expect(rest).toEqual({
      ...rest,
      networks: given.networks,
      checkpoint: given.checkpoint,
      annotations: given.annotations,
    });
  });

  it("knows whether a policy would be sent", () => {
    expect(validatesPolicy(options(network))).toBe(true);
    expect(validatesPolicy(options({ ...network, provider: networkOptions().provider }))).toBe(
      false,
    );
    expect(
      validatesPolicy(
        options({ ...network, collectors: { ...network.collectors, acl: undefined } }),
      ),
    ).toBe(false);
  });
});
