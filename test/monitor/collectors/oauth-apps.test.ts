import { describe, expect, it } from "vitest";
import { oauthApps } from "../../../src/monitor/collectors/oauth-apps.ts";
import type { OAuthApp } from "../../../src/monitor/providers/model.ts";
import { createFakeProvider, failing } from "./fake-provider.ts";
import { openCollector } from "./harness.ts";

const app: OAuthApp = {
  id: "a1",
  name: "prov",
  scopes: ["auth_keys", "dns:read"],
  nodeAttributes: ["custom:site"],
  redirectUris: 2,
  createdMs: undefined,
};
const labels = 'vpn.oauth_app.id="a1",vpn.oauth_app.name="prov"';
const classes = (highest: string): string[] =>
  ["all", "all_read", "none", "read", "write"].map(
    (name) =>
      `vpn.oauth_app.scope_class{${labels},vpn.oauth_app.scope_class="${name}"} ${Number(name === highest)}`,
  );

describe("The collector of OAuth applications", () => {
  it("shows what an application may do, how old it is, and tells its scopes", async () => {
    const provider = createFakeProvider({});
    const harness = openCollector(oauthApps, provider);
    provider.answers.oauthApps = [{ ...app, createdMs: harness.clock.now() - 60_000 }];
    await harness.run();
    expect(harness.series()).toEqual([
      `vpn.oauth_app.node_attributes{${labels}} 1`,
      `vpn.oauth_app.redirect_uris{${labels}} 2`,
      ...classes("write"),
      `vpn.oauth_app.scopes{${labels}} 2`,
      "vpn.oauth_apps.age n=1 sum=60",
      "vpn.oauth_apps.count 1",
    ]);
    expect(harness.records()).toEqual([
      'info vpn.oauth_app.info {"vpn.oauth_app.id":"a1","vpn.oauth_app.name":"prov","vpn.oauth_app.scope_values":"auth_keys,dns:read","vpn.oauth_app.node_attribute_count":"1"} OAuth application a1 (prov) with 1 node attributes, scopes: auth_keys,dns:read',
    ]);
  });

  it("counts only what an application has, and always says its class", async () => {
    const harness = openCollector(
      oauthApps,
      createFakeProvider({
        oauthApps: [{ ...app, scopes: [], nodeAttributes: [], redirectUris: 0 }],
      }),
    );
    await harness.run();
    expect(harness.series()).toEqual([...classes("none"), "vpn.oauth_apps.count 1"]);
  });

  it.each([
    [403, "scope_denied"],
    [404, "disabled"],
  ] as const)("says nothing when the answer is %d", async (status, state) => {
    const provider = createFakeProvider({ oauthApps: [app] });
    const harness = openCollector(oauthApps, provider);
    await harness.run();
    provider.answers.oauthApps = () => {
      throw failing(status);
    };
    await harness.run();
    expect(harness.series()).toEqual([]);
    expect(harness.states.get("listOAuthApps")).toBe(state);
  });

  it("fails with every other answer", async () => {
    const harness = openCollector(
      oauthApps,
      createFakeProvider({
        oauthApps: () => {
          throw failing(500);
        },
      }),
    );
    await expect(harness.run()).rejects.toMatchObject({ code: "upstream" });
  });
});
