/**
 * The documents of the admin API as the contract's tables list them, written down by hand: what
 * follows a field's type is when it is left out. `?` when empty, zero, false or never, `null` is
 * `null` when there is none, `unless-available` only in a document that is not available;
 * everything else is always there.
 */

/** When a field is not there. */
type Omission = "never" | "empty" | "null" | "unless-available";

/** A field as the contract has it. */
export interface ContractRow {
  readonly path: string;
  /** `string`, `integer`, `number`, `boolean`, `any`; `list` and `object` for what holds others. */
  readonly type: string;
  readonly omission: Omission;
}

const marks: Readonly<Record<string, Omission>> = {
  "?": "empty",
  null: "null",
  "unless-available": "unless-available",
};

function table(prefix: string, text: string): ContractRow[] {
  return text
    .trim()
    .split("\n")
    .flatMap((line) => {
      const [names = "", type = "", mark] = line.trim().split(/ +/);
      return names.split(",").map((name) => ({
        path: `${prefix}${name}`,
        type,
        omission: mark === undefined ? "never" : (marks[mark] ?? "never"),
      }));
    });
}

/** Rows below another path; of a list below its items. */
function under(path: string, rows: readonly ContractRow[]): ContractRow[] {
  return rows.map((row) => ({ ...row, path: `${path}.${row.path}` }));
}

export const cardinality: readonly ContractRow[] = [
  ...table(
    "",
    `
schema_version integer
available boolean
total,total_metrics integer
total_series list ?
total_series[] integer
thresholds object
alerts,growth list ?
series,labels list unless-available`,
  ),
  ...table("thresholds.", "critical,warning integer"),
  ...table("alerts[].", "count integer\nlevel string\nmetric string"),
  ...table(
    "growth[].",
    "current integer\ndelta_pct number\nmetric,exposition_name string\nseries list\nseries[] integer",
  ),
  ...table(
    "series[].",
    "capped boolean\ncount integer\nlevel string ?\nmetric,exposition_name string",
  ),
  ...table("labels[].", "capped boolean\nlabel string\ntotal_distinct integer\nmetrics list"),
  ...table(
    "labels[].metrics[].",
    "capped boolean\ndistinct integer\nexamples list ?\nexamples[] string\nmetric,exposition_name string",
  ),
];

export const configSummary: readonly ContractRow[] = table(
  "",
  `
schema_version integer
api_key_set,backend_cloud_token_set,oauth_secret_set,profiler_auth_set,stream_token_set,webhook_secret_set boolean
auth_method string
checkpoint_path,checkpoint_reason string ?
checkpoint_store,log_level string
enabled_collectors list
enabled_collectors[] string
otlp_header_keys list ?
otlp_header_keys[] string
full object
full{}.secret,full{}.set boolean ?
full{}.source string ?
full{}.value any ?`,
);

const api: readonly ContractRow[] = table(
  "",
  `
auth object
auth.key_expires_at string ?
auth.method string
auth.total_429,auth.total_calls integer
auth.warning string ?
endpoints list
endpoints[].endpoint string
endpoints[].requests,endpoints[].errors,endpoints[].retries,endpoints[].rate_limited,endpoints[].last_status integer
endpoints[].last_at,endpoints[].last_429_at,endpoints[].last_error string ?
endpoints[].duration_ms_series list ?
endpoints[].duration_ms_series[] integer
rate_limit object null
rate_limit.count integer
rate_limit.last_seen string`,
);

const capability: readonly ContractRow[] = table(
  "",
  `
actionable,active,config_enabled,provider_supported boolean
capability,collector,scope_status,state string
last_probe,reason,source,subrequest string ?
missing_scopes,required_scopes,operations list ?
missing_scopes[],required_scopes[] string
operations[].last_probe string ?
operations[].operation,operations[].state string`,
);

const collector: readonly ContractRow[] = table(
  "",
  `
name,freshness_state string
description,network,freshness,last_error,last_finished_at,last_started_at,last_success_at,next_run_in string ?
checkpoint object null
checkpoint.high_water_mark,checkpoint.lag string
checkpoint.lag_seconds integer
checkpoint.stuck boolean
consecutive_failures,failures,runs,freshness_seconds,interval_seconds,last_duration_ms,next_run_in_seconds integer
duration_ms_series,outcome_series,metrics list ?
duration_ms_series[] integer
outcome_series[] boolean
has_run,last_success boolean
overdue boolean ?
metrics[].name,metrics[].description string
success_rate_pct number`,
);

const deviceCache: readonly ContractRow[] = table("", "age string\nage_seconds,devices integer");

/**
 * The collection part, with Steward's additions: who is connected, what expires, which version and routes.
 */
const device: readonly ContractRow[] = table(
  "",
  `
addrs list
addrs[] string
external,online boolean
hostname,name,os,os_version,user string
tags,advertised_routes,enabled_routes list ?
tags[],advertised_routes[],enabled_routes[] string
last_seen,key_expires_at,client_version string ?
key_expiry_disabled,update_available boolean ?`,
);

