/**
 * What the monitor is told at its start, as plain data: the configuration with everything inherited
 * settled, so that a collector never sees the keys of another network. Times are milliseconds,
 * sizes bytes; secrets travel as `SentSecret`.
 */
import type { TracingOptions } from "../kernel/telemetry/tracing.ts";
import type { SentSecret } from "../kernel/threads/secrets.ts";

/** How calls of a control plane are made. */
export interface HttpOptions {
  readonly timeoutMs: number;
  /** The first attempt included. */
  readonly maxAttempts: number;
  readonly baseDelayMs: number;
  readonly maxDelayMs: number;
  /** Requests a second over all collectors of the network; 0 is no limit. */
  readonly rateLimit: number;
}

/** The hosted control plane. */
export interface TailscaleOptions {
  readonly kind: "tailscale";
  readonly url: string;
  /** The network's segment in paths; `-` is the credential's own. */
  readonly network: string;
  readonly auth: TailscaleAuth;
  readonly http: HttpOptions;
  readonly maxResponseBytes: number;
  readonly maxLogResponseBytes: number;
}

/** Its credential. */
export type TailscaleAuth =
  | {
      readonly method: "oauth";
      readonly clientId: string;
      readonly clientSecret: SentSecret;
      readonly scopes: readonly string[];
    }
  | { readonly method: "apikey"; readonly key: SentSecret }
  | {
      readonly method: "workload_identity";
      readonly clientId: string;
      readonly idTokenFile: string;
    };

/** A control plane of one's own. */
export interface HeadscaleOptions {
  readonly kind: "headscale";
  readonly url: string;
  readonly apiKey: SentSecret;
  readonly http: HttpOptions;
  readonly maxResponseBytes: number;
}

/** What every collector has; absent options are those of a collector that is off. */
interface Every {
  readonly intervalMs: number;
}

/** Where records come from. */
export interface ObjectStoreOptions extends Every {
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  readonly prefix: string;
  readonly pathStyle: boolean;
  /** Undefined: the ambient credentials of the machine. */
  readonly credentials:
    | {
        readonly accessKeyId: SentSecret;
        readonly secretAccessKey: SentSecret;
        readonly sessionToken: SentSecret | undefined;
      }
    | undefined;
  readonly layout: "partitioned" | "flat" | "recorder";
  readonly lookbackMs: number;
  readonly initialLookbackMs: number;
  readonly maxObjects: number;
  readonly object: ByteLimits;
  readonly cycle: ByteLimits;
}

/** Bounds of an object or of a whole run. */
export interface ByteLimits {
  readonly wireBytes: number;
  readonly decompressedBytes: number;
  readonly records: number;
}

/** Collectors, by their section of the configuration. */
export interface CollectorOptions {
  readonly devices:
    | (Every & {
        readonly collectRoutes: boolean;
        readonly collectConnectivity: boolean;
        readonly collectPosture: boolean;
        readonly collectDeviceInvites: boolean;
        readonly postureLogMode: "changes" | "always" | "off";
        /** `*` for all. */
        readonly attributeNamespaces: readonly string[];
        readonly collectTagRollup: boolean;
        /** 0 or less is no limit. */
        readonly tagRollupLimit: number;
      })
    | undefined;
  readonly users: Every | undefined;
  readonly keys: (Every & { readonly expiryWarnMs: number }) | undefined;
  readonly settings: Every | undefined;
  readonly acl: (Every & { readonly validate: boolean }) | undefined;
  readonly dns: Every | undefined;
  readonly contacts: Every | undefined;
  readonly webhooks: (Every & { readonly desiredEvents: readonly string[] }) | undefined;
  readonly postureIntegrations: Every | undefined;
  readonly logStream: Every | undefined;
  readonly oauthApps: Every | undefined;
  readonly services: (Every & { readonly collectHosts: boolean }) | undefined;
  readonly flowlogs: FlowLogOptions | undefined;
  readonly auditlogs: LogOptions | undefined;
  readonly k8sAudit: { readonly objectStore: ObjectStoreOptions } | undefined;
  readonly nodeMetrics: NodeMetricsOptions | undefined;
}

/** A log that is read window after window, or from an object store. */
export interface LogOptions extends Every {
  readonly source: "poll" | "stream" | "both" | "objectstore";
  readonly lagMs: number;
  readonly initialLookbackMs: number;
  /** 0 is no limit. */
  readonly maxWindowMs: number;
  /** Only with the source `objectstore`. */
  readonly objectStore: ObjectStoreOptions | undefined;
}

/** The log of flows. */
export interface FlowLogOptions extends LogOptions {
  readonly replayOverlapMs: number;
  readonly replaySeenCapacity: number;
  readonly logMode: "per_connection" | "per_record" | "off";
  /** 0 is no limit. */
  readonly maxLogRecordsPerWindow: number;
  readonly trustedReporterNodeIds: readonly string[];
  readonly trustedReporterTags: readonly string[];
}

/** A node agent that is asked. */
export interface NodeTargetOptions {
  readonly url: string;
  /** Empty: host and port of the URL. */
  readonly instance: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, SentSecret>>;
  readonly bearerToken: SentSecret | undefined;
  /** Read again for each request; empty for none. */
  readonly bearerTokenFile: string;
  readonly tls: {
    readonly caFile: string;
    readonly certFile: string;
    readonly keyFile: string;
    readonly serverName: string;
    readonly insecureSkipVerify: boolean;
  };
}

