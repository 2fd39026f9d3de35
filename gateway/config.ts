/** Keys of the gateway: where it listens, whom it trusts, and the operator's token. */
import { isIP } from "node:net";
import { formatAddress, isLoopback } from "../src/kernel/config/values/address.ts";
import { defineKey, type Schema } from "../src/kernel/config/key.ts";
import type { Check } from "../src/kernel/config/load.ts";
import type { Complaint } from "../src/kernel/config/findings.ts";
import { weakToken } from "../src/kernel/config/checks/rules.ts";
import { defineTlsFiles } from "../src/kernel/config/checks/tls-files.ts";
import { address, listOf, secret, string } from "../src/kernel/config/values/types.ts";

export const gatewayListen = defineKey({
  path: "gateway.listen",
  type: address,
  default: { host: "127.0.0.1", port: 8400 },
  help: "Address of REST, Connect, gRPC-Web and gRPC. With port 0 the system chooses one. An address other than loopback needs auth.token.",
});

/** Names besides loopback ones accepted as `Host` while no token is configured. */
export const gatewayAllowedHosts = defineKey({
  path: "gateway.allowed_hosts",
  type: listOf(string),
  default: [],
  rule: (hosts) => {
    const wrong = hosts.find((host) => !/^[A-Za-z0-9.:_[\]-]{1,253}$/.test(host));
    return wrong === undefined
      ? undefined
      : {
          rule: `must be host names, got ${JSON.stringify(wrong)}`,
          remedy: "write names without scheme or path.",
        };
  },
  help: "Host names accepted in addition to localhost while auth.token is not set, e.g. the name of a proxy on this machine.",
});

/** Proxies whose forwarding headers are trusted. */
export const gatewayTrustedProxies = defineKey({
  path: "gateway.trusted_proxies",
  type: listOf(string),
  default: [],
  rule: (entries) => {
    const wrong = entries.find((entry) => !isAddressOrNetwork(entry));
    return wrong === undefined
      ? undefined
      : {
          rule: `must be IP addresses or networks, got ${JSON.stringify(wrong)}`,
          remedy: "write addresses such as 10.0.0.2 or networks such as 10.0.0.0/8 or fd00::/8.",
        };
  },
  help: "Proxies whose X-Forwarded-For or Forwarded header gives the client's address: addresses and networks, e.g. 10.0.0.2 or 10.0.0.0/8. Limits per address, the audit and tokens bound to networks then use that address. These headers are ignored from all others.",
});

/** Without them the gateway speaks plain HTTP. */
export const gatewayTls = defineTlsFiles("gateway.tls", "the gateway");

/** Origins of pages that may use the document service's API. */
export const gatewayCorsOrigins = defineKey({
  path: "gateway.cors.allowed_origins",
  type: listOf(string),
  default: [],
  rule: originRule,
  env: "CORS_ALLOW_ORIGIN",
  help: "Origins whose pages may call /api/v1, and the document service over Connect and gRPC-Web, e.g. https://archive.example.org, or * alone. Empty: none.",
});

function isAddressOrNetwork(entry: string): boolean {
  const [address = "", prefix, ...rest] = entry.split("/");
  const family = isIP(address);
  if (family === 0 || address.includes("%") || rest.length > 0) return false;
  return (
    prefix === undefined ||
    (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (family === 4 ? 32 : 128))
  );
}

/** The operator's token. */
export const authToken = defineKey({
  path: "auth.token",
  type: secret,
  default: undefined,
  secret: true,
  warn: weakToken,
  help: "Bearer token, or password of HTTP Basic, for everything but probes.",
});

export const gatewayKeys: Schema = [
  gatewayListen,
  gatewayAllowedHosts,
  gatewayTrustedProxies,
  gatewayTls.certFile,
  gatewayTls.keyFile,
  gatewayCorsOrigins,
  authToken,
];

/** Without a token the gateway may only bind to loopback. */
export const tokenOffLoopback: Check = {
  needs: [gatewayListen, authToken],
  run(config) {
    const listen = config.get(gatewayListen);
    if (isLoopback(listen.host) || config.get(authToken) !== undefined) return [];
    const { line, variable } = {
      line: undefined,
      variable: undefined,
      ...config.source(gatewayListen),
    };
    return [
      {
        severity: "error",
        path: gatewayListen.path,
        rule: `${formatAddress(listen)} can be reached from other machines and there is no auth.token`,
        remedy: "set STEWARD_AUTH__TOKEN_FILE, or listen on 127.0.0.1.",
        ...(line === undefined ? {} : { line }),
        ...(variable === undefined ? {} : { variable }),
      },
    ];
  },
};

/**
 * Each is `*` alone or `http(s)://host[:port]` as a browser writes it; undefined when all are
 * valid.
 */
function originRule(origins: readonly string[]): Complaint | undefined {
  if (origins.includes("*") && origins.length > 1)
    return { rule: "must be * alone or a list of origins", remedy: "remove the * or the rest." };
  const wrong = origins.find((origin) => origin !== "*" && !isOrigin(origin));
  if (wrong === undefined) return undefined;
  return {
    rule: `must be origins such as https://archive.example.org, got ${JSON.stringify(wrong.slice(0, 100))}`,
    remedy: "write scheme, host and port as a browser does: lower case, no path.",
  };
}

function isOrigin(text: string): boolean {
  return /^https?:\/\//.test(text) && URL.canParse(text) && new URL(text).origin === text;
}