/** The status document. */
export const status: readonly ContractRow[] = [
  ...table(
    "",
    `
schema_version integer
generated_at,provider,health string
refresh_ms integer ?
health_reasons,capabilities list ?
health_reasons[],capabilities[] string
advisories,capability_matrix,collectors,components,dedup_sets,delivery,devices,log_events,metrics,networks list
tls_certificates list ?
api,cardinality,config,device_cache,event_store,fleet,flow_store,geoip,metrics_serving,node_discovery,profiling,receivers,reverse_dns,runtime,service,telemetry,throughput,update object`,
  ),
  ...table("advisories[].", "key string ?\nmessage string"),
  ...under("api", api),
  ...under("capability_matrix[]", capability),
  ...under("cardinality", cardinality),
  ...under("collectors[]", collector),
  ...table("components[].", "enabled,failed boolean\nname string\nreason string ?"),
  ...under("config", configSummary),
  ...table("dedup_sets[].", "capacity,len integer\nname string"),
  ...table(
    "delivery[].",
    "signal string\nexports,failures,consecutive_failures,last_duration_ms integer\nfailing boolean\nlast_error_class,last_failure_at,last_success_at string ?",
  ),
  ...under("device_cache", deviceCache),
  ...under("devices[]", device),
  ...table("event_store.", "capacity,evicted,recorded,retained integer\nenabled boolean"),
  ...table(
    "fleet.",
    "active,failing integer\nfailing_series,mean_duration_ms_series list\nfailing_series[] integer\nmean_duration_ms,mean_duration_ms_series[] number",
  ),
  ...table(
    "flow_store.",
    `
enabled boolean
buckets,capacity,estimated_bytes,max_recent,observations,truncated integer
capacity_profile,retention string
covered string ?
backend object
backend.errors list ?
backend.errors[] string
backend.healthy,backend.persistent boolean
backend.kind string
backend.queue_drops,backend.queued,backend.rows,backend.size_bytes integer ?`,
  ),
  ...table(
    "geoip.",
    `
enabled,download_enabled,geo_dims boolean
asn_age,asn_build_time,asn_path,asn_type,country_age,country_build_time,country_path,country_type string ?
asn_hits,asn_misses,country_hits,country_misses,reload_failures,reloads,skipped integer`,
  ),
  ...table(
    "log_events[].",
    "attributes list\nattributes[] string\ndescription,group,name,severity string",
  ),
  ...table(
    "metrics[].",
    "attributes list\nattributes[] string\ndescription,group,instrument,name,exposition_name,unit string\nseries integer ?",
  ),
  ...table(
    "metrics_serving.",
    `
enabled boolean
auth_rejected,gather_errors,in_flight,last_scrape_duration_ms,scrapes_failed,scrapes_shed,scrapes_total integer
last_gather_error,last_gather_error_at,last_scrape_at string ?
config object
config.allow_unauthenticated,config.auth_token_set,config.client_ca_configured,config.coalesce_gather,config.tls_enabled boolean
config.client_auth_mode string ?
config.listen string
config.max_requests_in_flight,config.timeout_ms integer`,
  ),
  ...table(
    "node_discovery.",
    "active,static integer\nenabled,last_ok boolean\nlast_discovery string ?\ntargets list\ntargets[].instance,targets[].source,targets[].url string",
  ),
  ...table(
    "profiling.",
    `
profile_endpoint_enabled,profiler_enabled,profiler_tls_client_cert,profiler_tls_custom_ca,profiler_tls_insecure_skip_verify boolean
profiler_header_names list
profiler_header_names[] string
profiler_server string ?
profiler_upload object null
profiler_upload.attempts,profiler_upload.consecutive_failures,profiler_upload.failures integer
profiler_upload.healthy boolean
profiler_upload.last_duration_seconds number
profiler_upload.last_error_class string
profiler_upload.last_failure_at,profiler_upload.last_success_at string ?`,
  ),
  ...table("receivers.", "streaming_enabled,webhook_enabled boolean"),
  ...table(
    "reverse_dns.",
    `
enabled boolean
capacity,evicted_expired,evicted_purged,hits,misses,negatives,overflows,query_fail,query_success,size integer
hit_rate_pct number
last_purge string ?
negative_ttl,ttl string`,
  ),
  ...table(
    "runtime.",
    "gc_rate_series,workers_series,heap_alloc_series list ?\ngc_rate_series[] number\nmax_procs,workers,workers_series[],heap_alloc_bytes,heap_alloc_series[],num_gc integer\nheap_alloc string",
  ),
  ...table(
    "service.",
    "runtime_version,name,started_at,network,uptime,version string\nself_observability boolean\nuptime_seconds integer",
  ),
  ...table(
    "networks[].",
    "name,auth_method string\nfailing integer\napi,cardinality,device_cache object\ncollectors,devices list",
  ),
  ...under("networks[].api", api),
  ...under("networks[].cardinality", cardinality),
  ...under("networks[].collectors[]", collector),
  ...under("networks[].device_cache", deviceCache),
  ...under("networks[].devices[]", device),
  ...table(
    "telemetry.",
    "endpoint,protocol string\ninsecure boolean\nmetric_export_batch_size,metric_interval_seconds integer",
  ),
  ...table(
    "throughput.",
    `
log_records,metric_points integer
log_records_per_sec,metric_points_per_sec number
log_records_per_sec_series,metric_points_per_sec_series list
log_records_per_sec_series[],metric_points_per_sec_series[] number`,
  ),
  ...table(
    "tls_certificates[].",
    "fingerprint,last_reload_failure_reason,name,not_after,not_before string\nlast_reload_at,last_reload_failure_at string ?",
  ),
  ...table(
    "update.",
    "current_version,last_checked_at,last_error_class,latest_version string ?\nenabled boolean\nminors_behind integer ?\nrelease_url,state string",
  ),
];

/** What Steward adds to the contract's status. */
export const additions: readonly ContractRow[] = table(
  "",
  "services object\nservices{} string\nservice.demo boolean ?\nhealth_problems list ?\nhealth_problems[].part,health_problems[].reason string\nhealth_problems[].remedy,health_problems[].link string ?",
);
