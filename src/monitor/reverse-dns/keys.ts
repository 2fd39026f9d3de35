/** Keys `enrichment.reverse_dns`: names of external addresses. */
import type { Config } from "../../kernel/config/config.ts";
import type { Finding } from "../../kernel/config/findings.ts";
import { defineKeyGroup, keysOf, readKeyGroup } from "../../kernel/config/key-group.ts";
import type { Schema } from "../../kernel/config/key.ts";
import type { Check } from "../../kernel/config/load.ts";
import { atKey } from "../../kernel/config/checks/key-finding.ts";
import { optionally, positive, timer } from "../../kernel/config/checks/rules.ts";
import { boolean, duration, integer, text } from "../../kernel/config/values/types.ts";
import { privacy } from "../config/privacy-keys.ts";
import { isServer } from "./resolver.ts";
import type { ReverseDnsOptions } from "./types.ts";

const MAX_ENTRIES = 1_000_000;

const keys = defineKeyGroup<
  ReverseDnsOptions & { readonly enabled: boolean; readonly acknowledgeCardinality: boolean }
>("enrichment.reverse_dns", {
  enabled: {
    type: boolean,
    default: false,
    help: "Names external addresses of flows by reverse DNS, in the background.",
  },
  server: {
    type: text,
    default: "",
    rule: optionally((server) =>
      isServer(server)
        ? undefined
        : {
            rule: "must be an IP address, with or without a port",
            remedy: "write e.g. 192.0.2.53 or [2001:db8::53]:5353.",
          },
    ),
    help: "Address of the resolver, e.g. 192.0.2.53 or 192.0.2.53:5353. Empty: the system's.",
  },
  timeoutMs: {
    type: duration,
    default: 2_000,
    rule: timer,
    help: "Timeout of one query.",
  },
  cacheTtlMs: {
    type: duration,
    default: 86_400_000,
    rule: positive,
    help: "How long a name is stored.",
  },
  negativeTtlMs: {
    type: duration,
    default: 300_000,
    rule: positive,
    help: "How long it is stored that an address has no name or could not be looked up.",
  },
  staleTtlMs: {
    type: duration,
    default: 3_600_000,
    help: "How long a name is shown after its time while it is looked up again; 0 is not at all.",
  },
  maxEntries: {
    type: integer(1, MAX_ENTRIES),
    default: 50_000,
    help: "Number of addresses stored; when full, new ones stay without a name until others expire.",
  },
  acknowledgeCardinality: {
    type: boolean,
    default: false,
    help: "Confirms that each name may become a node of the flow metrics, and silences the warning.",
  },
});

export const reverseDnsSchema: Schema = keysOf(keys);

/** Undefined while it is off. */
export function reverseDnsOptions(config: Config): ReverseDnsOptions | undefined {
  const { enabled, acknowledgeCardinality: _, ...options } = readKeyGroup(config, keys);
  return enabled ? options : undefined;
}

/** Names are values of `vpn.src.node` and `vpn.dst.node`. */
export const checkReverseDns: Check = {
  needs: [keys.enabled, keys.acknowledgeCardinality, privacy.external_ips, privacy.hostnames],
  run(config) {
    if (!config.get(keys.enabled)) return [];
    const findings: Finding[] = [];
    if (!config.get(keys.acknowledgeCardinality))
      findings.push(
        atKey(config, keys.enabled, "warning", {
          rule: "adds a node to the flow metrics for each name of an external address",
          remedy: `look at /api/cardinality.json, then set ${keys.acknowledgeCardinality.path} to true.`,
        }),
      );
    if (!config.get(privacy.external_ips) && config.get(privacy.hostnames))
      findings.push(
        atKey(config, keys.enabled, "warning", {
          rule: `exports names that may contain the addresses which ${privacy.external_ips.path} conceals`,
          remedy: `set ${privacy.hostnames.path} to false as well, or remove it.`,
        }),
      );
    return findings;
  },
};
