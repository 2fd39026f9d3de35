/**
 * Types of `/api/status.json`, for rendering on the server and in the browser. A test compares them
 * with `proto/steward/monitor/v1`; optional fields are absent when unset.
 */
import type {
  Collector,
  DeviceCache,
  Device,
  ApiUsage,
  Capability,
  NodeDiscovery,
} from "./status-collection.ts";
import type {
  Delivery,
  DedupSet,
  EventStore,
  FlowStore,
  Geoip,
  MetricsServing,
  Profiling,
  ReverseDns,
} from "./status-stores.ts";

/** The whole document. Times are RFC 3339 text. */
export interface StatusJson {
  readonly schema_version: number;
  readonly generated_at: string;
  readonly refresh_ms?: number;
  readonly provider: string;
  readonly health: "healthy" | "degraded" | "starting";
  readonly health_reasons?: readonly string[];
  readonly capabilities?: readonly string[];
  readonly advisories: readonly { readonly key?: string; readonly message: string }[];
  readonly api: ApiUsage;
  readonly capability_matrix: readonly Capability[];
  readonly cardinality: Cardinality;
  readonly collectors: readonly Collector[];
  readonly components: readonly {
    readonly enabled: boolean;
    readonly failed: boolean;
    readonly name: string;
    readonly reason?: string;
  }[];
  readonly config: ConfigSummary;
  readonly dedup_sets: readonly DedupSet[];
  readonly delivery: readonly Delivery[];
  readonly device_cache: DeviceCache;
  readonly devices: readonly Device[];
  readonly event_store: EventStore;
  readonly fleet: Fleet;
  readonly flow_store: FlowStore;
  readonly geoip: Geoip;
  readonly log_events: readonly LogEvent[];
  readonly metrics: readonly Metric[];
  readonly metrics_serving: MetricsServing;
  readonly node_discovery: NodeDiscovery;
  readonly profiling: Profiling;
  readonly receivers: { readonly streaming_enabled: boolean; readonly webhook_enabled: boolean };
  readonly reverse_dns: ReverseDns;
  readonly runtime: Runtime;
  readonly service: ServiceInfo;
  readonly networks: readonly Network[];
  readonly telemetry: {
    readonly endpoint: string;
    readonly insecure: boolean;
    readonly metric_export_batch_size: number;
    readonly metric_interval_seconds: number;
    readonly protocol: string;
  };
  readonly throughput: Throughput;
  readonly tls_certificates?: readonly TlsCertificate[];
  readonly update: Update;
  readonly services: Readonly<Record<string, string>>;
  readonly health_problems?: readonly HealthProblem[];
}

/** A health problem. */
export interface HealthProblem {
  /** The component, `network`, `checkpoints` or `export`. */
  readonly part: string;
  readonly reason: string;
  readonly remedy?: string;
  /** A path of the server, or the fragment of a panel. */
  readonly link?: string;
}

/** One network's part. */
export interface Network {
  readonly name: string;
  readonly auth_method: string;
  readonly failing: number;
  readonly api: ApiUsage;
  readonly cardinality: Cardinality;
  readonly collectors: readonly Collector[];
  readonly device_cache: DeviceCache;
  readonly devices: readonly Device[];
}

/** The process. */
interface ServiceInfo {
  readonly runtime_version: string;
  readonly name: string;
  readonly self_observability: boolean;
  readonly started_at: string;
  readonly network: string;
  readonly uptime: string;
  readonly uptime_seconds: number;
  readonly version: string;
  readonly demo?: boolean;
}

/** How many series there are, and why. */
export interface Cardinality {
  readonly schema_version: number;
  readonly available: boolean;
  readonly total: number;
  readonly total_metrics: number;
  readonly total_series?: readonly number[];
  readonly thresholds: { readonly critical: number; readonly warning: number };
  readonly alerts?: readonly {
    readonly count: number;
    readonly level?: "warning" | "critical";
    readonly metric: string;
  }[];
  readonly growth?: readonly {
    readonly current: number;
    readonly delta_pct: number;
    readonly metric: string;
    readonly exposition_name: string;
    readonly series: readonly number[];
  }[];
  readonly series?: readonly {
    readonly capped: boolean;
    readonly count: number;
    readonly level?: "warning" | "critical";
    readonly metric: string;
    readonly exposition_name: string;
  }[];
  readonly labels?: readonly LabelValues[];
}

/** The distinct values of one label. */
export interface LabelValues {
  readonly capped: boolean;
  readonly label: string;
  readonly total_distinct: number;
  readonly metrics: readonly {
    readonly capped: boolean;
    readonly distinct: number;
    readonly examples?: readonly string[];
    readonly metric: string;
    readonly exposition_name: string;
  }[];
}

/** What is configured; no secret's content. */
export interface ConfigSummary {
  readonly schema_version: number;
  readonly api_key_set: boolean;
  readonly backend_cloud_token_set: boolean;
  readonly oauth_secret_set: boolean;
  readonly profiler_auth_set: boolean;
  readonly stream_token_set: boolean;
  readonly webhook_secret_set: boolean;
  readonly auth_method: string;
  readonly checkpoint_path?: string;
  readonly checkpoint_reason?: string;
  readonly checkpoint_store: string;
  readonly log_level: string;
  readonly enabled_collectors: readonly string[];
  readonly otlp_header_keys?: readonly string[];
  readonly full: Readonly<Record<string, ConfigValue>>;
}

/** One key's value, or of a secret only whether and where it is set. */
export interface ConfigValue {
  readonly secret?: boolean;
  readonly set?: boolean;
  readonly source?: string;
  readonly value?: unknown;
}

/** The collectors together. */
interface Fleet {
  readonly active: number;
  readonly failing: number;
  readonly failing_series: readonly number[];
  readonly mean_duration_ms: number;
  readonly mean_duration_ms_series: readonly number[];
}

/** What was handed to the exporter. */
interface Throughput {
  readonly log_records: number;
  readonly log_records_per_sec: number;
  readonly log_records_per_sec_series: readonly number[];
  readonly metric_points: number;
  readonly metric_points_per_sec: number;
  readonly metric_points_per_sec_series: readonly number[];
}

/** The runtime. */
interface Runtime {
  readonly gc_rate_series?: readonly number[];
  readonly max_procs: number;
  readonly workers: number;
  readonly workers_series?: readonly number[];
  readonly heap_alloc: string;
  readonly heap_alloc_bytes: number;
  readonly heap_alloc_series?: readonly number[];
  readonly num_gc: number;
}

/** A metric of the catalogue. */
export interface Metric {
  readonly attributes: readonly string[];
  readonly description: string;
  readonly group: string;
  readonly instrument: string;
  readonly name: string;
  readonly exposition_name: string;
  readonly unit: string;
  readonly series?: number;
}

/** A log record of the catalogue. */
export interface LogEvent {
  readonly attributes: readonly string[];
  readonly description: string;
  readonly group: string;
  readonly name: string;
  readonly severity: string;
}

/** A listener's certificate. */
interface TlsCertificate {
  readonly fingerprint: string;
  readonly last_reload_at?: string;
  readonly last_reload_failure_at?: string;
  readonly last_reload_failure_reason?: string;
  readonly name: string;
  readonly not_after?: string;
  readonly not_before?: string;
}

/** Whether a newer release is there. */
interface Update {
  readonly current_version?: string;
  readonly enabled: boolean;
  readonly last_checked_at?: string;
  readonly last_error_class?: string;
  readonly latest_version?: string;
  readonly minors_behind?: number;
  readonly release_url: string;
  readonly state: "disabled" | "checking" | "error" | "unknown" | "current" | "available";
}
