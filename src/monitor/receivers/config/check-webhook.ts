/** Rules over the keys of the webhook receiver and the networks. */
import type { Check } from "../../../kernel/config/load.ts";
import { networks } from "../../config/network-keys.ts";
import { provider } from "../../config/provider-keys.ts";
import {
  checkCredential,
  checkRouting,
  unusedReceiver,
  type ReceiverKeys,
} from "./receiver-checks.ts";
import { webhook, webhookRoutes, webhookSchema } from "./webhook-keys.ts";

const keys: ReceiverKeys = {
  name: "webhook",
  enabled: webhook.enabled,
  listen: webhook.listen,
  credential: webhook.secret,
  member: "secret",
  routes: webhookRoutes,
  schema: webhookSchema,
  single: [webhook.secret],
  missing: "sends no webhooks",
};

/** Off loopback a credential is required, and routes fit the networks. */
export const checkWebhook: Check = {
  needs: [...webhookSchema, networks, provider],
  run(config) {
    if (!config.get(webhook.enabled)) return unusedReceiver(config, keys);
    const routes = config
      .list(webhookRoutes)
      .map(({ network, secret }) => ({ network, credential: secret }));
    return [...checkRouting(config, keys, routes), ...checkCredential(config, keys, routes)];
  },
};
