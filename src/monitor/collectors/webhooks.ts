/**
 * Collector of webhook endpoints configured in the control plane and the events they cover.
 * Steward's own receiver is `vpn.webhook.*`.
 */
import { failureOf } from "../../kernel/client/failure.ts";
import { keyField } from "../../kernel/config/key-group.ts";
import { noBlank } from "../../kernel/config/checks/rules.ts";
import { listOf, string } from "../../kernel/config/values/types.ts";
import { defineOperation } from "../capability/operation.ts";
import { webhookEndpointsEventMismatchRecord } from "../catalogue/records.ts";
import {
  webhookEndpointAge,
  webhookEndpointsCount,
  webhookEndpointsDesiredUnrecognized,
  webhookEndpointsEventDesiredCovered,
  webhookEndpointsEventSubscriptions,
  webhookEndpointSubscriptions,
  webhooksMetrics,
} from "../catalogue/webhooks.ts";
import type { WebhookEndpoint } from "../providers/model.ts";
import { defineCollector } from "./collector.ts";
import type { CollectorDeps, Tick } from "./collector.ts";
import { defineSection } from "./section.ts";
import { secondsSince } from "./units.ts";

/** Events an endpoint can subscribe to. */
const EVENTS: readonly string[] = [
  "nodeCreated",
  "nodeNeedsApproval",
  "nodeApproved",
  "nodeKeyExpiringInOneDay",
  "nodeKeyExpired",
  "nodeDeleted",
  "nodeSigned",
  "nodeNeedsSignature",
  "policyUpdate",
  "userCreated",
  "userNeedsApproval",
  "userSuspended",
  "userRestored",
  "userDeleted",
  "userApproved",
  "userRoleUpdated",
  "subnetIPForwardingNotEnabled",
  "exitNodeIPForwardingNotEnabled",
];
const KNOWN: ReadonlySet<string> = new Set(EVENTS);
const OTHER = "other";

const listWebhooks = defineOperation("listWebhooks");

const section = defineSection("webhooks", {
  collects: "webhook endpoints",
  intervalSeconds: 600,
  fields: {
    desiredEvents: keyField<readonly string[]>({
      type: listOf(string),
      default: [],
      rule: noBlank,
      help: "Events that some endpoint should subscribe to.",
    }),
  },
});

export const webhooks = defineCollector({
  section,
  description: "Webhook endpoints and the events they cover",
  needs: "webhooks",
  scopes: [["webhooks:read"]],
  operations: [listWebhooks],
  emits: webhooksMetrics,
  records: [webhookEndpointsEventMismatchRecord],
  open: (deps, { desiredEvents }) => {
    const desired = [...new Set(desiredEvents)];
    return async (tick) => {
      const endpoints = await list(deps, tick);
      tick.sweep.gauge(webhookEndpointsCount, endpoints?.length ?? 0, {});
      if (endpoints !== undefined) show(endpoints, desired, deps, tick);
    };
  },
});

/** Undefined where the control plane has no webhooks. */
async function list(
  { provider }: CollectorDeps,
  tick: Tick,
): Promise<readonly WebhookEndpoint[] | undefined> {
  try {
    return await tick.call(listWebhooks, () => provider.webhooks(tick.signal));
  } catch (error) {
    if (failureOf(error)?.status === 404) return undefined;
    throw error;
  }
}

function show(
  endpoints: readonly WebhookEndpoint[],
  desired: readonly string[],
  deps: CollectorDeps,
  tick: Tick,
): void {
  const subscribed = countSubscriptions(endpoints);
  for (const [event, count] of subscribed)
    tick.sweep.gauge(webhookEndpointsEventSubscriptions, count, { "vpn.webhook.event": event });
  for (const endpoint of endpoints) showEndpoint(endpoint, deps, tick);
  if (desired.length > 0) showDesired(desired, subscribed, deps, tick);
}

/** Endpoints per event. Duplicate or multiple unknown subscriptions of an endpoint count once. */
function countSubscriptions(endpoints: readonly WebhookEndpoint[]): ReadonlyMap<string, number> {
  const counts = new Map([...EVENTS, OTHER].map((event) => [event, 0]));
  for (const { subscriptions } of endpoints) {
    for (const event of new Set(subscriptions.map((name) => (KNOWN.has(name) ? name : OTHER))))
      counts.set(event, (counts.get(event) ?? 0) + 1);
  }
  return counts;
}

function showEndpoint(
  { id, provider, createdMs, subscriptions }: WebhookEndpoint,
  { options, scope }: CollectorDeps,
  { sweep, nowMs }: Tick,
): void {
  if (createdMs !== undefined) scope.record(webhookEndpointAge, secondsSince(createdMs, nowMs), {});
  if (!options.cardinality.perEntity.webhook) return;
  sweep.gauge(webhookEndpointSubscriptions, new Set(subscriptions).size, {
    "vpn.webhook_endpoint.id": id,
    "vpn.webhook_endpoint.provider": provider,
  });
}

function showDesired(
  desired: readonly string[],
  subscribed: ReadonlyMap<string, number>,
  { scope }: CollectorDeps,
  { sweep }: Tick,
): void {
  const unrecognized = desired.filter((event) => !KNOWN.has(event));
  sweep.gauge(webhookEndpointsDesiredUnrecognized, unrecognized.length, {});
  for (const event of unrecognized)
    scope.log(
      webhookEndpointsEventMismatchRecord,
      `desired webhook event ${JSON.stringify(event)} is not an event that endpoints can subscribe to`,
      { "vpn.webhook.event": OTHER },
    );
  for (const event of desired.filter((name) => KNOWN.has(name))) {
    const covered = (subscribed.get(event) ?? 0) > 0;
    sweep.gauge(webhookEndpointsEventDesiredCovered, Number(covered), {
      "vpn.webhook.event": event,
    });
    if (!covered)
      scope.log(webhookEndpointsEventMismatchRecord, `no webhook endpoint subscribes to ${event}`, {
        "vpn.webhook.event": event,
      });
  }
}
