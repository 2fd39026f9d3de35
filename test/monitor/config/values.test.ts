import { describe, expect, it } from "vitest";
import { devicesSection } from "../../../src/monitor/collectors/devices/section.ts";
import { nodeMetricsKeys } from "../../../src/monitor/collectors/nodemetrics/section.ts";
import { vpnAuthKeys } from "../../../src/monitor/config/auth-fields.ts";
import { provider, vpn, vpnHttp } from "../../../src/monitor/config/provider-keys.ts";
import { load, sound } from "./load.ts";

describe("a value that is wrong", () => {
  it.each([
    ["provider: vpn", 'provider: must be one of tailscale, headscale, got "vpn"'],
    ["vpn: {network: '  '}", "vpn.network: must not be empty"],
    ["vpn: {url: 'https://ada:canary@host'}", "vpn.url: must not contain credentials"],
    ["vpn: {url: 'host:1'}", "vpn.url: must be an http or https address"],
    ["vpn: {url: 'https://host/?token=canary'}", "vpn.url: must end with host or path"],
    ["vpn: {http: {timeout: 0}}", "vpn.http.timeout: must be more than 0"],
    ["vpn: {http: {timeout: 600h}}", "vpn.http.timeout: must be at most 576h"],
    ["vpn: {http: {rate_limit: -1}}", "vpn.http.rate_limit: must be a number from 0"],
    [
      "vpn: {http: {retry: {max_attempts: 0}}}",
      "vpn.http.retry.max_attempts: must be a whole number from 1",
    ],
    ["vpn: {max_response_bytes: 0}", "vpn.max_response_bytes: must be a size from 1"],
    [
      "vpn: {auth: {method: password}}",
      "vpn.auth.method: must be one of oauth, apikey, workload_identity",
    ],
    ["vpn: {auth: {oauth: {scopes: []}}}", "vpn.auth.oauth.scopes: must name at least one scope"],
    ["headscale: {url: 'ftp://host'}", "headscale.url: must be an http or https address"],
    [
      "collectors: {devices: {enabled: maybe}}",
      "collectors.devices.enabled: must be true or false",
    ],
    ["collectors: {devices: {interval: fast}}", "collectors.devices.interval: must be a duration"],
    [
      "collectors: {devices: {posture_log_mode: none}}",
      "collectors.devices.posture_log_mode: must be one of changes, always, off",
    ],
    [
      "collectors: {flowlogs: {source: stream}}",
      "collectors.flowlogs.source: is stream, and streaming.enabled is false",
    ],
    [
      "collectors: {auditlogs: {source: both}}",
      "collectors.auditlogs.source: is both, and streaming.enabled is false",
    ],
    [
      "collectors: {auditlogs: {source: tap}}",
      "collectors.auditlogs.source: must be one of poll, stream, both, objectstore",
    ],
    [
      "collectors: {flowlogs: {initial_lookback: 0}}",
      "collectors.flowlogs.initial_lookback: must be more than 0",
    ],
    [
      "collectors: {flowlogs: {replay_overlap: 61m}}",
      "collectors.flowlogs.replay_overlap: must be at most 1h",
    ],
    [
      "collectors: {flowlogs: {replay_seen_capacity: 1048577}}",
      "collectors.flowlogs.replay_seen_capacity: must be a whole number from 1 to 1048576",
    ],
    [
      "collectors: {k8s_audit: {objectstore: {layout: flat}}}",
      "collectors.k8s_audit.objectstore.layout: must be one of recorder",
    ],
    [
      "collectors: {node_metrics: {metric_allow: ['(']}}",
      'collectors.node_metrics.metric_allow: must be regular expressions, got "("',
    ],
    [
      "collectors: {node_metrics: {max_distinct_metrics: 0}}",
      "collectors.node_metrics.max_distinct_metrics: must not be 0",
    ],
    [
      "collectors: {node_metrics: {discovery: {port: 65536}}}",
      "collectors.node_metrics.discovery.port: must be a whole number from 1 to 65535",
    ],
    [
      "collectors: {node_metrics: {discovery: {path: metrics}}}",
      "collectors.node_metrics.discovery.path: must begin with /",
    ],
    [
      "cardinality: {warning_threshold: -1}",
      "cardinality.warning_threshold: must be a whole number from 0",
    ],
    [
      "cardinality: {flow: {geo_dims: true}}",
      "cardinality.flow.geo_dims: needs enrichment.geoip.enabled",
    ],
    [
      "cardinality: {flow: {metrics_mode: none}}",
      "cardinality.flow.metrics_mode: must be one of all, rollup, both",
    ],
    ["pii_filter: {emails: some}", "pii_filter.emails: must be true or false"],
    [
      "pii_filter: {email: false}",
      "pii_filter.email: is not a known key (line 1) — did you mean pii_filter.emails?",
    ],
    [
      "checkpoint: {file_path: /var/lib/steward/checkpoints.json}",
      "checkpoint.file_path: must name a file of lower-case letters, digits and dashes that ends in .mdb",
    ],
    ["checkpoint: {file_path: State.mdb}", "checkpoint.file_path: must name a file"],
    ["checkpoint: {store: disk}", "checkpoint.store: must be one of file, memory"],
    ["version_checks: {cache_ttl: 1m}", "version_checks.cache_ttl: must be at least 5m"],
    [
      "version_checks: {devices: {outdated_minor_threshold: 0}}",
      "version_checks.devices.outdated_minor_threshold: must be a whole number from 1",
    ],
    [
      "enrichment: {reverse_dns: {server: dns.example.org}}",
      "enrichment.reverse_dns.server: must be an IP address, with or without a port",
    ],
    [
      "enrichment: {reverse_dns: {max_entries: 0}}",
      "enrichment.reverse_dns.max_entries: must be a whole number from 1 to 1000000",
    ],
    [
      "enrichment: {reverse_dns: {cache_ttl: 0s}}",
      "enrichment.reverse_dns.cache_ttl: must be more than 0",
    ],
    ["coordination: {mode: lease}", "coordination.mode: must be one of none, etcd, kubernetes"],
    [
      "coordination: {mode: etcd}",
      "coordination.endpoints: is needed by coordination.mode: etcd — set it, e.g. to https://etcd-1.example.org:2379",
    ],
    [
      "coordination: {mode: etcd, endpoints: ['etcd-1:2379']}",
      "coordination.endpoints: has an entry that must be an http or https address",
    ],
    [
      "coordination: {mode: etcd, endpoints: ['https://etcd-1:2379/v3']}",
      "coordination.endpoints: has an entry with more than scheme, host and port",
    ],
    [
      "coordination: {mode: etcd, endpoints: ['https://a:1', 'http://127.0.0.1:1']}",
      "coordination.endpoints: must not mix http and https",
    ],
    [
      "coordination: {mode: kubernetes}",
      "coordination.endpoints: is needed by coordination.mode: kubernetes outside of a pod",
    ],
    [
      "coordination: {mode: kubernetes, endpoints: ['https://k:1']}",
      "coordination.namespace: is needed by coordination.mode: kubernetes outside of a pod",
    ],
    [
      "coordination: {mode: kubernetes, endpoints: ['https://k:1'], namespace: a}",
      "coordination.token_file: is needed by coordination.mode: kubernetes outside of a pod — set it, or coordination.tls.cert_file",
    ],
    [
      "coordination: {mode: kubernetes, endpoints: ['https://k:1', 'https://k:2']}",
      "coordination.endpoints: must have one entry with coordination.mode: kubernetes",
    ],
    [
      "coordination: {lease_ttl: 2s}",
      "coordination.lease_ttl: must be whole seconds from 3s to 10m",
    ],
    [
      "coordination: {lease_ttl: 3500ms}",
      "coordination.lease_ttl: must be whole seconds from 3s to 10m",
    ],
    [
      "coordination: {lease_name: Upper}",
      "coordination.lease_name: must be a name of up to 63 letters a-z, digits and -",
    ],
    [
      "coordination: {mode: etcd, endpoints: ['https://e:1'], tls: {ca_file: /none.pem}}",
      "coordination.tls.ca_file: /none.pem cannot be read",
    ],
    [
      "enrichment: {geoip: {enabled: true}}",
      "enrichment.geoip.enabled: needs a database (line 1) — set enrichment.geoip.country_database or enrichment.geoip.download.enabled",
    ],
    [
      "enrichment: {geoip: {enabled: true, download: {enabled: true, account_id: '1'}}}",
      "enrichment.geoip.download.license_key: is needed by enrichment.geoip.download.enabled",
    ],
    [
      "enrichment: {geoip: {enabled: true, download: {enabled: true, license_key: canary}}}",
      "enrichment.geoip.download.account_id: is needed by enrichment.geoip.download.enabled",
    ],
    [
      "enrichment: {geoip: {enabled: true, download: {enabled: true, account_id: '1', license_key: canary, editions: []}}}",
      "enrichment.geoip.download.editions: is needed by enrichment.geoip.download.enabled",
    ],
    [
      "enrichment: {geoip: {download: {editions: [../GeoLite2]}}}",
      "enrichment.geoip.download.editions: must have names of letters, digits, - and _",
    ],
    [
      "enrichment: {geoip: {download: {endpoint: 'ftp://example.org'}}}",
      "enrichment.geoip.download.endpoint: must be an http or https address",
    ],
    [
      "enrichment: {geoip: {reload_interval: 0s}}",
      "enrichment.geoip.reload_interval: must be more than 0",
    ],
    ["annotations: {url: here}", "annotations.url: must be an http or https address"],
    ["annotations: {queue_size: 0}", "annotations.queue_size: must be a whole number from 1"],
    ["streaming: {enabled: perhaps}", "streaming.enabled: must be true or false"],
    ["streamin: {enabled: true}", "streamin: is not a known key"],
  ])("is named with key and rule: %s", (yaml, expected) => {
    const { config, problems } = load(yaml);
    expect(config).toBeUndefined();
    expect(problems[0]).toContain(`ERROR ${expected}`);
    expect(problems.join()).not.toContain("canary");
  });
});

