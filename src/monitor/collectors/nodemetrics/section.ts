/** Section of the node agent collector. */
import type { Secret } from "../../../kernel/base/secret.ts";
import type { Complaint } from "../../../kernel/config/findings.ts";
import type { Config } from "../../../kernel/config/config.ts";
import {
  defineKeyGroup,
  keysOf,
  readKeyGroup,
  type KeyField,
} from "../../../kernel/config/key-group.ts";
import { defineKey } from "../../../kernel/config/key.ts";
import { mapOfSecrets, mapOfTexts } from "../../../kernel/config/values/maps.ts";
import { groupOfFields, listOfObjects } from "../../../kernel/config/values/objects.ts";
import { httpUrl, noBlank, timer } from "../../../kernel/config/checks/rules.ts";
import {
  boolean,
  byteCount,
  duration,
  integer,
  listOf,
  oneOf,
  path,
  secret,
  secretFile,
  string,
  text,
} from "../../../kernel/config/values/types.ts";
import { sendSecret, type SentSecret } from "../../../kernel/threads/secrets.ts";
import type { NodeMetricsOptions, NodeTargetOptions } from "../../options.ts";
import { flag, readWhileOn, scheduleFields, sectionOver, type Switched } from "../section.ts";

type NodeSection = Switched<Omit<NodeMetricsOptions, "targets" | "discovery">>;
type DiscoverySection = Switched<NonNullable<NodeMetricsOptions["discovery"]>>;

/** A target as written; a token read from a file keeps the path. */
export interface NodeTarget {
  readonly url: string;
  readonly instance: string;
  readonly labels: ReadonlyMap<string, string>;
  readonly headers: ReadonlyMap<string, Secret>;
  readonly bearerToken: Secret | undefined;
  readonly tls: NodeTargetOptions["tls"];
}

const MAX_TARGETS = 1_000;
const MAX_NAMES = 1_000_000;
const patterns = (help: string): KeyField<readonly string[]> => ({
  type: listOf(string),
  default: [],
  rule: allCompile,
  help,
});
const names = (help: string): KeyField<readonly string[]> => ({
  type: listOf(string),
  default: [],
  rule: noBlank,
  help,
});

export const nodeMetricsKeys = defineKeyGroup<NodeSection>("collectors.node_metrics", {
  ...scheduleFields("metrics of node agents", 60, false),
  timeoutMs: {
    type: duration,
    default: 10_000,
    rule: timer,
    help: "Timeout of one scrape of a node.",
  },
  maxResponseBytes: {
    type: byteCount(1, 2 ** 30),
    default: 4 * 2 ** 20,
    help: "Maximum size of a node's response.",
  },
  maxSamples: {
    type: integer(1, 10_000_000),
    default: 50_000,
    help: "Maximum samples in a response.",
  },
  maxDistinctMetrics: {
    type: integer(-1, MAX_NAMES),
    default: 2_000,
    rule: (count) =>
      count === 0 ? { rule: "must not be 0", remedy: "write -1 for no limit." } : undefined,
    help: "Maximum distinct metric names over all nodes; -1 is no limit.",
  },
  metricAllow: patterns(
    "Regular expressions, matched against the whole name, of metrics to keep; empty keeps all.",
  ),
  metricDeny: patterns("Regular expressions, matched against the whole name, of metrics to drop."),
  dropLabels: names("Labels to drop."),
});

export const nodeTargets = defineKey({
  path: "collectors.node_metrics.targets",
  default: [],
  rule: targetsDiffer,
  help: "Agents to scrape, each with its URL. With several networks they belong to the first.",
  type: listOfObjects<NodeTarget>({
    limit: MAX_TARGETS,
    fields: {
      url: {
        type: string,
        rule: httpUrl,
        help: "URL of the metrics, e.g. http://100.64.0.7:5252/metrics.",
      },
      instance: {
        type: text,
        default: "",
        help: "Value of vpn.node, different for each target. Empty: host and port of the URL.",
      },
      labels: {
        type: mapOfTexts({ limit: 32 }),
        default: new Map(),
        help: "Labels added to all series of the target.",
      },
      headers: {
        type: mapOfSecrets({ limit: 32 }),
        default: new Map(),
        help: "Headers of each request; their values are secret.",
      },
      bearerToken: {
        type: secret,
        optional: true,
        secret: true,
        help: "Bearer token. A token file is read again for each request.",
      },
      tls: {
        type: groupOfFields({
          fields: {
            caFile: {
              type: path,
              default: "",
              help: "PEM file of the CA certificates that the node's certificate is verified against.",
            },
            certFile: { type: path, default: "", help: "PEM client certificate." },
            keyFile: { type: path, default: "", help: "PEM key of the client certificate." },
            serverName: {
              type: text,
              default: "",
              help: "Name that the node's certificate must match.",
            },
            insecureSkipVerify: {
              type: boolean,
              default: false,
              help: "Accepts any certificate of the node.",
            },
          },
          rule: pairOfFiles,
        }),
        help: "TLS towards the node.",
      },
    },
  }),
});

