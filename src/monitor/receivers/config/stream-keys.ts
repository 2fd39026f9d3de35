/** Keys of the streaming receiver: `streaming.*`. */
import { isIPv4 } from "node:net";
import type { Secret } from "../../../kernel/base/secret.ts";
import type { Address } from "../../../kernel/config/values/address.ts";
import type { Config } from "../../../kernel/config/config.ts";
import type { Complaint } from "../../../kernel/config/findings.ts";
import { baseUrl, weakToken } from "../../../kernel/config/checks/rules.ts";
import { defineTlsFiles } from "../../../kernel/config/checks/tls-files.ts";
import { defineKeyGroup, keysOf } from "../../../kernel/config/key-group.ts";
import { defineKey, type Schema } from "../../../kernel/config/key.ts";
import { listOfObjects } from "../../../kernel/config/values/objects.ts";
import { address, boolean, oneOf, secret, string } from "../../../kernel/config/values/types.ts";
import { sendSecret } from "../../../kernel/threads/secrets.ts";
import type { Decompression, StreamOptions } from "../options.ts";
import {
  bodyLimit,
  concurrencyLimit,
  MAX_ROUTES,
  receiverPath,
  resolveBodyLimit,
  resolveConcurrency,
} from "./shared-keys.ts";

interface StreamSection {
  readonly enabled: boolean;
  readonly listen: Address;
  readonly path: string;
  readonly token: Secret | undefined;
  readonly decompress: Decompression;
  readonly maxBodyBytes: number;
  readonly maxConcurrentRequests: number;
  readonly publicUrl: string;
  readonly autoConfigure: boolean;
}

/** A route as written. */
export interface StreamRouteSection {
  readonly network: string;
  readonly path: string;
  readonly token: Secret | undefined;
  readonly publicUrl: string;
  readonly autoConfigure: boolean;
}

const DEFAULT_BODY_BYTES = 67_108_864;

const PUBLIC_URL = "Address at which the control plane reaches the receiver, with its path.";
const AUTO_CONFIGURE =
  "Compares the control plane's log streams with the public address at each run of the logstream collector, and logs what to set. Steward has read scopes only and changes nothing.";

export const streaming = defineKeyGroup<StreamSection>("streaming", {
  enabled: {
    type: boolean,
    default: false,
    help: "Receives flow and audit logs that the control plane streams, in the format of Splunk's HTTP event collector.",
  },
  listen: {
    type: address,
    default: { host: "", port: 8088 },
    help: "Address of the streaming receiver. An address other than loopback needs a token.",
  },
  path: {
    type: string,
    default: "/services/collector/event",
    rule: receiverPath,
    help: "The one path that is served, for a single network.",
  },
  token: {
    type: secret,
    default: undefined,
    secret: true,
    warn: weakToken,
    help: "Password of HTTP Basic with any user name, or token of the scheme Splunk.",
  },
  decompress: {
    type: oneOf(["auto", "gzip", "zstd", "none"]),
    default: "auto",
    help: "How bodies are compressed; auto follows Content-Encoding.",
  },
  maxBodyBytes: bodyLimit(DEFAULT_BODY_BYTES, "Maximum size of a body after decompression"),
  maxConcurrentRequests: concurrencyLimit,
  publicUrl: { type: string, default: "", rule: publicUrlRule, help: PUBLIC_URL },
  autoConfigure: { type: boolean, default: false, help: AUTO_CONFIGURE },
});

export const streamingTls = defineTlsFiles("streaming.tls", "streaming.listen");

export const streamingRoutes = defineKey({
  path: "streaming.routes",
  default: [],
  rule: routesDiffer,
  type: listOfObjects<StreamRouteSection>({
    limit: MAX_ROUTES,
    fields: {
      network: { type: string, help: "Name of one of networks." },
      path: { type: string, rule: receiverPath, help: "The network's own path." },
      token: { type: secret, optional: true, secret: true, help: "The network's own token." },
      publicUrl: { type: string, default: "", rule: publicUrlRule, help: PUBLIC_URL },
      autoConfigure: { type: boolean, default: false, help: AUTO_CONFIGURE },
    },
  }),
  help: "A path for each of several networks, instead of streaming.path and streaming.token.",
});

export const streamingSchema: Schema = [
  ...keysOf(streaming),
  streamingTls.certFile,
  streamingTls.keyFile,
  streamingRoutes,
];

/** Undefined while the receiver is off. */
export function streamOptions(config: Config): StreamOptions | undefined {
  if (!config.get(streaming.enabled)) return undefined;
  const routes = config.list(streamingRoutes);
  const certFile = config.get(streamingTls.certFile);
  return {
    listen: config.get(streaming.listen),
    tls: certFile === "" ? undefined : { certFile, keyFile: config.get(streamingTls.keyFile) },
    decompress: config.get(streaming.decompress),
    maxBodyBytes: resolveBodyLimit(config.get(streaming.maxBodyBytes), DEFAULT_BODY_BYTES),
    maxConcurrentRequests: resolveConcurrency(config.get(streaming.maxConcurrentRequests)),
    routes: (routes.length === 0
      ? [
          {
            path: config.get(streaming.path),
            network: undefined,
            token: config.get(streaming.token),
          },
        ]
      : routes
    ).map(({ path, network, token }) => ({
      path,
      network,
      token: token === undefined ? undefined : sendSecret(token),
    })),
  };
}

/** Where the streams of a network should go; undefined where that is not to be checked. */
export function streamTarget(config: Config, network: string): string | undefined {
  if (!config.get(streaming.enabled)) return undefined;
  const route = config.list(streamingRoutes).find((each) => each.network === network);
  const { publicUrl, autoConfigure } = route ?? {
    publicUrl: config.get(streaming.publicUrl),
    autoConfigure: config.get(streaming.autoConfigure),
  };
  return autoConfigure && publicUrl !== "" ? publicUrl : undefined;
}

/** What Tailscale accepts as the address of a destination. */
function publicUrlRule(text: string): Complaint | undefined {
  if (text === "") return undefined;
  const { protocol, hostname } = URL.canParse(text) ? new URL(text) : {};
  return protocol === "http:" && isIPv4(hostname ?? "")
    ? {
        rule: "must be https, or http with a host name or an IPv6 address: the control plane refuses http to an IPv4 address",
        remedy: "use a name of this machine in the network.",
      }
    : baseUrl(text);
}

function routesDiffer(routes: readonly StreamRouteSection[]): Complaint | undefined {
  for (const field of ["network", "path"] as const) {
    const values = routes.map((route) => route[field]);
    const twice = values.find((value, index) => values.indexOf(value) !== index);
    if (twice !== undefined)
      return {
        rule: `must have different values of ${field}, ${JSON.stringify(twice)} is there twice`,
        remedy: "give each network one route with a path of its own.",
      };
  }
  return undefined;
}
