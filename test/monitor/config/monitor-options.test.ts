import { describe, expect, it } from "vitest";
import {
  auditlogsSection,
  flowlogsSection,
  k8sAuditSection,
} from "../../../src/monitor/collectors/log-sections.ts";
import { nodeMetricsSection } from "../../../src/monitor/collectors/nodemetrics/section.ts";
import { isFed } from "../../../src/monitor/flowstore/fed.ts";
import { isCollected } from "../../../src/monitor/network/collected.ts";
import { monitorOptions } from "../../../src/monitor/config/monitor-options.ts";
import type { MonitorOptions, NetworkOptions } from "../../../src/monitor/options.ts";
import { receiveSecret } from "../../../src/kernel/threads/secrets.ts";
import { configuredSecrets } from "../../../src/kernel/config/secrets.ts";
import { schema, sound } from "./load.ts";

const CLIENT = "auth: {oauth: {client_id: x, client_secret: canary}}";
const HOUR = 3_600_000;

function options(
  yaml = "",
  environment: Record<string, string> = {},
  files: Record<string, string> = {},
): MonitorOptions {
  return monitorOptions(sound(yaml, environment, files), {
    version: "1.2.3",
    stateDirectory: "/state",
    environment,
    warnings: 2,
  });
}

function only(yaml: string, files: Record<string, string> = {}): NetworkOptions {
  const [network, ...more] = options(yaml, {}, files).networks;
  if (network === undefined || more.length > 0) throw new Error("one network was expected");
  return network;
}

describe("nothing configured", () => {
  it("is an idle monitor", () => {
    expect(options()).toMatchObject({
      version: "1.2.3",
      networks: [],
      several: false,
      logs: undefined,
      annotations: undefined,
      metricIntervalMs: 60_000,
      configWarnings: 2,
      checkpoint: {
        store: "file",
        filePath: "/state/checkpoints.mdb",
        isDefault: true,
        evidenceStore: "memory",
      },
      versionChecks: {
        devices: true,
        url: "https://pkgs.tailscale.com/stable/?mode=json",
        cacheTtlMs: HOUR,
        timeoutMs: 10_000,
      },
      selfObservability: { enabled: true, instanceId: "" },
    });
  });

  it.each([
    "vpn: {auth: {oauth: {client_id: x}}}",
    "vpn: {auth: {method: apikey}}",
    "networks: [{name: a}]",
  ])("half a credential is none: %s", (yaml) => {
    expect(options(yaml).networks).toEqual([]);
  });
});

describe("networks without a credential", () => {
  const names = (yaml: string): string[] => options(yaml).networks.map(({ name }) => name);
  const local = "enabled: true, listen: '127.0.0.1:1'";

  it("are there while a receiver serves them", () => {
    expect(names(`streaming: {${local}}\nvpn: {network: push.test}`)).toEqual(["push.test"]);
    expect(names(`webhook: {${local}}\nnetworks: [{name: a}]`)).toEqual(["a"]);
    expect(
      names(
        `streaming: {${local}, routes: [{network: b, path: /b}]}\nwebhook: {${local}, routes: [{network: d}]}\nnetworks: [{name: a}, {name: b}, {name: c}, {name: d}]`,
      ),
    ).toEqual(["b", "d"]);
  });

  it("follow those that are collected, which keep the static targets, and have no flows of their own", () => {
    const found = options(
      `webhook: {${local}, routes: [{network: push}]}\nnetworks: [{name: push}, {name: a, ${CLIENT}}]\ncollectors: {node_metrics: {enabled: true, targets: [{url: 'http://a:1/metrics'}]}}`,
    );
    expect(
      found.networks.map((network) => [
        network.name,
        isCollected(network),
        nodeMetricsSection.of(network)?.targets.length,
        isFed(network, found.receivers),
      ]),
    ).toEqual([
      ["a", true, 1, true],
      ["push", false, undefined, false],
    ]);
  });
});