describe("a variable", () => {
  it("says what the file would", () => {
    const config = sound("", {
      STEWARD_PROVIDER: "tailscale",
      STEWARD_VPN__NETWORK: "example.org",
      STEWARD_VPN__HTTP__RETRY__MAX_ATTEMPTS: "2",
      STEWARD_VPN__MAX_RESPONSE_BYTES: "8MiB",
      STEWARD_COLLECTORS__DEVICES__ATTRIBUTE_NAMESPACES: "ip, custom",
      STEWARD_COLLECTORS__NODE_METRICS__MAX_DISTINCT_METRICS: "-1",
    });
    expect([
      config.get(provider),
      config.get(vpn.network),
      config.get(vpnHttp.retry.maxAttempts),
      config.get(vpn.maxResponseBytes),
    ]).toEqual(["tailscale", "example.org", 2, 8_388_608]);
    expect([
      config.get(devicesSection.keys.attributeNamespaces),
      config.get(nodeMetricsKeys.maxDistinctMetrics),
    ]).toEqual([["ip", "custom"], -1]);
  });

  it.each(["STEWARD_NETWORKS__0__NAME", "STEWARD_COLLECTORS__NODE_METRICS__TARGETS__0__URL"])(
    "that reaches into a list of objects is refused: %s",
    (variable) => {
      expect(load("", { [variable]: "x" }).problems[0]).toMatch(
        new RegExp(`^ERROR ${variable}: sets .*, a list of objects`),
      );
    },
  );

  it("that nobody knows is a warning with the nearest name", () => {
    expect(load("", { STEWARD_VPN__NETWROK: "x" }).problems).toEqual([
      "WARNING STEWARD_VPN__NETWROK: is not a known variable and is ignored — did you mean STEWARD_VPN__NETWORK?",
    ]);
  });
});

