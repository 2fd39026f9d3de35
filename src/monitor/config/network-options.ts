/**
 * The networks to monitor, with resolved control plane options. A network that has neither a
 * credential nor a receiver is left out.
 */
import type { Config } from "../../kernel/config/config.ts";
import { readKeyGroup } from "../../kernel/config/key-group.ts";
import { sendSecret } from "../../kernel/threads/secrets.ts";
import type {
  CardinalityOptions,
  HeadscaleOptions,
  NetworkOptions,
  SectionOptions,
  TailscaleOptions,
} from "../options.ts";
import { collectorSections } from "../collectors/all.ts";
import { feeds } from "../collectors/log-sections.ts";
import type { NetworkShare } from "../collectors/section.ts";
import { isCollected } from "../network/collected.ts";
import { streaming, streamingRoutes, streamTarget } from "../receivers/config/stream-keys.ts";
import { webhook, webhookRoutes } from "../receivers/config/webhook-keys.ts";
import { settleAuth, vpnAuth } from "./auth-fields.ts";
import { cardinality, flowCardinality, perEntity } from "./cardinality-keys.ts";
import { httpOptions, inheritHttp } from "./http-fields.ts";
import { networks, type NetworkFeeds, type NetworkSection } from "./network-keys.ts";
import { headscale, headscaleHttp, provider, vpn, vpnHttp } from "./provider-keys.ts";
import { deviceVersions, selfObservability } from "./upkeep-keys.ts";

interface Found {
  readonly name: string;
  readonly provider: TailscaleOptions | HeadscaleOptions;
  readonly feeds: NetworkFeeds;
}

export function networkOptions(config: Config): NetworkOptions[] {
  const listed = config.list(networks);
  const found =
    listed.length === 0 ? single(config) : listed.flatMap((entry) => listedNetwork(config, entry));
  // The first one has the static targets, and is the one that a status of one network describes.
  return [
    ...found.filter((each) => isCollected(each)),
    ...found.filter((each) => !isCollected(each)),
  ].map((each, index) => settled(config, each, index === 0));
}

function isReceived(config: Config, name: string): boolean {
  return (
    (config.get(streaming.enabled) && hasRoute(config.list(streamingRoutes), name)) ||
    (config.get(webhook.enabled) && hasRoute(config.list(webhookRoutes), name))
  );
}

/** Without routes a receiver serves the only network. */
function hasRoute(routes: readonly { readonly network: string }[], name: string): boolean {
  return routes.length === 0 || routes.some(({ network }) => network === name);
}

/** Options of a network that is not in the configuration, e.g. the demo's. */
export function givenNetwork(
  config: Config,
  name: string,
  at: Pick<TailscaleOptions, "url" | "auth">,
): NetworkOptions {
  return settled(
    config,
    {
      name,
      provider: {
        kind: "tailscale",
        network: "-",
        http: httpOptions(config, vpnHttp),
        ...budgets(config),
        ...at,
      },
      feeds: configuredFeeds(config),
    },
    true,
  );
}

function settled(
  config: Config,
  { name, provider: plane, feeds: own }: Found,
  hasTargets: boolean,
): NetworkOptions {
  return {
    name,
    provider: plane,
    collectors: collectorOptions(config, { feeds: own, hasTargets }),
    cardinality: cardinalityOptions(config),
    outdatedMinorThreshold: config.get(deviceVersions.outdatedMinorThreshold),
    selfObservability: config.get(selfObservability.enabled),
    streamTarget: streamTarget(config, name),
  };
}

function single(config: Config): Found[] {
  const name = config.get(vpn.network);
  const plane =
    config.get(provider) === "headscale" ? singleHeadscale(config) : singleTailscale(config, name);
  if (plane === undefined) return [];
  return [{ name, provider: plane, feeds: configuredFeeds(config) }];
}

function configuredFeeds(config: Config): NetworkFeeds {
  return {
    flow: readKeyGroup(config, feeds.flow),
    audit: readKeyGroup(config, feeds.audit),
    k8sAudit: readKeyGroup(config, feeds.k8sAudit),
  };
}

function singleTailscale(config: Config, network: string): TailscaleOptions | undefined {
  const auth = settleAuth(vpnAuth(config));
  if (auth === undefined && !isReceived(config, network)) return undefined;
  return {
    kind: "tailscale",
    network,
    auth,
    url: config.get(vpn.url),
    http: httpOptions(config, vpnHttp),
    ...budgets(config),
  };
}

function singleHeadscale(config: Config): HeadscaleOptions | undefined {
  const key = config.get(headscale.apiKey);
  const url = config.get(headscale.url);
  if (key === undefined || url === "") return undefined;
  return {
    kind: "headscale",
    url,
    apiKey: sendSecret(key),
    http: httpOptions(config, headscaleHttp),
    maxResponseBytes: config.get(headscale.maxResponseBytes),
  };
}

/**
 * Inherits only non-secret settings from the sections above: address, HTTP settings and rate
 * limits.
 */
function listedNetwork(config: Config, entry: NetworkSection): Found[] {
  const found = (plane: Found["provider"]): Found[] => [
    { name: entry.name, provider: plane, feeds: entry.objectstore },
  ];
  if ((entry.provider ?? config.get(provider)) === "headscale") {
    if (entry.apiKey === undefined || entry.url === "") return [];
    const http = inheritHttp(httpOptions(config, headscaleHttp), entry.http);
    return found({
      kind: "headscale",
      url: entry.url,
      apiKey: sendSecret(entry.apiKey),
      http,
      maxResponseBytes: config.get(headscale.maxResponseBytes),
    });
  }
  const auth = settleAuth(entry.auth);
  if (auth === undefined && !isReceived(config, entry.name)) return [];
  const http = inheritHttp(httpOptions(config, vpnHttp), entry.http);
  return found({
    kind: "tailscale",
    network: entry.name,
    auth,
    url: entry.url === "" ? config.get(vpn.url) : entry.url,
    http,
    ...budgets(config),
  });
}

function budgets(
  config: Config,
): Pick<TailscaleOptions, "maxResponseBytes" | "maxLogResponseBytes"> {
  return {
    maxResponseBytes: config.get(vpn.maxResponseBytes),
    maxLogResponseBytes: config.get(vpn.maxLogResponseBytes),
  };
}

function cardinalityOptions(config: Config): CardinalityOptions {
  return {
    ...readKeyGroup(config, cardinality),
    perEntity: readKeyGroup(config, perEntity),
    flow: readKeyGroup(config, flowCardinality),
  };
}

/** Disabled collectors are left out. */
function collectorOptions(config: Config, share: NetworkShare): SectionOptions {
  return Object.fromEntries(
    collectorSections.map((section) => [section.name, section.read(config, share)]),
  );
}