/** The agents of nodes. */
export interface NodeMetricsOptions extends Every {
  readonly timeoutMs: number;
  readonly maxResponseBytes: number;
  readonly maxSamples: number;
  /** Negative is no limit. */
  readonly maxDistinctMetrics: number;
  /** Anchored expressions; empty allows all. */
  readonly metricAllow: readonly string[];
  readonly metricDeny: readonly string[];
  readonly dropLabels: readonly string[];
  readonly targets: readonly NodeTargetOptions[];
  readonly discovery:
    | {
        readonly intervalMs: number;
        readonly maxTargets: number;
        readonly scheme: "http" | "https";
        readonly port: number;
        readonly path: string;
        readonly onlineOnly: boolean;
        readonly excludeExternal: boolean;
        readonly includeHostLabels: boolean;
        readonly includeTagsLabel: boolean;
        readonly addressOrder: "ipv4" | "ipv6";
        readonly instanceSource: "name" | "hostname" | "address";
        readonly includeTags: readonly string[];
        readonly excludeTags: readonly string[];
      }
    | undefined;
}

/** Which series there may be, and how many. */
export interface CardinalityOptions {
  /** Of one metric; 0 or less is no limit. */
  readonly metricLimit: number;
  readonly warningThreshold: number;
  readonly criticalThreshold: number;
  /** Values kept as examples for each label; 0 is none. */
  readonly labelValueSampleCap: number;
  readonly derpRegionRollup: boolean;
  readonly subnetRouteRollup: boolean;
  readonly perEntity: Readonly<Record<"device" | "user" | "key" | "webhook" | "service", boolean>>;
  readonly flow: {
    readonly metricsMode: "all" | "rollup" | "both";
    readonly rollupTopN: number;
    readonly sourcePort: boolean;
    readonly destinationPort: boolean;
    readonly nodeDims: boolean;
    readonly identityDims: boolean;
    readonly geoDims: boolean;
    readonly collapseExternal: boolean;
    readonly exitNodeAttribution: boolean;
  };
}

/** A kind of personal or internal data. */
export type PrivacyCategory =
  | "emails"
  | "user_display_names"
  | "user_ids"
  | "hostnames"
  | "node_ids"
  | "vpn_ips"
  | "internal_ips"
  | "external_ips"
  | "service_addrs"
  | "endpoint_paths"
  | "network_topology"
  | "network_name"
  | "free_text_details"
  | "command_text";

/** True is exported. */
export type PrivacyOptions = Readonly<Record<PrivacyCategory, boolean>>;

/** One network. */
export interface NetworkOptions {
  /** As `vpn.network` shows it; `-` until the control plane told its own. */
  readonly name: string;
  readonly provider: TailscaleOptions | HeadscaleOptions;
  readonly collectors: CollectorOptions;
  readonly cardinality: CardinalityOptions;
  readonly outdatedMinorThreshold: number;
  /** Metrics about collecting itself. */
  readonly selfObservability: boolean;
  /** Of the demo: its failures say so in the status. */
  readonly simulated?: boolean;
}

/** Marks on a dashboard. */
export interface AnnotationOptions {
  readonly url: string;
  readonly token: SentSecret;
  readonly dashboardUid: string;
  readonly timeoutMs: number;
  readonly maxPerMinute: number;
  readonly queueSize: number;
  readonly rollupIntervalMs: number;
  readonly dedupeRetentionMs: number;
  readonly extraTags: readonly string[];
  readonly categories: Readonly<
    Record<"config_change" | "expiry", { readonly enabled: boolean; readonly rollup: boolean }>
  >;
}

/** Everything. */
export interface MonitorOptions {
  readonly version: string;
  /** Empty: no credential is configured, and the monitor is idle. */
  readonly networks: readonly NetworkOptions[];
  /** Several networks are configured, even if one has no credential. */
  readonly several: boolean;
  readonly privacy: PrivacyOptions;
  /** Attributes of the process's resource; networks add their own instance id. */
  readonly resource: Readonly<Record<string, string | number | boolean>>;
  /** Whether log records are exported, and what may wait. */
  readonly logs:
    | { readonly capacity: number; readonly body: number; readonly attribute: number }
    | undefined;
  /** How runs and calls are traced, and how many spans may wait; undefined: they are not. */
  readonly tracing?: Pick<TracingOptions, "sampler" | "ratio"> & { readonly capacity: number };
  readonly metricIntervalMs: number;
  readonly checkpoint: {
    readonly store: "file" | "memory";
    /** Absolute. */ readonly filePath: string;
    /** The path was not configured. */ readonly isDefault: boolean;
    readonly evidenceStore: "file" | "memory";
  };
  readonly versionChecks: {
    readonly devices: boolean;
    readonly url: string;
    readonly cacheTtlMs: number;
    readonly timeoutMs: number;
  };
  readonly annotations: AnnotationOptions | undefined;
  readonly selfObservability: { readonly enabled: boolean; readonly instanceId: string };
  /** From which counts on the page warns; the first network's unless given. */
  readonly cardinality?: Pick<CardinalityOptions, "warningThreshold" | "criticalThreshold">;
  /** Warnings of the configuration, for `svc.config.warnings`. */
  readonly configWarnings: number;
}
