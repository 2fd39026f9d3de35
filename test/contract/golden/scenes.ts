/** What the daemon of each golden file is configured with, and what its estate holds. */
import { chmodSync, copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { bothNetworks, objectStores, type Estate, type Section } from "../monitor-estate.ts";
import { arrangeOddities } from "../monitor-oddities.ts";
import { arrangeTroubles } from "./troubles.ts";

/**
 * `polling`: both control planes and node agents are asked, annotations are published. `feeding`:
 * what excludes that: records from a bucket, rollups, TLS, limits that are met.
 */
export const SCENES = ["polling", "feeding"] as const;

export type SceneName = (typeof SCENES)[number];

/** Where it runs. */
export interface SceneOptions {
  readonly scene: SceneName;
  readonly folder: string;
  readonly endpoint: string;
}

/** Arranges the estate and returns the configuration. */
export function arrangeScene(estate: Estate, options: SceneOptions): Section {
  arrangeOddities(estate);
  arrangeTroubles(estate);
  return options.scene === "polling" ? polling(estate, options) : feeding(estate, options);
}

function polling(estate: Estate, options: SceneOptions): Section {
  // One collector never may, two runs fail, and one waits for a second try.
  estate.tailscale.faults.next("contacts", { kind: "status", status: 403 }, 100);
  estate.tailscale.faults.next("users", { kind: "status", status: 500 }, 1);
  estate.headscale.faults.next("nodes", { kind: "status", status: 500 }, 2);
  const { networks, collectors, ...others } = slowly(bothNetworks(estate));
  const [hosted = {}, own = {}] = networks as Section[];
  const { auditlogs, flowlogs, node_metrics, ...rest } = collectors as Record<string, Section>;
  const { targets = [] } = node_metrics ?? {};
  const gone = { url: estate.agents.urlOf("gone-09"), instance: "gone" };
  return {
    ...daemon(options), ...others,
    networks: [{ ...hosted, http: { retry: { max_attempts: 2, base_delay: "1s" } } }, { ...own, http: { rate_limit: 5, retry: { max_attempts: 1 } } }],
    collectors: {
      ...rest, auditlogs: { ...auditlogs, initial_lookback: "8h" }, flowlogs: { ...flowlogs, lag: "1m", trusted_reporter_tags: ["tag:router"] },
      node_metrics: { ...node_metrics, targets: [...(targets as Section[]), gone] },
      webhooks: { ...rest["webhooks"], desired_events: ["nodeCreated", "userSuspended", "noSuchEvent"] },
    },
    annotations: { url: estate.dashboard.url, token: "dashboard-secret", queue_size: 1, categories: { config_change: { rollup: false }, expiry: { rollup: false } } },
  };
}

function feeding(estate: Estate, options: SceneOptions): Section {
  arrangeObjects(estate.bucket);
  const { networks, collectors, version_checks, vpn } = slowly(bothNetworks(estate));
  const [hosted = {}] = networks as Section[];
  const { flowlogs, auditlogs, node_metrics, ...others } = collectors as Record<string, Section>;
  const [certFile, keyFile] = [pemOf("listener.cert.pem", options), pemOf("listener.key.pem", options)];
  return {
    ...daemon(options), vpn, version_checks: { ...(version_checks as Section), self: { url: `${estate.packagesUrl}/latest` } },
    scrape: { enabled: true, listen: "127.0.0.1:0", coalesce_gather: false, tls: { cert_file: certFile, key_file: keyFile } },
    admin: { auth: { token: "administrator-0123456789" } },
    networks: [{ ...hosted, objectstore: slowly(objectStores(estate)) }],
    collectors: {
      ...others, node_metrics: { ...node_metrics, max_distinct_metrics: 2 }, k8s_audit: { enabled: true },
      flowlogs: { ...flowlogs, source: "objectstore", max_log_records_per_window: 1 }, auditlogs: { ...auditlogs, source: "objectstore" },
    },
  };
}

/** Decompression runs in other threads, in the machine's time: the broken object comes plain. */
function arrangeObjects({ objects }: Estate["bucket"]): void {
  for (const key of [...objects.keys()].filter((name) => name.endsWith(".gz"))) {
    objects.delete(key);
    objects.set(key.replace(/\.gz$/, ""), Buffer.from("{"));
  }
}

/**
 * A copy, since only its owner may read a key. The pair was made for these files and serves nobody.
 */
function pemOf(name: string, { folder }: SceneOptions): string {
  const file = join(folder, name);
  copyFileSync(join(import.meta.dirname, name), file);
  chmodSync(file, 0o600);
  return file;
}

/**
 * What both have. Telemetry is exported by the stop alone: its interval is longer than the test
 * takes by the machine's clock.
 */
function daemon({ folder, endpoint }: SceneOptions): Section {
  const directory = join(folder, "state");
  mkdirSync(directory);
  return {
    gateway: { listen: "127.0.0.1:0" }, state: { directory }, services: { dedup: false, tokens: false }, checkpoint: { store: "memory" },
    scrape: { enabled: true, listen: "127.0.0.1:0", coalesce_gather: false }, self_observability: { instance_id: "golden" },
    otlp: { endpoint, metric_interval: "5m", batch: { logs: { export_interval: "1h", max_queue_size: 8_192, export_max_batch_size: 4_096 } } },
  };
}

/** Each collector every five minutes. */
function slowly(section: Section): Section {
  return JSON.parse(JSON.stringify(section).replaceAll('"interval":"1s"', '"interval":"5m"')) as Section;
}
