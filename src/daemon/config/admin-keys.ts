/** Keys of the monitor's pages and its admin API. */
import { formatAddress, isLoopback, type Address } from "../../kernel/config/values/address.ts";
import type { Complaint } from "../../kernel/config/findings.ts";
import { authToken } from "../../../gateway/config.ts";
import { weakToken } from "../../kernel/config/checks/rules.ts";
import { atKey } from "../../kernel/config/checks/key-finding.ts";
import { defineKey, type Schema } from "../../kernel/config/key.ts";
import type { Check } from "../../kernel/config/load.ts";
import { timer } from "../../kernel/config/checks/rules.ts";
import { defineTlsFiles } from "../../kernel/config/checks/tls-files.ts";
import { address, boolean, duration, secret } from "../../kernel/config/values/types.ts";

export const adminEnabled = defineKey({
  path: "admin.enabled",
  type: boolean,
  default: true,
  help: "Serves the monitor's pages, and its JSON below /api. Probes are always served.",
});
/** Undefined: served by the gateway's listener. */
export const adminListen = defineKey<Address | undefined>({
  path: "admin.listen",
  type: address,
  default: undefined,
  help: "Address of the monitor's pages and JSON. Empty: they are served on gateway.listen. An address other than loopback needs a token.",
});
export const adminLandingPage = defineKey({
  path: "admin.landing_page",
  type: boolean,
  default: true,
  help: "Serves the status page and its documents. When off, only the probes and /debug/ are served.",
});
/** 0: the page decides. */
export const adminRefreshInterval = defineKey({
  path: "admin.status_refresh_interval",
  type: duration,
  default: 5_000,
  rule: refreshable,
  help: "How often the status page polls and WatchStatus sends an update. 0: every 5s.",
});
export const adminToken = defineKey({
  path: "admin.auth.token",
  type: secret,
  default: undefined,
  secret: true,
  warn: weakToken,
  help: "Bearer token, or password of HTTP Basic, for the monitor's pages, its JSON and its rpc; auth.token no longer opens them. Unset: auth.token does.",
});
export const adminTls = defineTlsFiles("admin.tls", "admin.listen");

export const adminKeys: Schema = [
  adminEnabled,
  adminListen,
  adminLandingPage,
  adminRefreshInterval,
  adminToken,
  adminTls.certFile,
  adminTls.keyFile,
];

const MIN_REFRESH_MS = 100;

function refreshable(ms: number): Complaint | undefined {
  if (ms === 0) return undefined;
  return ms < MIN_REFRESH_MS ? { rule: "must be 0 or at least 100ms" } : timer(ms);
}

/**
 * A separate admin listener needs a token as the gateway does; TLS keys need a separate listener.
 */
export const checkAdmin: Check = {
  needs: [adminEnabled, adminListen, adminToken, adminTls.certFile, adminTls.keyFile, authToken],
  run(config) {
    const listen = config.get(adminListen);
    if (listen === undefined) {
      return [adminTls.certFile, adminTls.keyFile]
        .filter((key) => config.get(key) !== "")
        .map((key) =>
          atKey(config, key, "error", {
            rule: "needs admin.listen: where the gateway listens its own certificate counts",
            remedy: "set admin.listen, or gateway.tls.",
          }),
        );
    }
    if (
      !config.get(adminEnabled) ||
      isLoopback(listen.host) ||
      config.get(adminToken) !== undefined ||
      config.get(authToken) !== undefined
    )
      return [];
    return [
      atKey(config, adminListen, "error", {
        rule: `${formatAddress(listen)} can be reached from other machines and there is neither admin.auth.token nor auth.token`,
        remedy: "set STEWARD_ADMIN__AUTH__TOKEN_FILE, or listen on 127.0.0.1.",
      }),
    ];
  },
};
