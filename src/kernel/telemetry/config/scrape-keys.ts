/** Keys of the pull endpoint. */
import { X509Certificate } from "node:crypto";
import type { Secret } from "../../base/secret.ts";
import { formatAddress, isLoopback, type Address } from "../../config/values/address.ts";
import type { Config } from "../../config/config.ts";
import type { Finding } from "../../config/findings.ts";
import { atKey } from "../../config/checks/key-finding.ts";
import { defineKey, type Key, type Schema } from "../../config/key.ts";
import type { Check } from "../../config/load.ts";
import { noBearer } from "../../config/checks/rules.ts";
import { defineTlsFiles } from "../../config/checks/tls-files.ts";
import {
  address,
  boolean,
  duration,
  integer,
  oneOf,
  path,
  secret,
} from "../../config/values/types.ts";

/** How clients of the pull endpoint authenticate with certificates. */
export type ClientAuth = "none" | "request" | "require" | "verify_if_given" | "require_and_verify";

export const scrapeEnabled = defineKey({
  path: "scrape.enabled",
  type: boolean,
  default: false,
  help: "Opens the pull endpoint for metrics, path /metrics.",
});
export const scrapeListen = defineKey({
  path: "scrape.listen",
  type: address,
  default: { host: "", port: 2112 },
  help: "Address of the pull endpoint. Without a host: all interfaces.",
});
export const scrapeToken = defineKey({
  path: "scrape.auth.token",
  type: secret,
  default: undefined,
  secret: true,
  warn: noBearer,
  help: "Bearer token, or password of HTTP Basic, for the pull listener. No other token is accepted there.",
});
export const scrapeAllowUnauthenticated = defineKey({
  path: "scrape.auth.allow_unauthenticated",
  type: boolean,
  default: false,
  help: "Serves metrics without a token, to other machines too.",
});
/** Bounds of `scrape.max_requests_in_flight` while the endpoint is on. */
const IN_FLIGHT = { min: 1, max: 10_000 };
/** Bound of the status field, an int32. */
const INT32 = 2 ** 31;

export const scrapeMaxInFlight = defineKey({
  path: "scrape.max_requests_in_flight",
  // While the endpoint is off, any number is taken: `checkScrape` has the bounds.
  type: { ...integer(-INT32, INT32 - 1), expects: "a whole number" },
  default: 4,
  help: `Maximum concurrent scrapes, from ${IN_FLIGHT.min} to ${IN_FLIGHT.max} while scrape.enabled is true; more are answered 503.`,
});
export const scrapeTimeout = defineKey({
  path: "scrape.timeout",
  type: duration,
  default: 8_000,
  help: "Timeout of a scrape: 503 after it; an answer that has begun is cut. 0 is no limit.",
});
export const scrapeCoalesce = defineKey({
  path: "scrape.coalesce_gather",
  type: boolean,
  default: true,
  help: "Concurrent scrapes share one gathering of the metrics.",
});
export const scrapeTls = defineTlsFiles("scrape.tls", "the pull listener");
export const scrapeClientCa = defineKey({
  path: "scrape.tls.client_ca_file",
  type: path,
  default: "",
  help: "PEM file of the CA certificates that client certificates are verified against.",
});
export const scrapeClientAuth = defineKey<ClientAuth | undefined>({
  path: "scrape.tls.client_auth",
  type: oneOf(["none", "request", "require", "verify_if_given", "require_and_verify"]),
  default: undefined,
  help: "Whether clients must present a certificate. Unset: require_and_verify when client_ca_file is set, else none.",
});

export const scrapeKeys: Schema = [
  scrapeEnabled,
  scrapeListen,
  scrapeToken,
  scrapeAllowUnauthenticated,
  scrapeMaxInFlight,
  scrapeTimeout,
  scrapeCoalesce,
  scrapeTls.certFile,
  scrapeTls.keyFile,
  scrapeClientCa,
  scrapeClientAuth,
];

/** Resolved options. Times in milliseconds. */
export interface ScrapeOptions {
  readonly listen: Address;
  readonly token: Secret | undefined;
  readonly allowUnauthenticated: boolean;
  readonly maxInFlight: number;
  /** 0 is unlimited. */
  readonly timeoutMs: number;
  readonly coalesce: boolean;
  /** Undefined: plain HTTP. An empty `clientCaFile` is unset. */
  readonly tls:
    | {
        readonly certFile: string;
        readonly keyFile: string;
        readonly clientCaFile: string;
        readonly clientAuth: ClientAuth;
      }
    | undefined;
}

