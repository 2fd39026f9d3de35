/**
 * What the host sets in the environment of a plugin, and the line that the plugin answers with
 * (docs/plugin.md, "Protocol"). OpenBao sets its variables in two spellings, Vault in one.
 */
import { StewardError } from "../../kernel/base/errors.ts";

/** Tells a host from a person who starts the program by hand; the same in Vault and OpenBao. */
const COOKIE_NAME = "VAULT_BACKEND_PLUGIN";
const COOKIE_VALUE = "6669da05-b1c8-4f49-97d9-c8e5bed98e20";

/** Of go-plugin itself. */
const CORE_VERSION = 1;

/** Of the interface between Vault and its backends. */
const PROTOCOL_VERSION = "5";

type Environment = Readonly<Record<string, string | undefined>>;

/** Settings of the host, checked. */
export interface HostSettings {
  /** PEM: the only certificate that the host uses, as client and as server. */
  readonly certificate: string;
  /** Where the plugin's socket must be; undefined for the folder of temporary files. */
  readonly socketFolder: string | undefined;
  /** Name or number of the group that may use the socket. */
  readonly socketGroup: string | undefined;
  /** Whether the handshake must say that broker connections are not multiplexed. */
  readonly asksBrokerMultiplexing: boolean;
  /** Empty when the host does not say it. */
  readonly version: string;
  readonly wantsLockedMemory: boolean;
  readonly logLevel: "debug" | "info" | "warn" | "error";
}

/**
 * Throws `invalid` with a hint for the person who reads it when no host started the process, or one
 * that cannot use this plugin.
 */
export function readHostSettings(environment: Environment): HostSettings {
  if (environment[COOKIE_NAME] !== COOKIE_VALUE)
    throw refuse(
      "this program is a plugin of Vault or OpenBao, which start it themselves",
      "register it with `bao plugin register` or `vault plugin register`, see docs/plugin.md",
    );
  const offered = (environment["PLUGIN_PROTOCOL_VERSIONS"] ?? "").split(",");
  if (!offered.includes(PROTOCOL_VERSION))
    throw refuse(
      `the host offers the plugin protocol in version ${offered.join(", ") || "none"}, this plugin speaks ${PROTOCOL_VERSION}`,
      "use OpenBao, or Vault from 1.12 on",
    );
  const certificate = environment["PLUGIN_CLIENT_CERT"] ?? "";
  if (certificate === "" || hostSetting(environment, "PLUGIN_AUTOMTLS_ENABLED") === "false")
    throw refuse(
      "the host offers no certificate for mutual TLS (AutoMTLS)",
      "use OpenBao, or Vault from 1.12 on",
    );
  return {
    certificate,
    socketFolder: environment["PLUGIN_UNIX_SOCKET_DIR"] || undefined,
    socketGroup: environment["PLUGIN_UNIX_SOCKET_GROUP"] || undefined,
    asksBrokerMultiplexing: (environment["PLUGIN_MULTIPLEX_GRPC"] ?? "") !== "",
    version: hostSetting(environment, "VERSION") ?? "",
    wantsLockedMemory: hostSetting(environment, "PLUGIN_MLOCK_ENABLED") === "true",
    logLevel: logLevelOf(hostSetting(environment, "LOG_LEVEL")),
  };
}

/** The first line on standard output, newline included. The certificate is DER. */
export function handshakeLine(
  socket: string,
  certificate: Uint8Array,
  { asksBrokerMultiplexing }: Pick<HostSettings, "asksBrokerMultiplexing">,
): string {
  // Go reads the standard alphabet without padding.
  const encoded = Buffer.from(certificate).toString("base64").replaceAll("=", "");
  const fields = [CORE_VERSION, PROTOCOL_VERSION, "unix", socket, "grpc", encoded];
  return `${[...fields, ...(asksBrokerMultiplexing ? ["false"] : [])].join("|")}\n`;
}

/** OpenBao's spelling wins where both are set. */
function hostSetting(environment: Environment, name: string): string | undefined {
  return environment[`BAO_${name}`] ?? environment[`VAULT_${name}`];
}

/** The host writes only lines of its own level, so it need not get the others. */
function logLevelOf(text: string | undefined): HostSettings["logLevel"] {
  const level = text?.toLowerCase();
  if (level === "trace" || level === "debug") return "debug";
  return level === "warn" || level === "error" ? level : "info";
}

function refuse(problem: string, remedy: string): StewardError {
  return new StewardError("invalid", problem, { rule: "plugin_host", remedy });
}
