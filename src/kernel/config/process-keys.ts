/** Keys of the process itself; each service declares its own. */
import { isIP } from "node:net";
import type { LogLevel } from "../base/log.ts";
import type { Secret } from "../base/secret.ts";
import { formatAddress, isLoopback } from "./address.ts";
import type { Complaint } from "./findings.ts";
import { parseTimeOfDay } from "../state/backups/backup-times.ts";
import { defineKey, type Environment, type Key, type Schema } from "./key.ts";
import type { Check } from "./load.ts";
import { originRule } from "./origins.ts";
import { defineTlsFiles } from "./tls-files.ts";
import { address, boolean, integer, listOf, oneOf, path, secret, string } from "./types.ts";

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

/** Finding for a token that can be guessed. */
export function guessable(token: Secret | undefined): Complaint | undefined {
  return token === undefined || token.use((value) => value.length) >= 16
    ? undefined
    : { rule: "is shorter than 16 characters and can be guessed", remedy: "use 32 random ones." };
}

/** The operator's token. */
export const authToken = defineKey({
  path: "auth.token",
  type: secret,
  default: undefined,
  secret: true,
  warn: guessable,
  help: "Bearer token, or password of HTTP Basic, for everything but probes.",
});

/** The folder of all persistent state. */
export const stateFolder = defineKey({
  path: "state.directory",
  type: path,
  default: "",
  defaultFrom: defaultStateFolder,
  rule: (folder) =>
    folder === ""
      ? {
          rule: "is not known: neither STATE_DIRECTORY, XDG_STATE_HOME nor HOME is set",
          remedy: "set STEWARD_STATE__DIRECTORY.",
        }
      : undefined,
  help: "Folder for all state, mode 0700, used by one process at a time. Default $STATE_DIRECTORY, else $XDG_STATE_HOME/steward, else ~/.local/state/steward.",
});

export const backupEnabled = defineKey({
  path: "state.backup.enabled",
  type: boolean,
  default: true,
  help: "Backs up all stores every night while Steward runs, and verifies the copy. The demo makes no backups.",
});

export const backupFolder = defineKey({
  path: "state.backup.directory",
  type: path,
  default: "",
  help: "Folder for backups, with one subfolder each. Empty: the folder backups in state.directory. Backups on another disk survive the loss of this disk.",
});

export const backupAt = defineKey({
  path: "state.backup.at",
  type: string,
  default: "03:30",
  rule: (at) =>
    parseTimeOfDay(at) === undefined
      ? {
          rule: `must be a time of day, got ${JSON.stringify(at)}`,
          remedy: "write 24 hours with two digits each, e.g. 03:30.",
        }
      : undefined,
  help: "Local time of day of the backup. A missed backup is made ten minutes after the next start.",
});

export const backupKeep = defineKey({
  path: "state.backup.keep",
  type: integer(1, 1_000),
  default: 7,
  help: "Number of complete backups to keep; older ones are deleted after a new one has been verified.",
});

export const loggingLevel: Key<LogLevel> = defineKey({
  path: "logging.level",
  type: oneOf(["debug", "info", "warn", "error"]),
  default: "info",
  aliases: ["log_level"],
  help: "Minimum level of log lines.",
});

export const loggingFormat: Key<"text" | "json"> = defineKey({
  path: "logging.format",
  type: oneOf(["text", "json"]),
  default: "text",
  aliases: ["log_format"],
  help: "Format of log lines on standard error.",
});

export const servicesMonitor = defineKey({
  path: "services.monitor",
  type: boolean,
  default: true,
  help: "Runs the monitor. When off, its routes are 404 and its state is not opened. Without a credential it is idle.",
});

export const servicesDedup = defineKey({
  path: "services.dedup",
  type: boolean,
  default: true,
  help: "Runs the document service. When off, its routes are 404 and its state is not opened.",
});

export const servicesTokens = defineKey({
  path: "services.tokens",
  type: boolean,
  default: true,
  help: "Runs the tokens service. When off, /v1 is 404 and its state is not opened.",
});

/** Worker threads for CPU-heavy work. */
export const poolThreads = defineKey({
  path: "pool.threads",
  type: integer(0, 256),
  default: 0,
  help: "Number of worker threads; 0 is one per core, as far as memory allows.",
});

export const processKeys: Schema = [
  gatewayListen,
  gatewayAllowedHosts,
  gatewayTrustedProxies,
  gatewayTls.certFile,
  gatewayTls.keyFile,
  gatewayCorsOrigins,
  authToken,
  stateFolder,
  backupEnabled,
  backupFolder,
  backupAt,
  backupKeep,
  loggingLevel,
  loggingFormat,
  servicesMonitor,
  servicesDedup,
  servicesTokens,
  poolThreads,
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

// systemd may pass several folders, separated by colons; the first one is used. XDG requires
// ignoring relative paths.
function defaultStateFolder(environment: Environment): string {
  const fromSystemd = environment["STATE_DIRECTORY"]?.split(":")[0];
  if (fromSystemd) return fromSystemd;
  const xdg = environment["XDG_STATE_HOME"];
  if (xdg?.startsWith("/") === true) return `${xdg.replace(/\/+$/, "")}/steward`;
  const home = environment["HOME"];
  return home ? `${home.replace(/\/+$/, "")}/.local/state/steward` : "";
}
