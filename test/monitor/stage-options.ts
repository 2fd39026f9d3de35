/**
 * Networks for a stage: every collector on, the simulators' credentials, intervals as a test wants
 * them.
 */
import type { Headscale } from "../support/headscale/types.ts";
import type { Tailscale } from "../../src/demo/tailscale/types.ts";
import type { SectionOptions, HttpOptions, NetworkOptions } from "../../src/monitor/options.ts";
import { deviceDefaults, networkOptions, stateSections } from "./collectors/harness.ts";

/** Two attempts, ten seconds each. */
export const stageHttp: HttpOptions = {
  timeoutMs: 10_000,
  maxAttempts: 2,
  baseDelayMs: 1_000,
  maxDelayMs: 5_000,
  rateLimit: 0,
};

/**
 * Every collector that asks a control plane, each with that interval; node agents where `agents`
 * are given.
 */
export function everyCollector(
  intervalMs: number,
  agents: readonly { readonly url: string; readonly instance: string }[] = [],
): SectionOptions {
  const every = { intervalMs };
  const log = {
    ...every,
    source: "poll",
    lagMs: 120_000,
    initialLookbackMs: 300_000,
    maxWindowMs: 3_600_000,
    objectStore: undefined,
  } as const;
  const plainTls = {
    caFile: "",
    certFile: "",
    keyFile: "",
    serverName: "",
    insecureSkipVerify: false,
  };
  return {
    ...stateSections(intervalMs),
    devices: {
      ...deviceDefaults,
      ...every,
      collectRoutes: true,
      collectPosture: true,
      attributeNamespaces: ["*"],
    },
    webhooks: { ...every, desiredEvents: ["nodeCreated", "userDeleted"] },
    services: { ...every, collectHosts: true },
    flowlogs: {
      ...log,
      replayOverlapMs: 300_000,
      replaySeenCapacity: 100_000,
      logMode: "off",
      maxLogRecordsPerWindow: 0,
      trustedReporterNodeIds: [],
      trustedReporterTags: [],
    },
    auditlogs: log,
    node_metrics:
      agents.length === 0
        ? undefined
        : {
            ...every,
            timeoutMs: 5_000,
            maxResponseBytes: 1 << 20,
            maxSamples: 10_000,
            maxDistinctMetrics: 2_000,
            metricAllow: [],
            metricDeny: [],
            dropLabels: [],
            discovery: undefined,
            targets: agents.map(({ url, instance }) => ({
              url,
              instance,
              labels: {},
              headers: {},
              bearerToken: undefined,
              bearerTokenFile: "",
              tls: plainTls,
            })),
          },
  };
}

/** A network behind the hosted control plane's simulator. */
export function tailscaleNetwork(
  { url, credentials, tailnet }: Tailscale,
  collectors: SectionOptions,
  http: HttpOptions = stageHttp,
): NetworkOptions {
  return {
    ...networkOptions({
      collectors,
      cardinality: { derpRegionRollup: false, subnetRouteRollup: false },
    }),
    name: tailnet,
    provider: {
      kind: "tailscale",
      url,
      network: "-",
      auth: {
        method: "oauth",
        clientId: credentials.clientId,
        clientSecret: { sentSecret: credentials.clientSecret, origin: "test" },
        scopes: ["all:read"],
      },
      http,
      maxResponseBytes: 1 << 22,
      maxLogResponseBytes: 1 << 24,
    },
  };
}

/** A network behind a simulated Headscale. */
export function headscaleNetwork(
  { url, apiKey }: Headscale,
  collectors: SectionOptions,
  http: HttpOptions = stageHttp,
): NetworkOptions {
  return {
    ...networkOptions({ collectors }),
    name: "home",
    provider: {
      kind: "headscale",
      url,
      apiKey: { sentSecret: apiKey, origin: "test" },
      http,
      maxResponseBytes: 1 << 22,
    },
  };
}
