import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { keys } from "../../../src/monitor/collectors/keys.ts";
import { networkScope } from "../../../src/monitor/network/network-scope.ts";
import type { NetworkOptions, PrivacyCategory } from "../../../src/monitor/options.ts";
import { preAuthKeyOf } from "../../../src/monitor/providers/headscale/decode.ts";
import type { Key } from "../../../src/monitor/providers/model.ts";
import { aKey, DAY_MS, START_MS } from "../collectors/entities.ts";
import { createFakeProvider } from "../collectors/fake-provider.ts";
import { networkOptions, openCollector } from "../collectors/harness.ts";
import { hiding } from "./fixtures.ts";

const { users } = JSON.parse(
  readFileSync(new URL("../providers/samples/user.json", import.meta.url), "utf8"),
) as { users: { id: string; name: string; email: string }[] };

/** A key of each user of the sample, about to expire. */
const headscaleKeys = users.map((user) =>
  preAuthKeyOf(
    { id: `k${user.id}`, user, expiration: new Date(START_MS + DAY_MS).toISOString() },
    START_MS,
  ),
);

/** Series and records of a collector of keys, as a network of this kind exports them. */
async function exported(
  list: readonly Key[],
  kind: NetworkOptions["provider"]["kind"],
  ...hidden: readonly PrivacyCategory[]
): Promise<{ readonly series: string[]; readonly records: string[] }> {
  const options = networkOptions();
  const { redact } = networkScope(
    {
      privacy: hiding(...hidden),
      resource: {},
      several: false,
      selfObservability: { enabled: true, instanceId: "" },
    },
    { ...options, provider: { ...options.provider, kind } as NetworkOptions["provider"] },
    "n",
  );
  const harness = openCollector(keys, createFakeProvider({ keys: [...list] }), { redact });
  await harness.run();
  return { series: harness.series("vpn.key"), records: harness.records() };
}

describe("Owners of keys", () => {
  it("are users' names in Headscale, also in descriptions", async () => {
    const { series, records } = await exported(headscaleKeys, "headscale");
    for (const { name } of users) {
      const labels = `"vpn.key.description":"preauthkey for ${name}"`;
      expect(records.join("\n")).toContain(labels);
      expect(records.join("\n")).toContain(`"vpn.key.owner":"${name}"`);
      expect(series.join("\n")).toContain(`vpn.key.owner="${name}"`);
    }
  });

  it.each(["emails", "user_ids"] as const)(
    "of Headscale and descriptions with them are hidden by %s",
    async (category) => {
      const { series, records } = await exported(headscaleKeys, "headscale", category);
      expect(series.filter((line) => line.startsWith("vpn.key.expiry"))).toEqual(
        users.map(
          ({ id }) =>
            `vpn.key.expiry{vpn.key.id="k${id}",vpn.key.type="auth",vpn.key.auth_kind="onetime",vpn.key.description="preauthkey for [redacted]"} ${(START_MS + DAY_MS) / 1_000}`,
        ),
      );
      expect(records).toHaveLength(users.length);
      for (const { name } of users)
        expect([...series, ...records].join("\n")).not.toMatch(new RegExp(`\\b${name}\\b`));
    },
  );

  it("of Tailscale are ids, which only user_ids hides", async () => {
    const key = aKey("k1", {
      description: "ci",
      owner: "uOwner",
      expiresMs: START_MS + DAY_MS,
    });
    const shown = await exported([key], "tailscale", "emails");
    expect(shown.series.join("\n")).toContain('vpn.key.owner="uOwner"');
    const hidden = await exported([key], "tailscale", "user_ids");
    expect([...hidden.series, ...hidden.records].join("\n")).not.toContain("uOwner");
    expect(hidden.series.join("\n")).toContain('vpn.key.description="ci"');
  });
});
