/** Checks the windows and object-store settings of log collectors. */
import type { Config } from "../../../kernel/config/config.ts";
import type { Finding } from "../../../kernel/config/findings.ts";
import { atKey, isChanged } from "../../../kernel/config/checks/key-finding.ts";
import { keysOf, readKeyGroup } from "../../../kernel/config/key-group.ts";
import type { Check } from "../../../kernel/config/load.ts";
import {
  auditlogsKeys,
  auditlogsSection,
  feeds,
  flowlogsKeys,
  flowlogsSection,
  isPolled,
  k8sAuditKeys,
  k8sAuditSection,
} from "../../collectors/log-sections.ts";
import { networks } from "../network-keys.ts";
import {
  bucketLocation,
  hasLocation,
  validateFeed,
  type ObjectStoreSection,
} from "../object-store-fields.ts";

type FeedKind = keyof typeof feeds;

const sections: Readonly<Record<FeedKind, { readonly path: string; readonly under: string }>> = {
  flow: { path: "collectors.flowlogs.objectstore", under: ".objectstore.flow" },
  audit: { path: "collectors.auditlogs.objectstore", under: ".objectstore.audit" },
  k8sAudit: { path: "collectors.k8s_audit.objectstore", under: ".objectstore.k8s_audit" },
};
const kinds: readonly FeedKind[] = ["flow", "audit", "k8sAudit"];

/** A window shorter than the interval never catches up. */
export const checkWindows: Check = {
  needs: keysOf(flowlogsKeys, auditlogsKeys),
  run: (config) =>
    [flowlogsKeys, auditlogsKeys].flatMap((keys) => {
      if (!config.get(keys.enabled) || !isPolled({ source: config.get(keys.source) })) return [];
      const longest = config.get(keys.maxWindowMs);
      if (longest === 0 || longest > config.get(keys.intervalMs)) return [];
      return [
        atKey(config, keys.maxWindowMs, "error", {
          rule: `must be more than ${keys.intervalMs.path}, or 0 for no limit`,
          remedy: "make it longer, or collect more often.",
        }),
      ];
    }),
};

interface UsedFeed {
  readonly feed: ObjectStoreSection;
  readonly say: (
    severity: Finding["severity"],
    under: string,
    rule: string,
    remedy: string | undefined,
  ) => Finding;
}

/** Object-store settings in use must be complete and distinct; unused ones are reported. */
export const checkFeeds: Check = {
  needs: [
    ...[flowlogsSection, auditlogsSection, k8sAuditSection].flatMap(({ schema }) => schema),
    networks,
  ],
  run(config) {
    const findings: Finding[] = [];
    const seen = new Set<string>();
    for (const kind of kinds) {
      const used = isUsed(config, kind) ? usedFeeds(config, kind) : [];
      if (isUsed(config, kind) && used.length === 0)
        findings.push({
          severity: "error",
          path: "networks",
          rule: `have no objectstore.k8s_audit, and collectors.k8s_audit.enabled is true`,
          remedy: "set objectstore.k8s_audit of at least one network.",
        });
      for (const { feed, say } of used) {
        findings.push(
          ...validateFeed(feed).map(({ severity, under, rule, remedy }) =>
            say(severity, under, rule, remedy),
          ),
        );
        if (hasLocation(feed) && seen.has(bucketLocation(feed)))
          findings.push(
            say(
              "error",
              ".prefix",
              "is where another feed is too: endpoint, bucket and prefix are the same",
              "give each feed its own prefix.",
            ),
          );
        seen.add(bucketLocation(feed));
      }
      findings.push(...unusedFeeds(config, kind));
    }
    return findings;
  },
};

function isUsed(config: Config, kind: FeedKind): boolean {
  if (kind === "k8sAudit") return config.get(k8sAuditKeys.enabled);
  const keys = kind === "flow" ? flowlogsKeys : auditlogsKeys;
  return config.get(keys.enabled) && config.get(keys.source) === "objectstore";
}

/**
 * The settings below `collectors`, or those of the networks. For recordings only some networks may
 * have them.
 */
function usedFeeds(config: Config, kind: FeedKind): UsedFeed[] {
  const { path, under: section } = sections[kind];
  const complaint = (
    rule: string,
    remedy: string | undefined,
  ): { readonly rule: string; readonly remedy?: string } => ({
    rule,
    ...(remedy === undefined ? {} : { remedy }),
  });
  const listed = config.list(networks);
  if (listed.length === 0)
    return [
      {
        feed: readKeyGroup(config, feeds[kind]),
        say: (severity, under, rule, remedy) => ({
          severity,
          path: `${path}${under}`,
          ...complaint(rule, remedy),
        }),
      },
    ];
  return listed.flatMap(({ objectstore }, index): UsedFeed[] => {
    const feed = objectstore[kind];
    if (kind === "k8sAudit" && !hasLocation(feed)) return [];
    return [
      {
        feed,
        say: (severity, under, rule, remedy) =>
          atKey(
            config,
            networks,
            severity,
            complaint(rule, remedy),
            `[${index}]${section}${under}`,
          ),
      },
    ];
  });
}

function unusedFeeds(config: Config, kind: FeedKind): Finding[] {
  const { path, under } = sections[kind];
  const written = keysOf(feeds[kind]).some((key) => isChanged(config, key));
  const listed = config.list(networks);
  if (isUsed(config, kind)) {
    return written && listed.length > 0
      ? [
          {
            severity: "warning",
            path,
            rule: "is ignored: each of the networks has its own",
            remedy: "move it to the network it belongs to.",
          },
        ]
      : [];
  }
  const reason =
    kind === "k8sAudit"
      ? "collectors.k8s_audit.enabled is false"
      : `${path.replace(/objectstore$/, "source")} is not objectstore, or its collector is off`;
  const unused = (at: string): Finding => ({
    severity: "warning",
    path: at,
    rule: `is ignored: ${reason}`,
    remedy: "switch it on, or remove it.",
  });
  return [
    ...(written ? [unused(path)] : []),
    ...listed.flatMap(({ objectstore }, index) =>
      hasLocation(objectstore[kind]) ? [unused(`networks[${index}]${under}`)] : [],
    ),
  ];
}
