/** Checks for settings that have no effect with the rest of the configuration. */
import type { Config } from "../../../kernel/config/config.ts";
import type { Finding } from "../../../kernel/config/findings.ts";
import { atKey, isChanged, isWritten } from "../../../kernel/config/checks/key-finding.ts";
import { keysOf, readKeyGroup } from "../../../kernel/config/key-group.ts";
import type { Key } from "../../../kernel/config/key.ts";
import type { Check } from "../../../kernel/config/load.ts";
import { scrapeEnabled } from "../../../kernel/telemetry/config/scrape-keys.ts";
import { allCollectors, collectorSections } from "../../collectors/all.ts";
import { devicesSection } from "../../collectors/devices/section.ts";
import { auditlogsKeys, flowlogsKeys } from "../../collectors/log-sections.ts";
import { offersCall } from "../../providers/headscale/offered.ts";
import { annotationCategories, annotations, annotationSchema } from "../annotation-keys.ts";
import { networks } from "../network-keys.ts";
import { privacy } from "../privacy-keys.ts";
import { provider } from "../provider-keys.ts";
import { deviceVersions } from "../upkeep-keys.ts";

/** Switches of the collectors that need a call which Headscale does not have. */
const hostedOnly: readonly Key<boolean>[] = collectorSections
  .filter((section) =>
    allCollectors.some(
      (collector) =>
        collector.section === section &&
        collector.needs !== undefined &&
        !offersCall(collector.needs),
    ),
  )
  .map(({ enabled }) => enabled);

/** Collectors that no configured control plane supports. */
export const checkUnusedCollectors: Check = {
  needs: [...hostedOnly, flowlogsKeys.source, auditlogsKeys.source, provider, networks],
  run(config) {
    const listed = config.list(networks);
    const kinds =
      listed.length === 0
        ? [config.get(provider)]
        : listed.map((entry) => entry.provider ?? config.get(provider));
    if (kinds.includes("tailscale")) return [];
    const fromStore = [flowlogsKeys, auditlogsKeys]
      .filter(({ source }) => config.get(source) === "objectstore")
      .map(({ enabled }) => enabled);
    return hostedOnly
      .filter((key) => isWritten(config, key) && config.get(key) && !fromStore.includes(key))
      .map((key) =>
        atKey(config, key, "warning", {
          rule: "is ignored: Headscale does not support it",
          remedy: "remove it.",
        }),
      );
  },
};

/** Version comparison needs the device collector. */
export const checkVersions: Check = {
  needs: [deviceVersions.enabled, devicesSection.enabled],
  run: (config) =>
    isWritten(config, deviceVersions.enabled) &&
    config.get(deviceVersions.enabled) &&
    !config.get(devicesSection.enabled)
      ? [
          atKey(config, deviceVersions.enabled, "warning", {
            rule: "is ignored: collectors.devices.enabled is false",
            remedy: "collect devices, or set it to false.",
          }),
        ]
      : [],
};

/** Without network names, scraped series of several networks collide. */
export const checkNetworkNames: Check = {
  needs: [scrapeEnabled, privacy.network_name, networks],
  run: (config) =>
    config.get(scrapeEnabled) &&
    !config.get(privacy.network_name) &&
    config.list(networks).length > 1
      ? [
          atKey(config, privacy.network_name, "warning", {
            rule: "removes the label that distinguishes the series of several networks on the pull endpoint",
            remedy: "set it to true, or run one network in each process.",
          }),
        ]
      : [],
};

export const checkAnnotations: Check = {
  needs: annotationSchema,
  run(config) {
    const { url, token, dashboardUid } = readKeyGroup(config, annotations);
    if (url === "") return unusedAnnotations(config);
    const findings: Finding[] = [];
    if (token === undefined)
      findings.push(
        atKey(config, annotations.token, "error", {
          rule: "is missing, and annotations.url is set",
          remedy: "set STEWARD_ANNOTATIONS__TOKEN_FILE.",
        }),
      );
    if (dashboardUid !== "")
      findings.push(
        atKey(config, annotations.dashboardUid, "warning", {
          rule: "keeps annotations from all other dashboards",
          remedy: "remove it to annotate all dashboards of the organisation.",
        }),
      );
    const categories = Object.values(annotationCategories);
    if (categories.every(({ enabled }) => !config.get(enabled)))
      findings.push(
        atKey(config, annotations.url, "warning", {
          rule: "is ignored: all categories are off",
          remedy: "switch one on.",
        }),
      );
    return findings;
  },
};

function unusedAnnotations(config: Config): Finding[] {
  const written = keysOf(annotations, ...Object.values(annotationCategories)).find(
    (key) => key.path !== annotations.url.path && isChanged(config, key),
  );
  return written === undefined
    ? []
    : [
        atKey(config, written, "warning", {
          rule: "is ignored: annotations.url is empty",
          remedy: "set it.",
        }),
      ];
}
