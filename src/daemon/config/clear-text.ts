/**
 * Warns of listeners that other machines can reach without TLS: credentials are then sent in clear
 * text.
 */
import { isOverlayHost } from "../../kernel/base/ip-address.ts";
import { formatAddress, isLoopback, type Address } from "../../kernel/config/values/address.ts";
import { adminEnabled, adminListen, adminTls, adminToken } from "./admin-keys.ts";
import type { Config } from "../../kernel/config/config.ts";
import type { Finding } from "../../kernel/config/findings.ts";
import {
  authToken,
  gatewayListen,
  gatewayTls,
  gatewayTrustedProxies,
} from "../../../gateway/config.ts";
import { atKey } from "../../kernel/config/checks/key-finding.ts";
import type { Key } from "../../kernel/config/key.ts";
import type { Check } from "../../kernel/config/load.ts";
import {
  scrapeEnabled,
  scrapeListen,
  scrapeTls,
  scrapeToken,
} from "../../kernel/telemetry/config/scrape-keys.ts";

import { webhook, webhookTls } from "../../monitor/receivers/config/webhook-keys.ts";
import { streaming, streamingTls } from "../../monitor/receivers/config/stream-keys.ts";

/** An unencrypted listener, and what it exposes. */
interface OpenListener {
  readonly key: Key<Address> | Key<Address | undefined>;
  readonly listen: Address;
  readonly certFile: string;
  readonly crossing: string;
  readonly remedy: string;
}

const PROXY = "or name the proxy that ends TLS in gateway.trusted_proxies.";

/**
 * Checks each listener. Without a token, non-loopback binds are refused or answer nothing, so
 * no warning.
 */
export const clearTextOffLoopback: Check = {
  needs: [
    gatewayListen,
    gatewayTls.certFile,
    gatewayTrustedProxies,
    authToken,
    adminEnabled,
    adminListen,
    adminTls.certFile,
    adminToken,
    scrapeEnabled,
    scrapeListen,
    scrapeTls.certFile,
    scrapeToken,
    streaming.enabled,
    streaming.listen,
    streamingTls.certFile,
    webhook.enabled,
    webhook.listen,
    webhookTls.certFile,
  ],
  run: (config) => openListeners(config).flatMap((listener) => findingOf(config, listener)),
};

function openListeners(config: Config): readonly OpenListener[] {
  const proxied = config.get(gatewayTrustedProxies).length > 0;
  const token = config.get(authToken);
  const admin = config.get(adminEnabled) ? config.get(adminListen) : undefined;
  const found: OpenListener[] = [];
  if (token !== undefined && !proxied) {
    found.push({
      key: gatewayListen,
      listen: config.get(gatewayListen),
      certFile: config.get(gatewayTls.certFile),
      crossing: "credentials and minted tokens cross",
      remedy: `set gateway.tls.cert_file and gateway.tls.key_file, ${PROXY}`,
    });
  }
  if (admin !== undefined && (token ?? config.get(adminToken)) !== undefined && !proxied) {
    found.push({
      key: adminListen,
      listen: admin,
      certFile: config.get(adminTls.certFile),
      crossing: "the admin token crosses",
      remedy: `set admin.tls.cert_file and admin.tls.key_file, ${PROXY}`,
    });
  }
  if (config.get(scrapeEnabled) && config.get(scrapeToken) !== undefined) {
    found.push({
      key: scrapeListen,
      listen: config.get(scrapeListen),
      certFile: config.get(scrapeTls.certFile),
      crossing: "scrape.auth.token crosses",
      remedy: "set scrape.tls.cert_file and scrape.tls.key_file, or listen on 127.0.0.1.",
    });
  }
  // Off loopback it always has a token.
  if (config.get(streaming.enabled)) {
    found.push({
      key: streaming.listen,
      listen: config.get(streaming.listen),
      certFile: config.get(streamingTls.certFile),
      crossing: "streaming.token and the records cross",
      remedy: "set streaming.tls.cert_file and streaming.tls.key_file, or listen on 127.0.0.1.",
    });
  }
  if (config.get(webhook.enabled)) {
    found.push({
      key: webhook.listen,
      listen: config.get(webhook.listen),
      certFile: config.get(webhookTls.certFile),
      crossing: "events of the network cross",
      remedy: "set webhook.tls.cert_file and webhook.tls.key_file, or listen on 127.0.0.1.",
    });
  }
  return found;
}

function findingOf(
  config: Config,
  { key, listen, certFile, crossing, remedy }: OpenListener,
): Finding[] {
  // WireGuard encrypts traffic between nodes.
  if (certFile !== "" || isOverlayHost(listen.host) || isLoopback(listen.host)) return [];
  return [
    atKey(config, key, "warning", {
      rule: `${formatAddress(listen)} can be reached from other machines without TLS: ${crossing} the network in clear`,
      remedy,
    }),
  ];
}
