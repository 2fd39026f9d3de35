/** The part of the status that describes export and what is held in memory or on disk. */

/** One signal's export. */
export interface Delivery {
  readonly signal: string;
  readonly exports: number;
  readonly failures: number;
  readonly consecutive_failures: number;
  readonly last_duration_ms: number;
  readonly failing: boolean;
  readonly last_error_class?: string;
  readonly last_failure_at?: string;
  readonly last_success_at?: string;
}

/** Records seen before. */
export interface DedupSet {
  readonly capacity: number;
  readonly len: number;
  readonly name: string;
}

/** Events for the explorer. */
export interface EventStore {
  readonly capacity: number;
  readonly enabled: boolean;
  readonly evicted: number;
  readonly recorded: number;
  readonly retained: number;
}

/** Flows for the explorer. */
export interface FlowStore {
  readonly enabled: boolean;
  readonly buckets: number;
  readonly capacity: number;
  readonly estimated_bytes: number;
  readonly max_recent: number;
  readonly observations: number;
  readonly truncated: number;
  readonly capacity_profile: string;
  readonly covered?: string;
  readonly retention: string;
  readonly backend?: {
    readonly errors?: readonly string[];
    readonly healthy: boolean;
    readonly kind: string;
    readonly persistent: boolean;
    readonly queue_drops?: number;
    readonly queued?: number;
    readonly rows?: number;
    readonly size_bytes?: number;
  };
}

/** Countries and networks of addresses. */
export interface Geoip {
  readonly enabled: boolean;
  readonly download_enabled: boolean;
  readonly geo_dims: boolean;
  readonly asn_age?: string;
  readonly asn_build_time?: string;
  readonly asn_path?: string;
  readonly asn_type?: string;
  readonly country_age?: string;
  readonly country_build_time?: string;
  readonly country_path?: string;
  readonly country_type?: string;
  readonly asn_hits: number;
  readonly asn_misses: number;
  readonly country_hits: number;
  readonly country_misses: number;
  readonly reload_failures: number;
  readonly reloads: number;
  readonly skipped: number;
}

/** Names of addresses. */
export interface ReverseDns {
  readonly enabled: boolean;
  readonly capacity: number;
  readonly evicted_expired: number;
  readonly evicted_purged: number;
  readonly hits: number;
  readonly misses: number;
  readonly negatives: number;
  readonly overflows: number;
  readonly query_fail: number;
  readonly query_success: number;
  readonly size: number;
  readonly hit_rate_pct: number;
  readonly last_purge?: string;
  readonly negative_ttl?: string;
  readonly ttl?: string;
}

/** The pull endpoint. */
export interface MetricsServing {
  readonly enabled: boolean;
  readonly auth_rejected: number;
  readonly gather_errors: number;
  readonly in_flight: number;
  readonly last_scrape_duration_ms: number;
  readonly scrapes_failed: number;
  readonly scrapes_shed: number;
  readonly scrapes_total: number;
  readonly last_gather_error?: string;
  readonly last_gather_error_at?: string;
  readonly last_scrape_at?: string;
  readonly config?: {
    readonly allow_unauthenticated: boolean;
    readonly auth_token_set: boolean;
    readonly client_auth_mode?: string;
    readonly client_ca_configured: boolean;
    readonly coalesce_gather: boolean;
    readonly listen: string;
    readonly max_requests_in_flight: number;
    readonly timeout_ms: number;
    readonly tls_enabled: boolean;
  };
}

/** Profiles. */
export interface Profiling {
  readonly profile_endpoint_enabled: boolean;
  readonly profiler_enabled: boolean;
  readonly profiler_header_names?: readonly string[];
  readonly profiler_server?: string;
  readonly profiler_tls_client_cert: boolean;
  readonly profiler_tls_custom_ca: boolean;
  readonly profiler_tls_insecure_skip_verify: boolean;
  readonly profiler_upload?: {
    readonly attempts: number;
    readonly consecutive_failures: number;
    readonly failures: number;
    readonly healthy: boolean;
    readonly last_duration_seconds: number;
    readonly last_error_class?: string;
    readonly last_failure_at?: string;
    readonly last_success_at?: string;
  } | null;
}
