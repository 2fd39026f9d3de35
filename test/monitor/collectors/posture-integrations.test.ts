import { describe, expect, it } from "vitest";
import { postureIntegrations } from "../../../src/monitor/collectors/posture-integrations.ts";
import type { PostureIntegration } from "../../../src/monitor/providers/model.ts";
import { createFakeProvider, failing } from "./fake-provider.ts";
import { openCollector } from "./harness.ts";

const integration: PostureIntegration = {
  id: "p1",
  provider: "intune",
  lastSyncMs: 1_700_000_000_900,
  error: "",
  matched: 31,
  possibleMatched: 35,
  providerHosts: 40,
};

describe("The collector of posture integrations", () => {
  it("shows the last synchronisation of each", async () => {
    const harness = openCollector(
      postureIntegrations,
      createFakeProvider({
        postureIntegrations: [
          integration,
          { ...integration, id: "p2", lastSyncMs: undefined, error: "denied" },
        ],
      }),
    );
    await harness.run();
    const [first, second] = ["p1", "p2"].map(
      (id) => `{vpn.posture.provider="intune",vpn.posture.integration="${id}"}`,
    );
    expect(harness.series()).toEqual([
      `vpn.posture_integration.error${first} 0`,
      `vpn.posture_integration.error${second} 1`,
      `vpn.posture_integration.last_sync${first} 1700000000`,
      `vpn.posture_integration.matched${first} 31`,
      `vpn.posture_integration.matched${second} 31`,
      `vpn.posture_integration.possible_matched${first} 35`,
      `vpn.posture_integration.possible_matched${second} 35`,
      `vpn.posture_integration.provider_hosts${first} 40`,
      `vpn.posture_integration.provider_hosts${second} 40`,
      "vpn.posture_integrations.count 2",
    ]);
  });

  it("takes 404 for none, ends what was there, and fails with every other answer", async () => {
    const provider = createFakeProvider({ postureIntegrations: [integration] });
    const harness = openCollector(postureIntegrations, provider);
    await harness.run();
    provider.answers.postureIntegrations = () => {
      throw failing(404);
    };
    await harness.run();
    expect(harness.series()).toEqual(["vpn.posture_integrations.count 0"]);
    expect(harness.states.get("getPostureIntegrations")).toBe("disabled");
    provider.answers.postureIntegrations = () => {
      throw failing(503);
    };
    await expect(harness.run()).rejects.toMatchObject({ code: "upstream" });
    expect(harness.series()).toEqual(["vpn.posture_integrations.count 0"]);
  });
});
