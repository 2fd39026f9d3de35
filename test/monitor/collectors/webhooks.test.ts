import { describe, expect, it } from "vitest";
import { webhooks } from "../../../src/monitor/collectors/webhooks.ts";
import type { WebhookEndpoint } from "../../../src/monitor/providers/model.ts";
import { createFakeProvider, failing } from "./fake-provider.ts";
import { networkOptions, openCollector } from "./harness.ts";

const endpoint = (
  id: string,
  subscriptions: readonly string[],
  createdMs?: number,
): WebhookEndpoint => ({ id, provider: "slack", createdMs, subscriptions });
const desiring = (...desiredEvents: string[]) => ({
  collectors: { webhooks: { intervalMs: 60_000, desiredEvents } },
});
/** The events with a count other than 0. */
const counted = (series: readonly string[]): string[] =>
  series.filter((line) => !line.endsWith(" 0"));

describe("The collector of webhook endpoints", () => {
  it("counts an endpoint once for each event and once for all that are unknown, over every event there is", async () => {
    const harness = openCollector(
      webhooks,
      createFakeProvider({
        webhooks: [
          endpoint("w1", ["nodeCreated", "nodeCreated", "brandNew", "newer"]),
          endpoint("w2", ["nodeCreated", "userDeleted"]),
        ],
      }),
    );
    await harness.run();
    const events = harness.series("vpn.webhook_endpoints.event_subscriptions");
    expect(events).toHaveLength(19);
    expect(counted(events)).toEqual([
      'vpn.webhook_endpoints.event_subscriptions{vpn.webhook.event="nodeCreated"} 2',
      'vpn.webhook_endpoints.event_subscriptions{vpn.webhook.event="other"} 1',
      'vpn.webhook_endpoints.event_subscriptions{vpn.webhook.event="userDeleted"} 1',
    ]);
    expect(harness.series("vpn.webhook_endpoints.count")).toEqual([
      "vpn.webhook_endpoints.count 2",
    ]);
    expect(harness.series("vpn.webhook_endpoint.subscriptions")).toEqual([
      'vpn.webhook_endpoint.subscriptions{vpn.webhook_endpoint.id="w1",vpn.webhook_endpoint.provider="slack"} 3',
      'vpn.webhook_endpoint.subscriptions{vpn.webhook_endpoint.id="w2",vpn.webhook_endpoint.provider="slack"} 2',
    ]);
    expect(harness.series("vpn.webhook_endpoints.desired")).toEqual([]);
    expect(harness.records()).toEqual([]);
  });

  it("counts ages, none without a time of creation and 0 for one in the future", async () => {
    const provider = createFakeProvider({});
    const harness = openCollector(webhooks, provider);
    const now = harness.clock.now();
    provider.answers.webhooks = [
      endpoint("w1", [], now - 86_400_000),
      endpoint("w2", [], now + 5_000),
      endpoint("w3", []),
    ];
    await harness.run();
    expect(harness.series("vpn.webhook_endpoint.age")).toEqual([
      "vpn.webhook_endpoint.age n=2 sum=86400",
    ]);
  });

  it("says whether desired events are covered, and warns of those that are not or that do not exist", async () => {
    const harness = openCollector(
      webhooks,
      createFakeProvider({ webhooks: [endpoint("w1", ["nodeCreated"])] }),
      desiring("nodeCreated", "userDeleted", "nodeExploded", "userDeleted"),
    );
    await harness.run();
    expect(harness.series("vpn.webhook_endpoints.event_desired_covered")).toEqual([
      'vpn.webhook_endpoints.event_desired_covered{vpn.webhook.event="nodeCreated"} 1',
      'vpn.webhook_endpoints.event_desired_covered{vpn.webhook.event="userDeleted"} 0',
    ]);
    expect(harness.series("vpn.webhook_endpoints.desired_unrecognized")).toEqual([
      "vpn.webhook_endpoints.desired_unrecognized 1",
    ]);
    expect(harness.records()).toEqual([
      'warn vpn.webhook_endpoints.event_mismatch {"vpn.webhook.event":"other"} desired webhook event "nodeExploded" is not an event that endpoints can subscribe to',
      'warn vpn.webhook_endpoints.event_mismatch {"vpn.webhook.event":"userDeleted"} no webhook endpoint subscribes to userDeleted',
    ]);
  });

  it("says nothing of single endpoints when these are switched off", async () => {
    const perEntity = { ...networkOptions().cardinality.perEntity, webhook: false };
    const harness = openCollector(
      webhooks,
      createFakeProvider({ webhooks: [endpoint("w1", ["nodeCreated"])] }),
      { cardinality: { perEntity } },
    );
    await harness.run();
    expect(harness.series("vpn.webhook_endpoint.subscriptions")).toEqual([]);
    expect(harness.series("vpn.webhook_endpoints.count")).toEqual([
      "vpn.webhook_endpoints.count 1",
    ]);
  });

  it("takes 404 for none, ends what was there, and fails with every other answer", async () => {
    const provider = createFakeProvider({ webhooks: [endpoint("w1", ["nodeCreated"])] });
    const harness = openCollector(webhooks, provider, desiring("userDeleted"));
    await harness.run();
    provider.answers.webhooks = () => {
      throw failing(404);
    };
    await harness.run();
    expect(harness.series()).toEqual(["vpn.webhook_endpoints.count 0"]);
    expect(harness.states.get("listWebhooks")).toBe("disabled");
    provider.answers.webhooks = () => {
      throw failing(403);
    };
    await expect(harness.run()).rejects.toMatchObject({ code: "upstream" });
  });
});