describe("a single network", () => {
  it("is named by vpn.network and asked as vpn says", () => {
    const { name, provider } = only(
      `vpn: {network: example.org, url: 'https://api', http: {timeout: 5s, rate_limit: 2.5, retry: {max_attempts: 2}}, max_response_bytes: 1MiB, ${CLIENT}}`,
    );
    expect(name).toBe("example.org");
    expect(provider).toMatchObject({
      kind: "tailscale",
      network: "example.org",
      url: "https://api",
      maxResponseBytes: 2 ** 20,
      maxLogResponseBytes: 33_554_432,
      http: {
        timeoutMs: 5_000,
        rateLimit: 2.5,
        maxAttempts: 2,
        baseDelayMs: 500,
        maxDelayMs: 10_000,
      },
      auth: { method: "oauth", clientId: "x", scopes: ["all:read"] },
    });
    expect(
      provider.kind === "tailscale" &&
        provider.auth?.method === "oauth" &&
        receiveSecret(provider.auth.clientSecret).use((value) => value),
    ).toBe("canary");
  });

  it("has the credential of its method", () => {
    expect(only("vpn: {auth: {method: apikey, apikey: k}}").provider).toMatchObject({
      auth: { method: "apikey", key: { sentSecret: "k" } },
    });
    expect(
      only(
        "vpn: {auth: {method: workload_identity, workload_identity: {client_id: c, id_token_file: t}}}",
        { "/etc/steward/t": "x" },
      ).provider,
    ).toMatchObject({
      auth: { method: "workload_identity", clientId: "c", idTokenFile: "/etc/steward/t" },
    });
  });

  it("may be of Headscale, with calls as headscale says", () => {
    expect(
      only(
        "provider: headscale\nheadscale: {url: 'https://hs', api_key: k, http: {rate_limit: 3}}\nvpn: {http: {rate_limit: 9}}",
      ).provider,
    ).toMatchObject({
      kind: "headscale",
      url: "https://hs",
      apiKey: { sentSecret: "k" },
      http: { rateLimit: 3, timeoutMs: 30_000 },
      maxResponseBytes: 4_194_304,
    });
  });
});

describe("several networks", () => {
  const yaml = `
vpn: {http: {timeout: 7s, retry: {max_attempts: 2}}}
headscale: {http: {timeout: 8s}}
networks:
  - {name: a, http: {rate_limit: 1, retry: {base_delay: 1s}}, auth: {oauth: {client_id: a, client_secret: canary, scopes: [devices:core:read]}}}
  - {name: nobody}
  - {name: home, provider: headscale, url: 'https://hs', api_key: canary}
`;

  it("have what they say, setting by setting, and else what their control plane's section says", () => {
    const { networks, several } = options(yaml);
    expect(several).toBe(true);
    expect(networks.map(({ name }) => name)).toEqual(["a", "home"]);
    expect(networks[0]?.provider).toMatchObject({
      kind: "tailscale",
      network: "a",
      url: "https://api.tailscale.com",
      http: {
        timeoutMs: 7_000,
        rateLimit: 1,
        maxAttempts: 2,
        baseDelayMs: 1_000,
        maxDelayMs: 10_000,
      },
      auth: { scopes: ["devices:core:read"] },
    });
    expect(networks[1]?.provider).toMatchObject({
      kind: "headscale",
      http: { timeoutMs: 8_000, maxAttempts: 4 },
    });
  });

  it("have no credential but their own", () => {
    expect(
      options(`vpn: {auth: {oauth: {client_id: x, client_secret: y}}}\nnetworks: [{name: a}]`)
        .networks,
    ).toEqual([]);
  });

  it("have their own feeds; static targets are asked for the first that is collected", () => {
    const index = (bucket: string): string =>
      `endpoint: 'https://s3', region: r, bucket: ${bucket}`;
    const { networks } = options(`
networks:
  - {name: none, objectstore: {flow: {${index("x")}}}}
  - {name: a, ${CLIENT}, objectstore: {flow: {${index("a")}}}}
  - {name: b, ${CLIENT}, objectstore: {flow: {${index("b")}, access_key_id: i, secret_access_key: s}, k8s_audit: {${index("k")}}}}
collectors: {flowlogs: {source: objectstore}, k8s_audit: {enabled: true}, node_metrics: {enabled: true, targets: [{url: 'http://a:1/metrics'}]}}
`);
    expect(
      networks.map((network) => [
        flowlogsSection.of(network)?.objectStore?.bucket,
        flowlogsSection.of(network)?.objectStore?.credentials !== undefined,
        k8sAuditSection.of(network)?.objectStore.bucket,
        nodeMetricsSection.of(network)?.targets.length,
      ]),
    ).toEqual([
      ["a", false, undefined, 1],
      ["b", true, "k", undefined],
    ]);
  });
});

