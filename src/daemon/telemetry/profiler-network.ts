/** The `network` tag of pushed profiles. */
import { createHash } from "node:crypto";
import type { Config } from "../../kernel/config/config.ts";
import { atKey } from "../../kernel/config/checks/key-finding.ts";
import type { Check } from "../../kernel/config/load.ts";
import { isTagValue, profiler } from "../config/profiling-keys.ts";
import { networks } from "../../monitor/config/network-keys.ts";
import { privacy } from "../../monitor/config/privacy-keys.ts";
import { vpn } from "../../monitor/config/provider-keys.ts";

const HASH_CHARACTERS = 12;
/** Stands for the credential's own network, whose name is known only after a call. */
const UNNAMED = "-";

/**
 * The value of the `network` tag, or undefined. A name that the privacy settings hide, or that a
 * tag cannot hold, is hashed.
 */
export function profilerNetwork(config: Config): string | undefined {
  const label = config.get(profiler.networkLabel);
  const name = onlyNetwork(config);
  if (label === "off" || name === undefined) return undefined;
  return label === "name" && config.get(privacy.network_name) && isTagValue(name)
    ? name
    : createHash("sha256").update(name).digest("hex").slice(0, HASH_CHARACTERS);
}

/** Warns about a network label that has no network to show. */
export const checkNetworkLabel: Check = {
  needs: [profiler.networkLabel, profiler.enabled, networks, vpn.network],
  run: (config) =>
    config.get(profiler.networkLabel) !== "off" &&
    config.get(profiler.enabled) &&
    onlyNetwork(config) === undefined
      ? [
          atKey(config, profiler.networkLabel, "warning", {
            rule: "is ignored: there is no single network with a configured name",
            remedy: "set vpn.network, or set it to off.",
          }),
        ]
      : [],
};

function onlyNetwork(config: Config): string | undefined {
  const listed = config.list(networks);
  const name = listed.length === 0 ? config.get(vpn.network) : listed[0]?.name;
  return listed.length > 1 || name === UNNAMED || name === "" ? undefined : name;
}