describe("a secret", () => {
  it("may lie in a file, named by either layer", () => {
    const files = { "/etc/steward/key": " canary\n", "/run/key": "canary" };
    for (const config of [
      sound("vpn: {auth: {oauth: {client_id: x, client_secret_file: key}}}", {}, files),
      sound(
        "vpn: {auth: {oauth: {client_id: x}}}",
        { STEWARD_VPN__AUTH__OAUTH__CLIENT_SECRET_FILE: "/run/key" },
        files,
      ),
    ]) {
      expect(config.get(vpnAuthKeys.oauth.clientSecret)?.use((value) => value)).toBe("canary");
    }
  });

  it.each([
    ["vpn.auth.apikey", "vpn: {auth: {apikey: canary, apikey_file: /k}}"],
    ["headscale.api_key", "headscale: {api_key: canary, api_key_file: /k}"],
    ["annotations.token", "annotations: {token: canary, token_file: /k}"],
    [
      "collectors.flowlogs.objectstore.secret_access_key",
      "collectors: {flowlogs: {objectstore: {secret_access_key: canary, secret_access_key_file: /k}}}",
    ],
  ])("%s is not given in both forms", (key, yaml) => {
    const { problems } = load(yaml, {}, { "/k": "canary" });
    expect(problems).toContainEqual(
      `ERROR ${key}: is given twice, as value and as file (line 1) — remove one of them.`,
    );
    expect(problems.join()).not.toContain("canary");
  });

  it("that cannot be read is an error", () => {
    expect(load("vpn: {auth: {apikey_file: /gone}}").problems[0]).toMatch(
      /^ERROR vpn\.auth\.apikey: cannot be read from its file/,
    );
  });
});

