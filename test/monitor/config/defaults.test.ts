import { describe, expect, it } from "vitest";
import type { Shown } from "../../../src/kernel/config/values/types.ts";
import { load, sound } from "./load.ts";

const store = {
  endpoint: "",
  region: "",
  bucket: "",
  prefix: "",
  path_style: false,
  allow_insecure_http: false,
  access_key_id: undefined,
  secret_access_key: undefined,
  session_token: undefined,
  interval: "1m0s",
  lookback: "1h0m0s",
  initial_lookback: "6h0m0s",
  max_objects: 200,
  max_object_wire_bytes: 67_108_864,
  max_object_decompressed_bytes: 33_554_432,
  max_object_records: 100_000,
  max_cycle_wire_bytes: 536_870_912,
  max_cycle_decompressed_bytes: 268_435_456,
  max_cycle_records: 500_000,
};
const http = {
  timeout: "30s",
  rate_limit: 0,
  "retry.max_attempts": 4,
  "retry.base_delay": "500ms",
  "retry.max_delay": "10s",
};
const every = (interval: string): Record<string, Shown> => ({ enabled: true, interval });

/** The table of the facts, section by section, as the effective configuration shows it. */
const table: Record<string, Record<string, Shown | undefined>> = {
  "": { provider: "tailscale", networks: [] },
  "services.": { monitor: true },
  "vpn.": {
    url: "https://api.tailscale.com",
    network: "-",
    max_response_bytes: 4_194_304,
    max_log_response_bytes: 33_554_432,
  },
  "vpn.auth.": {
    method: "oauth",
    apikey: undefined,
    "oauth.client_id": "",
    "oauth.client_secret": undefined,
    "oauth.scopes": ["all:read"],
    "workload_identity.client_id": "",
    "workload_identity.id_token_file": "",
  },
  "vpn.http.": http,
  "headscale.": { url: "", api_key: undefined, max_response_bytes: 4_194_304 },
  "headscale.http.": http,
  "collectors.devices.": {
    ...every("1m0s"),
    collect_routes: false,
    collect_connectivity: true,
    collect_posture: false,
    collect_device_invites: true,
    posture_log_mode: "changes",
    attribute_namespaces: [
      "intune",
      "jamf",
      "kandji",
      "crowdstrike",
      "sentinelone",
      "kolide",
      "ip",
    ],
    collect_tag_rollup: true,
    tag_rollup_limit: 50,
  },
  "collectors.users.": every("5m0s"),
  "collectors.oauth_apps.": every("5m0s"),
  "collectors.keys.": { ...every("5m0s"), expiry_warn: "168h0m0s" },
  "collectors.settings.": every("10m0s"),
  "collectors.dns.": every("10m0s"),
  "collectors.contacts.": every("10m0s"),
  "collectors.posture_integrations.": every("10m0s"),
  "collectors.log_stream.": every("10m0s"),
  "collectors.acl.": { ...every("10m0s"), validate: true },
  "collectors.webhooks.": { ...every("10m0s"), desired_events: [] },
  "collectors.services.": { ...every("10m0s"), collect_hosts: false },
  "collectors.flowlogs.": {
    ...every("1m0s"),
    source: "poll",
    lag: "2m0s",
    initial_lookback: "5m0s",
    max_window: "1h0m0s",
    replay_overlap: "5m0s",
    replay_seen_capacity: 131_072,
    log_mode: "per_connection",
    max_log_records_per_window: 0,
    trusted_reporter_node_ids: [],
    trusted_reporter_tags: [],
  },
  "collectors.auditlogs.": {
    ...every("1m0s"),
    source: "poll",
    lag: "1m0s",
    initial_lookback: "5m0s",
    max_window: "6h0m0s",
  },
  "collectors.k8s_audit.": { enabled: false },
  "collectors.flowlogs.objectstore.": { ...store, layout: "partitioned" },
  "collectors.auditlogs.objectstore.": { ...store, layout: "partitioned" },
  "collectors.k8s_audit.objectstore.": { ...store, layout: "recorder" },
  "collectors.node_metrics.": {
    enabled: false,
    interval: "1m0s",
    timeout: "10s",
    max_response_bytes: 4_194_304,
    max_samples: 50_000,
    max_distinct_metrics: 2_000,
    metric_allow: [],
    metric_deny: [],
    drop_labels: [],
    targets: [],
  },
  "collectors.node_metrics.discovery.": {
    enabled: false,
    interval: "5m0s",
    max_targets: 1_000,
    scheme: "http",
    port: 5_252,
    path: "/metrics",
    online_only: true,
    exclude_external: true,
    include_host_labels: true,
    include_tags_label: true,
    address_order: "ipv4",
    instance_source: "name",
    include_tags: [],
    exclude_tags: [],
  },
  "cardinality.": {
    metric_limit: 10_000,
    warning_threshold: 2_000,
    critical_threshold: 8_000,
    label_value_sample_cap: 100,
    derp_region_rollup: true,
    subnet_route_rollup: true,
  },
  "cardinality.per_entity.": { device: true, user: true, key: true, webhook: true, service: true },
  "cardinality.flow.": {
    metrics_mode: "rollup",
    rollup_top_n: 500,
    source_port: false,
    destination_port: false,
    identity_dims: false,
    geo_dims: false,
    node_dims: true,
    collapse_external: true,
    exit_node_attribution: true,
  },
  "pii_filter.": {
    emails: true,
    user_display_names: true,
    user_ids: true,
    hostnames: true,
    node_ids: true,
    vpn_ips: true,
    internal_ips: true,
    external_ips: true,
    service_addrs: true,
    endpoint_paths: true,
    network_topology: true,
    network_name: true,
    free_text_details: true,
    command_text: true,
  },
  "annotations.": {
    url: "",
    token: undefined,
    dashboard_uid: "",
    timeout: "10s",
    max_per_minute: 60,
    queue_size: 512,
    rollup_interval: "5m0s",
    dedupe_retention: "48h0m0s",
    state_file: "",
    extra_tags: [],
    "categories.config_change.enabled": true,
    "categories.config_change.rollup": true,
    "categories.expiry.enabled": true,
    "categories.expiry.rollup": true,
  },
  "checkpoint.": { store: "file", file_path: "", evidence_store: "memory" },
  "version_checks.": {
    cache_ttl: "1h0m0s",
    timeout: "10s",
    "devices.enabled": true,
    "devices.url": "https://pkgs.tailscale.com/stable/?mode=redacted",
    "devices.outdated_minor_threshold": 3,
  },
  "self_observability.": { enabled: true, instance_id: "" },
  "resource.": {
    service_namespace: "",
    deployment_environment: "",
    attributes: undefined,
    from_env: false,
  },
  "scrape.": {
    enabled: false,
    listen: ":2112",
    "auth.token": undefined,
    "auth.allow_unauthenticated": false,
    max_requests_in_flight: 4,
    timeout: "8s",
    coalesce_gather: true,
    "tls.cert_file": "",
    "tls.key_file": "",
    "tls.client_ca_file": "",
    "tls.client_auth": undefined,
  },
  "otlp.": {
    protocol: "http",
    endpoint: "",
    metric_interval: "1m0s",
    metric_export_batch_size: 5_000,
    max_request_size: 0,
    grpc_reconnection_period: "0s",
    timeout: "0s",
    "stdout.metric_interval": "5s",
    "stdout.pretty": false,
    "credential_reload.enabled": false,
    "credential_reload.interval": "30s",
    "batch.logs.export_timeout": "0s",
    "batch.traces.export_timeout": "0s",
    "metrics.max_request_size": 0,
    "logs.grpc_reconnection_period": "0s",
  },
};

describe("an empty configuration", () => {
  it("is valid, and says nothing", () => {
    expect(load().problems).toEqual([]);
  });

  const rows = new Map(
    sound()
      .effective({ provenance: true })
      .map((row) => [row.key, row]),
  );

  it.each(Object.entries(table))("has the defaults of the facts: %s", (section, expected) => {
    const found = Object.fromEntries(
      Object.keys(expected).map((key) => [key, rows.get(`${section}${key}`)?.value]),
    );
    expect(found).toEqual(expected);
    for (const key of Object.keys(expected))
      expect(rows.get(`${section}${key}`)).toMatchObject({ provenance: "default" });
  });

  it("has no other keys in the monitor's sections", () => {
    const sections =
      /^(?:provider|networks|vpn|headscale|collectors|cardinality|pii_filter|annotations|checkpoint|version_checks|self_observability|resource|scrape)(?:\.|$)/;
    const listed = Object.entries(table).flatMap(([section, keys]) =>
      Object.keys(keys).map((key) => `${section}${key}`),
    );
    expect([...rows.keys()].filter((key) => sections.test(key) && !listed.includes(key))).toEqual(
      [],
    );
  });
});
