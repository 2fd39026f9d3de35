/** Keys of the webhook receiver: `webhook.*`. */
import type { Secret } from "../../../kernel/base/secret.ts";
import type { Address } from "../../../kernel/config/values/address.ts";
import type { Config } from "../../../kernel/config/config.ts";
import type { Complaint } from "../../../kernel/config/findings.ts";
import { guessable } from "../../../kernel/config/checks/rules.ts";
import { defineTlsFiles } from "../../../kernel/config/checks/tls-files.ts";
import { defineKeyGroup, keysOf } from "../../../kernel/config/key-group.ts";
import { defineKey, type Schema } from "../../../kernel/config/key.ts";
import { listOfObjects } from "../../../kernel/config/values/objects.ts";
import { address, boolean, duration, secret, string } from "../../../kernel/config/values/types.ts";
import { sendSecret } from "../../../kernel/threads/secrets.ts";
import type { WebhookOptions } from "../options.ts";
import {
  bodyLimit,
  concurrencyLimit,
  MAX_ROUTES,
  receiverPath,
  resolveBodyLimit,
  resolveConcurrency,
} from "./shared-keys.ts";

interface WebhookSection {
  readonly enabled: boolean;
  readonly listen: Address;
  readonly path: string;
  readonly secret: Secret | undefined;
  readonly toleranceMs: number;
  readonly maxBodyBytes: number;
  readonly maxConcurrentRequests: number;
  readonly dedupAuditEvents: boolean;
}

/** A route as written. */
interface WebhookRouteSection {
  readonly network: string;
  readonly secret: Secret | undefined;
}

const DEFAULT_BODY_BYTES = 1_048_576;

export const webhook = defineKeyGroup<WebhookSection>("webhook", {
  enabled: {
    type: boolean,
    default: false,
    help: "Receives the webhook events of the control plane.",
  },
  listen: {
    type: address,
    default: { host: "", port: 8089 },
    help: "Address of the webhook receiver. An address other than loopback needs a secret.",
  },
  path: {
    type: string,
    default: "/tailscale/webhook",
    rule: receiverPath,
    help: "The one path that is served.",
  },
  secret: {
    type: secret,
    default: undefined,
    secret: true,
    warn: guessable,
    help: "Secret of the webhook endpoint, with which the control plane signs.",
  },
  toleranceMs: {
    type: duration,
    default: 300_000,
    help: "Longest difference between the time of a signature and now. 0 accepts any time.",
  },
  maxBodyBytes: bodyLimit(
    DEFAULT_BODY_BYTES,
    "Maximum size of a body, which is read before its signature can be verified",
  ),
  maxConcurrentRequests: concurrencyLimit,
  dedupAuditEvents: {
    type: boolean,
    default: false,
    help: "Counts the audit event and the webhook event of one creation, approval or deletion of a node or user once: whichever comes first.",
  },
});

export const webhookTls = defineTlsFiles("webhook.tls", "webhook.listen");

export const webhookRoutes = defineKey({
  path: "webhook.routes",
  default: [],
  rule: networksDiffer,
  type: listOfObjects<WebhookRouteSection>({
    limit: MAX_ROUTES,
    fields: {
      network: { type: string, help: "Name of one of networks." },
      secret: { type: secret, optional: true, secret: true, help: "The network's own secret." },
    },
  }),
  help: "A secret for each of several networks, instead of webhook.secret. Events name their network.",
});

export const webhookSchema: Schema = [
  ...keysOf(webhook),
  webhookTls.certFile,
  webhookTls.keyFile,
  webhookRoutes,
];

/** Undefined while the receiver is off. */
export function webhookOptions(config: Config): WebhookOptions | undefined {
  if (!config.get(webhook.enabled)) return undefined;
  const routes = config.list(webhookRoutes);
  const certFile = config.get(webhookTls.certFile);
  return {
    listen: config.get(webhook.listen),
    tls: certFile === "" ? undefined : { certFile, keyFile: config.get(webhookTls.keyFile) },
    path: config.get(webhook.path),
    toleranceMs: config.get(webhook.toleranceMs),
    dedupAuditEvents: config.get(webhook.dedupAuditEvents),
    maxBodyBytes: resolveBodyLimit(config.get(webhook.maxBodyBytes), DEFAULT_BODY_BYTES),
    maxConcurrentRequests: resolveConcurrency(config.get(webhook.maxConcurrentRequests)),
    routes: (routes.length === 0
      ? [{ network: undefined, secret: config.get(webhook.secret) }]
      : routes
    ).map((route) => ({
      network: route.network,
      secret: route.secret === undefined ? undefined : sendSecret(route.secret),
    })),
  };
}

function networksDiffer(routes: readonly WebhookRouteSection[]): Complaint | undefined {
  const names = routes.map(({ network }) => network);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  return twice === undefined
    ? undefined
    : {
        rule: `must have different networks, ${JSON.stringify(twice)} is there twice`,
        remedy: "give each network one route.",
      };
}
