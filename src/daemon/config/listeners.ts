/**
 * Detects at the start that two enabled listeners share a socket, instead of when the second one
 * fails to bind.
 */
import { isIP } from "node:net";
import { formatAddress, type Address } from "../../kernel/config/values/address.ts";
import { adminEnabled, adminListen } from "./admin-keys.ts";
import { gatewayListen } from "../../../gateway/config.ts";
import { atKey } from "../../kernel/config/checks/key-finding.ts";
import type { Key } from "../../kernel/config/key.ts";
import type { Check } from "../../kernel/config/load.ts";
import { scrapeEnabled, scrapeListen } from "../../kernel/telemetry/config/scrape-keys.ts";
import { streaming } from "../../monitor/receivers/config/stream-keys.ts";
import { webhook } from "../../monitor/receivers/config/webhook-keys.ts";
import { mappedIpv4 } from "../../kernel/base/ip-address.ts";

interface Listener {
  /** Unset: the listener is off. */
  readonly listen: Key<Address | undefined>;
  readonly enabled: Key<boolean> | undefined;
}

/** Permanent listeners come first, so that the finding names the other one. */
const listeners: readonly Listener[] = [
  { listen: gatewayListen, enabled: undefined },
  { listen: adminListen, enabled: adminEnabled },
  { listen: scrapeListen, enabled: scrapeEnabled },
  { listen: streaming.listen, enabled: streaming.enabled },
  { listen: webhook.listen, enabled: webhook.enabled },
];

export const listenersApart: Check = {
  needs: listeners.flatMap(({ listen, enabled }) => [
    listen,
    ...(enabled === undefined ? [] : [enabled]),
  ]),
  run(config) {
    const active = listeners.flatMap(({ listen: key, enabled }) => {
      const at = enabled === undefined || config.get(enabled) ? config.get(key) : undefined;
      return at === undefined ? [] : [{ key, at }];
    });
    return active.flatMap(({ key, at }, index) => {
      const met = active.slice(0, index).find((other) => sharesSocket(at, other.at));
      return met === undefined
        ? []
        : [
            atKey(config, key, "error", {
              rule: `${formatAddress(at)} is also the address of ${met.key.path}, ${formatAddress(met.at)}`,
              remedy: "use another port.",
            }),
          ];
    });
  },
};

/** Whether two binds conflict: same port, and same host or a wildcard. Port 0 never conflicts. */
export function sharesSocket(left: Address, right: Address): boolean {
  if (left.port === 0 || left.port !== right.port) return false;
  const [a, b] = [canonicalHost(left.host), canonicalHost(right.host)];
  return a === b || a === EVERY || b === EVERY;
}

const EVERY = "every interface";

/** Canonical form of a host: case, `localhost`, spellings of IPv6, and IPv4 mapped into IPv6. */
function canonicalHost(host: string): string {
  const plain = host.toLowerCase().replace(/%.*$/, "");
  const address =
    mappedIpv4(plain) ??
    (isIP(plain) === 6
      ? new URL(`http://[${plain}]`).hostname.slice(1, -1)
      : plain === "localhost"
        ? "127.0.0.1"
        : plain);
  return ["", "0.0.0.0", "::"].includes(address) ? EVERY : address;
}