/** Undefined while it is off. */
export function scrapeOptions(config: Config): ScrapeOptions | undefined {
  if (!config.get(scrapeEnabled)) return undefined;
  const [certFile, keyFile, clientCaFile] = [
    config.get(scrapeTls.certFile),
    config.get(scrapeTls.keyFile),
    config.get(scrapeClientCa),
  ];
  return {
    listen: config.get(scrapeListen),
    token: config.get(scrapeToken),
    allowUnauthenticated: config.get(scrapeAllowUnauthenticated),
    maxInFlight: config.get(scrapeMaxInFlight),
    timeoutMs: config.get(scrapeTimeout),
    coalesce: config.get(scrapeCoalesce),
    tls:
      certFile === ""
        ? undefined
        : {
            certFile,
            keyFile,
            clientCaFile,
            clientAuth:
              config.get(scrapeClientAuth) ?? (clientCaFile === "" ? "none" : "require_and_verify"),
          },
  };
}

/** Validates an enabled pull endpoint. */
export const checkScrape: Check = {
  needs: [scrapeEnabled, scrapeListen, scrapeMaxInFlight, scrapeToken, scrapeAllowUnauthenticated],
  run(config) {
    if (!config.get(scrapeEnabled)) return [];
    const findings: Finding[] = [];
    const listen = config.get(scrapeListen);
    const inFlight = config.get(scrapeMaxInFlight);
    if (inFlight < IN_FLIGHT.min || inFlight > IN_FLIGHT.max)
      findings.push(
        atKey(config, scrapeMaxInFlight, "error", {
          rule: `must be from ${IN_FLIGHT.min} to ${IN_FLIGHT.max} while scrape.enabled is true`,
          remedy: "write 4.",
        }),
      );
    if (
      !isLoopback(listen.host) &&
      config.get(scrapeToken) === undefined &&
      !config.get(scrapeAllowUnauthenticated)
    ) {
      findings.push(
        atKey(config, scrapeListen, "warning", {
          rule: `${formatAddress(listen)} can be reached from other machines and every pull is answered 403: there is no scrape.auth.token`,
          remedy: "set STEWARD_SCRAPE__AUTH__TOKEN_FILE, or listen on 127.0.0.1.",
        }),
      );
    }
    return findings;
  },
};

/** Client certificates require TLS, and verifying them requires a CA file. */
export const scrapeClientCertificates: Check = {
  needs: [scrapeClientCa, scrapeClientAuth, scrapeTls.certFile, scrapeTls.keyFile],
  run(config, _environment, readFile) {
    const ca = config.get(scrapeClientCa);
    const mode = config.get(scrapeClientAuth);
    const hasTls = config.get(scrapeTls.certFile) !== "" && config.get(scrapeTls.keyFile) !== "";
    const fail = (
      key: Key<string> | Key<ClientAuth | undefined>,
      rule: string,
      remedy: string,
    ): Finding[] => [atKey(config, key, "error", { rule, remedy })];
    if ((mode === "verify_if_given" || mode === "require_and_verify") && ca === "")
      return fail(
        scrapeClientAuth,
        `${mode} needs scrape.tls.client_ca_file`,
        "name the file of the authority.",
      );
    if (!hasTls && ca !== "")
      return fail(
        scrapeClientCa,
        "needs scrape.tls.cert_file and scrape.tls.key_file",
        "set them too.",
      );
    if (!hasTls && mode !== undefined && mode !== "none")
      return fail(
        scrapeClientAuth,
        `${mode} needs scrape.tls.cert_file and scrape.tls.key_file`,
        "set them too.",
      );
    return ca === "" || holdsCertificate(ca, readFile)
      ? []
      : fail(scrapeClientCa, `${ca} holds no PEM certificate that can be read`, "name a PEM file.");
  },
};

function holdsCertificate(file: string, readFile: (path: string) => string): boolean {
  try {
    return new X509Certificate(readFile(file)).subject !== undefined;
  } catch {
    return false;
  }
}