export const nodeDiscovery = defineKeyGroup<DiscoverySection>("collectors.node_metrics.discovery", {
  enabled: flag(false, "Scrapes every device of the network that the rules below select."),
  intervalMs: {
    type: duration,
    default: 300_000,
    rule: timer,
    help: "Time between discoveries of devices.",
  },
  maxTargets: {
    type: integer(1, 100_000),
    default: 1_000,
    help: "Maximum number of devices to scrape.",
  },
  scheme: {
    type: oneOf(["http", "https"]),
    default: "http",
    help: "Scheme used to scrape devices.",
  },
  port: { type: integer(1, 65_535), default: 5_252, help: "Port of the agent." },
  path: {
    type: string,
    default: "/metrics",
    rule: (value) =>
      /^\/[^\s?#]*$/.test(value)
        ? undefined
        : { rule: "must begin with / and have no blank, ? or #", remedy: "write /metrics." },
    help: "Path of the metrics.",
  },
  onlineOnly: flag(true, "Skips devices that are offline."),
  excludeExternal: flag(true, "Skips devices shared from other networks."),
  includeHostLabels: flag(true, "Adds host.name and host.id."),
  includeTagsLabel: flag(true, "Adds vpn.tags."),
  addressOrder: {
    type: oneOf(["ipv4", "ipv6"]),
    default: "ipv4",
    help: "Address family preferred when a device has both.",
  },
  instanceSource: {
    type: oneOf(["name", "hostname", "address"]),
    default: "name",
    help: "Source of vpn.node: the name in the network, hostname@address, or host and port.",
  },
  includeTags: names("Scrapes only devices with at least one of these tags; empty is all."),
  excludeTags: names("Skips devices with any of these tags."),
});

export const nodeMetricsSection = sectionOver<NodeMetricsOptions>({
  name: "node_metrics",
  enabled: nodeMetricsKeys.enabled,
  schema: [...keysOf(nodeMetricsKeys), nodeTargets, ...keysOf(nodeDiscovery)],
  read(config, { hasTargets }) {
    const options = readWhileOn(config, nodeMetricsKeys);
    const targets = hasTargets ? config.list(nodeTargets).map(targetOptions) : [];
    const discovery = readWhileOn(config, nodeDiscovery);
    return options === undefined || (targets.length === 0 && discovery === undefined)
      ? undefined
      : { ...options, targets, discovery };
  },
});

/** The options of agents that are not in the configuration, whether or not it collects any. */
export function withTargets(
  config: Config,
  targets: readonly NodeTargetOptions[],
): NodeMetricsOptions {
  const { enabled: _, ...options } = readKeyGroup(config, nodeMetricsKeys);
  return { ...options, targets, discovery: undefined };
}

/** Anchors a pattern to the whole name. Throws the regular expression engine's error. */
export function anchored(pattern: string): RegExp {
  return new RegExp(`^(?:${pattern})$`);
}

/** Value of `vpn.node` for a target. */
export function instanceOf({ url, instance }: Pick<NodeTarget, "url" | "instance">): string {
  return instance === "" && URL.canParse(url) ? new URL(url).host : instance;
}

function allCompile(written: readonly string[]): Complaint | undefined {
  const broken = written.find((pattern) => !compiles(pattern));
  return broken === undefined
    ? undefined
    : { rule: `must be regular expressions, got ${JSON.stringify(broken.slice(0, 100))}` };
}

function compiles(pattern: string): boolean {
  try {
    return anchored(pattern) instanceof RegExp;
  } catch {
    return false;
  }
}

/** Series are told apart by the instance alone. */
function targetsDiffer(targets: readonly NodeTarget[]): Complaint | undefined {
  const urls = new Map<string, string>();
  for (const target of targets) {
    const instance = instanceOf(target);
    const other = urls.get(instance);
    if (other !== undefined)
      return hrefOf(other) === hrefOf(target.url)
        ? {
            rule: `must be different, ${target.url} with instance ${instance} is there twice`,
            remedy: "remove one of them.",
          }
        : {
            rule: `must have different instances, ${other} and ${target.url} both have ${instance}`,
            remedy: "give each target its own instance.",
          };
    urls.set(instance, target.url);
  }
  return undefined;
}

function hrefOf(url: string): string {
  return URL.canParse(url) ? new URL(url).href : url;
}

function pairOfFiles({
  certFile,
  keyFile,
}: NodeTarget["tls"]): (Complaint & { readonly field: "certFile" | "keyFile" }) | undefined {
  if ((certFile === "") === (keyFile === "")) return undefined;
  return {
    field: certFile === "" ? "certFile" : "keyFile",
    rule: "is missing, but the other of the pair is set",
    remedy: "set both or neither.",
  };
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