describe("a value that is worth a warning", () => {
  it.each([
    [
      "coordination: {mode: etcd, endpoints: ['http://etcd-1:2379']}",
      "coordination.endpoints: has an address without encryption",
    ],
    [
      "coordination: {mode: etcd, endpoints: ['https://e:1'], token_file: /etc/steward/token}",
      "coordination.token_file: is ignored with coordination.mode: etcd",
    ],
    [
      "coordination: {lease_ttl: 30s}",
      "coordination.lease_ttl: is ignored: coordination.mode is none",
    ],
    ["vpn: {max_log_response_bytes: 65MiB}", "vpn.max_log_response_bytes: is more than 64MiB"],
    ["vpn: {url: 'http://control.example.org'}", "vpn.url: is plain HTTP"],
    [
      "annotations: {state_file: /var/lib/a.json, url: 'https://dash', token: x}",
      "annotations.state_file: is ignored",
    ],
    ["annotations: {url: 'http://dash.example.org', token: x}", "annotations.url: is plain HTTP"],
    [
      "enrichment: {reverse_dns: {enabled: true}}",
      "enrichment.reverse_dns.enabled: adds a node to the flow metrics for each name",
    ],
    [
      "enrichment: {reverse_dns: {enabled: true, acknowledge_cardinality: true}}\npii_filter: {external_ips: false}",
      "enrichment.reverse_dns.enabled: exports names that may contain the addresses",
    ],
    [
      "enrichment: {geoip: {download: {enabled: true}}}",
      "enrichment.geoip.download.enabled: is ignored: enrichment.geoip.enabled is false",
    ],
    [
      "enrichment: {geoip: {enabled: true, asn_database: /var/lib/geo/asn.mmdb}}\ncardinality: {flow: {geo_dims: true}}",
      "cardinality.flow.geo_dims: adds series to the flow metrics for each pair of countries",
    ],
    [
      "enrichment: {geoip: {download: {endpoint: 'http://mirror.example.org'}}}",
      "enrichment.geoip.download.endpoint: sends the license key without encryption",
    ],
  ])("%s", (yaml, expected) => {
    const { config, problems } = load(yaml);
    expect(config).toBeDefined();
    expect(problems).toEqual([expect.stringContaining(`WARNING ${expected}`)]);
  });

  it("is not one on this machine", () => {
    for (const host of ["localhost:1", "127.0.0.1:1", "[::1]:1"])
      expect(load(`vpn: {url: 'http://${host}'}`).problems).toEqual([]);
  });
});
