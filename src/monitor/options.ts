/**
 * Options of the monitor as plain data: the configuration with all inheritance resolved, so that a
 * collector never sees another network's keys. Times are milliseconds, sizes bytes; secrets are
 * `SentSecret`.
 */
import type { Sampling, TracingOptions } from "../kernel/telemetry/tracing/tracing.ts";
import type { SentSecret } from "../kernel/threads/secrets.ts";
import type { IngressOptions } from "./ingress/options.ts";
import type { ReceiversOptions } from "./receivers/options.ts";
import type { GeoipOptions } from "./geoip/types.ts";
import type { ReverseDnsOptions } from "./reverse-dns/types.ts";

/** HTTP settings of control plane calls. */
export interface HttpOptions {
  readonly timeoutMs: number;
  /** Including the first attempt. */
  readonly maxAttempts: number;
  readonly baseDelayMs: number;
  readonly maxDelayMs: number;
  /** Requests per second over all collectors of the network; 0 means no limit. */
  readonly rateLimit: number;
}

export interface TailscaleOptions {
  readonly kind: "tailscale";
  readonly url: string;
  /** Network name in paths; `-` is the credential's own network. */
  readonly network: string;
  /** Undefined: it is not called, and only what it sends to the receivers is taken. */
  readonly auth: TailscaleAuth | undefined;
  readonly http: HttpOptions;
  readonly maxResponseBytes: number;
  readonly maxLogResponseBytes: number;
}

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

/** Options of a self-hosted Headscale. */
export interface HeadscaleOptions {
  readonly kind: "headscale";
  readonly url: string;
  readonly apiKey: SentSecret;
  readonly http: HttpOptions;
  readonly maxResponseBytes: number;
}

/** Options of every collector that runs at an interval. */
export interface ScheduledOptions {
  readonly intervalMs: number;
}

