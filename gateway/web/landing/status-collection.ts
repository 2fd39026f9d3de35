/**
 * The part of the status that describes collecting: collectors, the control API, capabilities,
 * devices.
 */

/** A collector. */
export interface Collector {
  readonly name: string;
  readonly description?: string;
  readonly network?: string;
  readonly freshness?: string;
  readonly freshness_state: "ok" | "warning" | "stale" | "none";
  readonly last_error?: string;
  readonly last_finished_at?: string;
  readonly last_started_at?: string;
  readonly last_success_at?: string;
  readonly next_run_in?: string;
  readonly checkpoint?: {
    readonly high_water_mark?: string;
    readonly lag: string;
    readonly lag_seconds: number;
    readonly stuck: boolean;
  } | null;
  readonly consecutive_failures: number;
  readonly failures: number;
  readonly runs: number;
  readonly freshness_seconds: number;
  readonly interval_seconds: number;
  readonly last_duration_ms: number;
  readonly next_run_in_seconds: number;
  readonly duration_ms_series?: readonly number[];
  readonly outcome_series?: readonly boolean[];
  readonly has_run: boolean;
  readonly last_success: boolean;
  readonly overdue?: boolean;
  readonly metrics?: readonly { readonly name: string; readonly description: string }[];
  readonly success_rate_pct: number;
}

/** Calls to the control API. */
export interface ApiUsage {
  readonly auth: {
    readonly key_expires_at?: string;
    readonly method: string;
    readonly total_429: number;
    readonly total_calls: number;
    readonly warning?: string;
  };
  readonly endpoints: readonly ApiEndpoint[];
  readonly rate_limit?: { readonly count: number; readonly last_seen?: string } | null;
}

/** Calls to one path. */
export interface ApiEndpoint {
  readonly endpoint: string;
  readonly requests: number;
  readonly errors: number;
  readonly retries: number;
  readonly rate_limited: number;
  readonly last_status: number;
  readonly last_at?: string;
  readonly last_429_at?: string;
  readonly last_error?: string;
  readonly duration_ms_series?: readonly number[];
}

/** Outcome of the last call of an operation. */
export type OperationState =
  | "unknown"
  | "disabled"
  | "supported"
  | "transient_failure"
  | "request_rejected"
  | "scope_denied"
  | "credential_rejected";

/** A row of the matrix. */
export interface Capability {
  readonly actionable: boolean;
  readonly active: boolean;
  readonly config_enabled: boolean;
  readonly provider_supported: boolean;
  readonly capability: string;
  readonly collector: string;
  readonly last_probe?: string;
  readonly reason?: "provider_unsupported" | "config_disabled" | "not_registered";
  readonly scope_status: "unknown" | "not_applicable" | "satisfied" | "insufficient";
  readonly source?: string;
  readonly state: OperationState;
  readonly subrequest?: string;
  readonly missing_scopes?: readonly string[];
  readonly required_scopes?: readonly string[];
  readonly operations?: readonly {
    readonly last_probe?: string;
    readonly operation: string;
    readonly state: OperationState;
  }[];
}

/** The devices as they are remembered. */
export interface DeviceCache {
  readonly age: string;
  readonly age_seconds: number;
  readonly devices: number;
}

/** A device. */
export interface Device {
  readonly addrs: readonly string[];
  readonly external: boolean;
  readonly hostname: string;
  readonly name: string;
  readonly os: string;
  readonly os_version: string;
  readonly user: string;
  readonly tags?: readonly string[];
  readonly online: boolean;
  readonly last_seen?: string;
  readonly key_expires_at?: string;
  readonly key_expiry_disabled?: boolean;
  readonly client_version?: string;
  readonly update_available?: boolean;
  readonly advertised_routes?: readonly string[];
  readonly enabled_routes?: readonly string[];
}

/** Where node metrics are read. */
export interface NodeDiscovery {
  readonly active: number;
  readonly enabled: boolean;
  readonly last_discovery?: string;
  readonly last_ok: boolean;
  readonly static: number;
  readonly targets: readonly {
    readonly instance: string;
    readonly source: string;
    readonly url: string;
  }[];
}
