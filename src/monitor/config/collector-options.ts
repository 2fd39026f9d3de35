/** Collector options of one network; disabled collectors are left out. */
import type { Config } from "../../kernel/config/config.ts";
import { readKeyGroup, type KeyGroup } from "../../kernel/config/key-group.ts";
import { secretFile } from "../../kernel/config/types.ts";
import { sendSecret, type SentSecret } from "../../kernel/threads/secrets.ts";
import type { CollectorOptions, NodeMetricsOptions, NodeTargetOptions } from "../options.ts";
import { stateCollectors, type StateCollectorKeys, type Switched } from "./collector-keys.ts";
import { auditlogs, flowlogs, k8sAudit } from "./log-keys.ts";
import type { NetworkFeeds } from "./network-keys.ts";
import { nodeDiscovery, nodeMetrics, nodeTargets, type NodeTarget } from "./node-keys.ts";
import { hasLocation, objectStoreOptions } from "./object-store-fields.ts";

/** Settings that differ between networks. */
export interface NetworkShare {
  readonly feeds: NetworkFeeds;
  /** Whether this network scrapes the static targets: only the first one does. */
  readonly hasTargets: boolean;
}

export function collectorOptions(
  config: Config,
  { feeds, hasTargets }: NetworkShare,
): CollectorOptions {
  const flow = whileOn(config, flowlogs);
  const audit = whileOn(config, auditlogs);
  return {
    ...stateOptions(config),
    flowlogs: flow && { ...flow, objectStore: feedOf(flow.source, feeds.flow) },
    auditlogs: audit && { ...audit, objectStore: feedOf(audit.source, feeds.audit) },
    k8sAudit:
      config.get(k8sAudit.enabled) && hasLocation(feeds.k8sAudit)
        ? { objectStore: objectStoreOptions(feeds.k8sAudit) }
        : undefined,
    nodeMetrics: nodeOptions(config, hasTargets),
  };
}

function stateOptions(config: Config): Pick<CollectorOptions, keyof StateCollectorKeys> {
  const {
    devices,
    users,
    keys,
    settings,
    acl,
    dns,
    contacts,
    webhooks,
    postureIntegrations,
    logStream,
    oauthApps,
    services,
  } = stateCollectors;
  return {
    devices: whileOn(config, devices),
    users: whileOn(config, users),
    keys: whileOn(config, keys),
    settings: whileOn(config, settings),
    acl: whileOn(config, acl),
    dns: whileOn(config, dns),
    contacts: whileOn(config, contacts),
    webhooks: whileOn(config, webhooks),
    postureIntegrations: whileOn(config, postureIntegrations),
    logStream: whileOn(config, logStream),
    oauthApps: whileOn(config, oauthApps),
    services: whileOn(config, services),
  };
}

/** A section without its `enabled` flag; undefined while it is off. */
function whileOn<T extends object>(config: Config, keys: KeyGroup<Switched<T>>): T | undefined {
  const { enabled, ...options } = readKeyGroup<Switched<T>>(config, keys);
  return enabled ? (options as unknown as T) : undefined;
}

function feedOf(
  source: string,
  feed: NetworkFeeds["flow"],
): ReturnType<typeof objectStoreOptions> | undefined {
  return source === "objectstore" && hasLocation(feed) ? objectStoreOptions(feed) : undefined;
}

/** Node agent options, whether or not the collector is enabled. */
export function readNodeMetrics(config: Config): Omit<NodeMetricsOptions, "targets" | "discovery"> {
  const { enabled: _, ...options } = readKeyGroup(config, nodeMetrics);
  return options;
}

function nodeOptions(config: Config, hasTargets: boolean): NodeMetricsOptions | undefined {
  const options = whileOn(config, nodeMetrics);
  const targets = hasTargets ? config.list(nodeTargets).map(targetOptions) : [];
  const discovery = whileOn(config, nodeDiscovery);
  return options === undefined || (targets.length === 0 && discovery === undefined)
    ? undefined
    : { ...options, targets, discovery };
}

function targetOptions({
  url,
  instance,
  labels,
  headers,
  bearerToken,
  tls,
}: NodeTarget): NodeTargetOptions {
  const file = bearerToken && secretFile(bearerToken);
  const sent = [...headers].map(([name, value]): readonly [string, SentSecret] => [
    name,
    sendSecret(value),
  ]);
  return {
    url,
    instance,
    tls,
    labels: Object.fromEntries(labels),
    headers: Object.fromEntries(sent),
    bearerToken:
      bearerToken !== undefined && file === undefined ? sendSecret(bearerToken) : undefined,
    bearerTokenFile: file ?? "",
  };
}