export interface ObjectStoreOptions extends ScheduledOptions {
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  readonly prefix: string;
  readonly pathStyle: boolean;
  /** Undefined uses the AWS SDK's default credential chain. */
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

/** Limits per object or per run. */
export interface ByteLimits {
  readonly wireBytes: number;
  readonly decompressedBytes: number;
  readonly records: number;
}

/**
 * The options of each collector by the name of its section, undefined while it is off. Read them
 * with `of` of the section, which knows their type.
 */
export type SectionOptions = Readonly<Record<string, object | undefined>>;

/** A log that is polled in windows or read from an object store. */
export interface LogOptions extends ScheduledOptions {
  readonly source: "poll" | "stream" | "both" | "objectstore";
  readonly lagMs: number;
  readonly initialLookbackMs: number;
  /** 0 means no limit. */
  readonly maxWindowMs: number;
  /** Present only with the source `objectstore`. */
  readonly objectStore: ObjectStoreOptions | undefined;
}

export interface FlowLogOptions extends LogOptions {
  readonly replayOverlapMs: number;
  readonly replaySeenCapacity: number;
  readonly logMode: "per_connection" | "per_record" | "off";
  /** 0 means no limit. */
  readonly maxLogRecordsPerWindow: number;
  readonly trustedReporterNodeIds: readonly string[];
  readonly trustedReporterTags: readonly string[];
}

/** A configured node agent. */
export interface NodeTargetOptions {
  readonly url: string;
  /** Empty uses host and port of the URL. */
  readonly instance: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, SentSecret>>;
  readonly bearerToken: SentSecret | undefined;
  /** Read for each request; empty for none. */
  readonly bearerTokenFile: string;
  readonly tls: {
    readonly caFile: string;
    readonly certFile: string;
    readonly keyFile: string;
    readonly serverName: string;
    readonly insecureSkipVerify: boolean;
  };
}

export interface NodeMetricsOptions extends ScheduledOptions {
  readonly timeoutMs: number;
  readonly maxResponseBytes: number;
  readonly maxSamples: number;
  /** Negative means no limit. */
  readonly maxDistinctMetrics: number;
  /** Anchored patterns; empty allows all. */
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

/** Limits on series. */
export interface CardinalityOptions {
  /** Series per metric; 0 or less means no limit. */
  readonly metricLimit: number;
  readonly warningThreshold: number;
  readonly criticalThreshold: number;
  /** Example values kept per label; 0 for none. */
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

/** True exports the category. */
export type PrivacyOptions = Readonly<Record<PrivacyCategory, boolean>>;

export interface NetworkOptions {
  /** Value of `vpn.network`; `-` until the name is looked up. */
  readonly name: string;
  readonly provider: TailscaleOptions | HeadscaleOptions;
  readonly collectors: SectionOptions;
  readonly cardinality: CardinalityOptions;
  readonly outdatedMinorThreshold: number;
  /** Whether metrics about collection are exported. */
  readonly selfObservability: boolean;
  /** Where the control plane should stream its logs; undefined: not checked. */
  readonly streamTarget?: string | undefined;
  /** Set by the demo; the status then marks failures as simulated. */
  readonly simulated?: boolean;
}

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

/** The store of flows. Times are milliseconds. */
export interface FlowStoreOptions {
  /** In memory. */
  readonly retentionMs: number;
  /** Flows further ahead are refused. */
  readonly maxFutureSkewMs: number;
  readonly capacityProfile: "compact" | "default" | "expanded";
  /** Undefined while flows are stored in memory. */
  readonly disk?: FlowDiskOptions | undefined;
}

/** The store of flows on disk; rows count for each network. Times are milliseconds. */
export interface FlowDiskOptions {
  /** Absolute. */
  readonly directory: string;
  readonly retentionMs: number;
  readonly maxRows: number;
  readonly maxExportRows: number;
  /** Rows that wait to be written; further ones are dropped. */
  readonly queueSize: number;
  /** Rows that are written before the interval is over. */
  readonly batchSize: number;
  readonly flushIntervalMs: number;
  readonly queryTimeoutMs: number;
  readonly sweepIntervalMs: number;
}

/** The store of events in memory. */
export interface EventStoreOptions {
  readonly enabled: boolean;
  /** The oldest are evicted beyond it. */
  readonly maxEvents: number;
}

export interface MonitorOptions {
  readonly version: string;
  /**
   * Collected ones first, then those that only receivers serve. Empty when there is neither: the
   * monitor is idle.
   */
  readonly networks: readonly NetworkOptions[];
  /** Whether several networks are configured, even if one lacks a credential. */
  readonly several: boolean;
  readonly privacy: PrivacyOptions;
  /** Attributes of the process's resource; networks add their own instance id. */
  readonly resource: Readonly<Record<string, string | number | boolean>>;
  /** Whether log records are exported, and the limit of the queue. */
  readonly logs:
    | { readonly capacity: number; readonly body: number; readonly attribute: number }
    | undefined;
  /** Absent: no receiver is switched on. */
  readonly receivers?: ReceiversOptions;
  /**
   * Set while another replica holds the lease: nothing is collected, stored or written, and the
   * receivers refuse everything.
   */
  readonly standby?: { readonly retryAfterMs: number } | undefined;
  /** The memory of a `Fence`, closed once this replica may have lost the lease. */
  readonly fence?: SharedArrayBuffer | undefined;
  /** With a fence: the read positions that the last holder of the lease kept. */
  readonly positions?: string | undefined;
  /** Undefined while `ingress_wal.enabled` is false. */
  readonly ingress?: IngressOptions | undefined;
  /** Sampling and queue limit of traces; undefined when tracing is off. */
  readonly tracing?: Pick<TracingOptions, "remoteParent"> & {
    readonly runs: Sampling;
    readonly receivers: Sampling;
    readonly capacity: number;
  };
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
  readonly events: EventStoreOptions;
  /** Undefined while `flows.enabled` is false. */
  readonly flows?: FlowStoreOptions | undefined;
  /** Undefined while it is off. */
  readonly reverseDns?: ReverseDnsOptions | undefined;
  /** Undefined while it is off. */
  readonly geoip?: GeoipOptions | undefined;
  readonly selfObservability: { readonly enabled: boolean; readonly instanceId: string };
  /** Warning thresholds of the cardinality page; by default the first network's. */
  readonly cardinality?: Pick<CardinalityOptions, "warningThreshold" | "criticalThreshold">;
  /** Number of configuration warnings, for `svc.config.warnings`. */
  readonly configWarnings: number;
}