describe("collectors", () => {
  it("that are off are left out; the others have their options without the switch", () => {
    const { collectors } = only(
      `vpn: {${CLIENT}}\ncollectors: {users: {enabled: false}, keys: {expiry_warn: 1h}, node_metrics: {enabled: true}}`,
    );
    expect([collectors.users, collectors["k8s_audit"], collectors["node_metrics"]]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(collectors.keys).toEqual({ intervalMs: 300_000, expiryWarnMs: HOUR });
    expect(collectors.acl).toEqual({ intervalMs: 600_000, validate: true });
    expect(collectors.flowlogs).toMatchObject({
      source: "poll",
      lagMs: 120_000,
      initialLookbackMs: 300_000,
      maxWindowMs: HOUR,
      replayOverlapMs: 300_000,
      objectStore: undefined,
    });
    expect(collectors.auditlogs).toEqual({
      intervalMs: 60_000,
      source: "poll",
      lagMs: 60_000,
      initialLookbackMs: 300_000,
      maxWindowMs: 6 * HOUR,
      objectStore: undefined,
    });
  });

  it("read an object store by its limits", () => {
    const { collectors } = only(
      `vpn: {${CLIENT}}\ncollectors: {auditlogs: {source: objectstore, objectstore: {endpoint: 'https://s3', region: r, bucket: b, prefix: p, path_style: true, access_key_id: i, secret_access_key: s, session_token: t}}}`,
    );
    expect(auditlogsSection.of({ collectors })?.objectStore).toEqual({
      endpoint: "https://s3",
      region: "r",
      bucket: "b",
      prefix: "p",
      pathStyle: true,
      layout: "partitioned",
      intervalMs: 60_000,
      lookbackMs: HOUR,
      initialLookbackMs: 6 * HOUR,
      maxObjects: 200,
      credentials: {
        accessKeyId: expect.objectContaining({ sentSecret: "i" }) as unknown,
        secretAccessKey: expect.objectContaining({ sentSecret: "s" }) as unknown,
        sessionToken: expect.objectContaining({ sentSecret: "t" }) as unknown,
      },
      object: { wireBytes: 67_108_864, decompressedBytes: 33_554_432, records: 100_000 },
      cycle: { wireBytes: 536_870_912, decompressedBytes: 268_435_456, records: 500_000 },
    });
  });

  it("ask nodes with a token of the file, which is read again, or of the configuration", () => {
    const files = { "/etc/steward/t": "canary" };
    const targets =
      "[{url: 'http://a:1/metrics', bearer_token_file: t, labels: {rack: r1}, headers: {x-key: canary}}, {url: 'http://b', bearer_token: canary, tls: {server_name: n}}]";
    const { collectors } = only(
      `vpn: {${CLIENT}}\ncollectors: {node_metrics: {enabled: true, targets: ${targets}, discovery: {enabled: true, port: 9}}}`,
      files,
    );
    expect(nodeMetricsSection.of({ collectors })?.discovery).toMatchObject({
      port: 9,
      intervalMs: 300_000,
    });
    expect(nodeMetricsSection.of({ collectors })?.discovery).not.toHaveProperty("enabled");
    expect(nodeMetricsSection.of({ collectors })?.targets).toMatchObject([
      {
        instance: "",
        labels: { rack: "r1" },
        headers: { "x-key": { sentSecret: "canary" } },
        bearerToken: undefined,
        bearerTokenFile: "/etc/steward/t",
      },
      {
        bearerToken: { sentSecret: "canary" },
        bearerTokenFile: "",
        tls: { caFile: "", certFile: "", keyFile: "", serverName: "n", insecureSkipVerify: false },
      },
    ]);
  });
});

describe("the rest", () => {
  it("is what is written", () => {
    const found = options(
      "checkpoint: {store: memory, file_path: data/mine.mdb}\nself_observability: {instance_id: me}\nannotations: {url: 'https://dash', token: canary, categories: {expiry: {rollup: false}}}\npii_filter: {emails: false}\nversion_checks: {devices: {enabled: false}}",
      {
        OTEL_RESOURCE_ATTRIBUTES: "team=a",
        STEWARD_RESOURCE__FROM_ENV: "true",
        STEWARD_RESOURCE__SERVICE_NAMESPACE: "estate",
        STEWARD_RESOURCE__DEPLOYMENT_ENVIRONMENT: "test",
      },
    );
    expect(found.checkpoint).toEqual({
      store: "memory",
      filePath: "/etc/steward/data/mine.mdb",
      isDefault: false,
      evidenceStore: "memory",
    });
    expect(found.annotations).toMatchObject({
      url: "https://dash",
      token: { sentSecret: "canary" },
      timeoutMs: 10_000,
      categories: {
        config_change: { enabled: true, rollup: true },
        expiry: { enabled: true, rollup: false },
      },
    });
    expect(found.annotations).not.toHaveProperty("stateFile");
    expect([found.privacy.emails, found.privacy.user_ids, found.versionChecks.devices]).toEqual([
      false,
      true,
      false,
    ]);
    expect(found.resource).toMatchObject({
      "service.name": "steward",
      "service.instance.id": "me",
      "service.namespace": "estate",
      "deployment.environment.name": "test",
      team: "a",
    });
  });

  it("knows of records only when they are exported", () => {
    expect(
      options(
        "otlp: {endpoint: 'http://localhost:4318', limits: {log_body_bytes: 100}, batch: {logs: {max_queue_size: 9}}}",
      ).logs,
    ).toEqual({ capacity: 9, body: 100, attribute: 4_096 });
    expect(options("otlp: {protocol: stdout}")).toMatchObject({
      logs: { capacity: 2_048 },
      metricIntervalMs: 5_000,
    });
    expect(
      options("otlp: {endpoint: 'http://localhost:4318', logs: {enabled: false}}").logs,
    ).toBeUndefined();
  });
});

describe("secrets", () => {
  const yaml = `
vpn: {auth: {apikey: canary1}}
scrape: {auth: {token: canary2}}
otlp: {headers: {x: canary3}}
networks:
  - {name: a, api_key: canary4, auth: {apikey: canary5, oauth: {client_id: a, client_secret: canary6}}, objectstore: {flow: {secret_access_key: canary7}}}
collectors: {node_metrics: {targets: [{url: 'http://a', bearer_token: canary8, headers: {x: canary9}}]}}
`;

  it("never show in the effective configuration", () => {
    const shown = JSON.stringify(sound(yaml).effective({ provenance: true }));
    expect(shown).not.toContain("canary");
    expect(shown).toContain(
      '{"key":"networks.0.auth.oauth.client_secret","secret":true,"set":true,"source":"value","provenance":"file"}',
    );
    expect(shown).toContain('{"key":"collectors.node_metrics.targets.0.headers.x","secret":true');
  });

  it("are found wherever they stand, to be kept out of lines", () => {
    const found = configuredSecrets(sound(yaml), schema).map((held) => held.use((value) => value));
    expect(found.toSorted()).toEqual(
      [1, 2, 3, 4, 5, 6, 7, 8, 9].map((number) => `canary${number}`),
    );
  });
});
