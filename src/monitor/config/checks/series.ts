/** Checks cardinality limits, flow settings and node agents. */
import type { Config } from "../../../kernel/config/config.ts";
import type { Finding } from "../../../kernel/config/findings.ts";
import { atKey, isChanged } from "../../../kernel/config/checks/key-finding.ts";
import { keysOf, readKeyGroup } from "../../../kernel/config/key-group.ts";
import type { Check } from "../../../kernel/config/load.ts";
import { cardinality, cardinalitySchema, flowCardinality } from "../cardinality-keys.ts";
import { networks } from "../network-keys.ts";
import {
  nodeDiscovery,
  nodeMetricsKeys,
  nodeMetricsSection,
  nodeTargets,
} from "../../collectors/nodemetrics/section.ts";

export const checkCardinality: Check = {
  needs: cardinalitySchema,
  run: (config) => [...thresholds(config), ...inertFlows(config)],
};

function thresholds(config: Config): Finding[] {
  const { metricLimit, warningThreshold, criticalThreshold } = readKeyGroup(config, cardinality);
  const findings: Finding[] = [];
  if (warningThreshold > 0 && criticalThreshold > 0 && criticalThreshold < warningThreshold) {
    findings.push(
      atKey(config, cardinality.criticalThreshold, "error", {
        rule: `must be at least ${cardinality.warningThreshold.path}, which is ${warningThreshold}, got ${criticalThreshold}`,
        remedy: "make it larger, or 0 for never.",
      }),
    );
  }
  for (const key of [cardinality.warningThreshold, cardinality.criticalThreshold]) {
    if (metricLimit > 0 && config.get(key) > metricLimit)
      findings.push(
        atKey(config, key, "warning", {
          rule: `is never reached: it is more than ${cardinality.metricLimit.path}, which is ${metricLimit}`,
          remedy: "make it smaller.",
        }),
      );
  }
  return findings;
}

function inertFlows(config: Config): Finding[] {
  const { metricsMode, rollupTopN, sourcePort, destinationPort } = readKeyGroup(
    config,
    flowCardinality,
  );
  if (metricsMode === "both") {
    return [
      atKey(config, flowCardinality.metricsMode, "warning", {
        rule: "both counts every flow twice, under two families of metrics",
        remedy: "do not add them up, or write all or rollup.",
      }),
    ];
  }
  if (metricsMode === "all") {
    return isChanged(config, flowCardinality.rollupTopN)
      ? [
          atKey(config, flowCardinality.rollupTopN, "warning", {
            rule: `is ${rollupTopN} and is ignored: metrics_mode is all`,
            remedy: "remove it, or write rollup.",
          }),
        ]
      : [];
  }
  const ports = [
    ...(sourcePort ? [flowCardinality.sourcePort] : []),
    ...(destinationPort ? [flowCardinality.destinationPort] : []),
  ];
  return ports.map((key) =>
    atKey(config, key, "warning", {
      rule: "is ignored: metrics_mode is rollup, which does not count by port",
      remedy: "remove it, or write all.",
    }),
  );
}

/** Scraping needs at least one target or discovery, and a limit on distinct metrics. */
export const checkNodes: Check = {
  needs: [...nodeMetricsSection.schema, ...keysOf(cardinality), networks],
  run(config) {
    const targets = config.list(nodeTargets);
    const discovers = config.get(nodeDiscovery.enabled);
    const warn = (key: Parameters<typeof atKey>[1], rule: string, remedy: string): Finding =>
      atKey(config, key, "warning", { rule, remedy });
    if (!config.get(nodeMetricsKeys.enabled)) {
      const forgotten =
        targets.length > 0 ? nodeTargets : discovers ? nodeDiscovery.enabled : undefined;
      return forgotten === undefined
        ? []
        : [
            warn(
              forgotten,
              "is ignored: collectors.node_metrics.enabled is false",
              "set it to true.",
            ),
          ];
    }
    return [
      ...(targets.length === 0 && !discovers
        ? [
            warn(
              nodeMetricsKeys.enabled,
              "scrapes nothing: there are no targets, and discovery is off",
              "write targets, or set discovery.enabled.",
            ),
          ]
        : []),
      ...(config.get(nodeMetricsKeys.maxDistinctMetrics) < 0
        ? [
            warn(
              nodeMetricsKeys.maxDistinctMetrics,
              "lets nodes make as many metrics as they want",
              "write a limit.",
            ),
          ]
        : []),
      ...(config.get(cardinality.metricLimit) <= 0
        ? [
            warn(
              cardinality.metricLimit,
              "lets nodes make as many series as they want",
              "write a limit.",
            ),
          ]
        : []),
      ...(targets.length > 0 && config.list(networks).length > 1
        ? [
            warn(
              nodeTargets,
              "belong to the first of the networks",
              "use discovery for the others.",
            ),
          ]
        : []),
    ];
  },
};
