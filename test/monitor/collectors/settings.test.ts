import { describe, expect, it } from "vitest";
import { settings } from "../../../src/monitor/collectors/settings.ts";
import { createFakeProvider, failing } from "./fake-provider.ts";
import { openCollector } from "./harness.ts";

const nothingTold = {
  switches: new Map(),
  externalLinkSet: undefined,
  keyDurationDays: undefined,
  externalNetworksRole: undefined,
};

describe("The collector of settings", () => {
  it("shows every switch that was told, the link, the lifetime of keys and the role", async () => {
    const harness = openCollector(
      settings,
      createFakeProvider({
        settings: {
          switches: new Map([
            ["devices_approval", true],
            ["https_enabled", false],
          ]),
          externalLinkSet: true,
          keyDurationDays: 180,
          externalNetworksRole: "admin",
        },
      }),
    );
    await harness.run();
    expect(harness.series()).toEqual([
      "vpn.setting.devices_key_duration 180",
      'vpn.setting.enabled{vpn.setting.name="acls_external_link_set"} 1',
      'vpn.setting.enabled{vpn.setting.name="devices_approval"} 1',
      'vpn.setting.enabled{vpn.setting.name="https_enabled"} 0',
      'vpn.setting.users_external_networks_role{vpn.setting.role="admin"} 1',
    ]);
    expect(harness.states.get("getTailnetSettings")).toBe("supported");
  });

  it("says nothing of what was not told, and takes back what is not told any more", async () => {
    const provider = createFakeProvider({
      settings: {
        ...nothingTold,
        switches: new Map([["devices_approval", true]]),
        externalLinkSet: false,
      },
    });
    const harness = openCollector(settings, provider);
    await harness.run();
    expect(harness.series()).toEqual([
      'vpn.setting.enabled{vpn.setting.name="acls_external_link_set"} 0',
      'vpn.setting.enabled{vpn.setting.name="devices_approval"} 1',
    ]);
    provider.answers.settings = nothingTold;
    await harness.run();
    expect(harness.series()).toEqual([]);
  });

  it("fails with its call and keeps what it said", async () => {
    const provider = createFakeProvider({ settings: { ...nothingTold, keyDurationDays: 90 } });
    const harness = openCollector(settings, provider);
    await harness.run();
    provider.answers.settings = () => {
      throw failing(403);
    };
    await expect(harness.run()).rejects.toMatchObject({ code: "upstream" });
    expect(harness.states.get("getTailnetSettings")).toBe("scope_denied");
    expect(harness.series()).toEqual(["vpn.setting.devices_key_duration 90"]);
  });
});
