import { describe, expect, it } from "vitest";
import { usersAge, usersCount } from "../../../src/monitor/catalogue/users.ts";
import { defineOperation } from "../../../src/monitor/capability/operation.ts";
import { defineCollector } from "../../../src/monitor/collectors/collector.ts";
import type { Collector } from "../../../src/monitor/collectors/collector.ts";
import { defineSection } from "../../../src/monitor/collectors/section.ts";
import { createFakeProvider, failing } from "./fake-provider.ts";
import { openCollector } from "./harness.ts";

const listServices = defineOperation("listServices");

/** Counts services by name, as users of a role. */
const counting: Collector = defineCollector({
  section: defineSection("users", { collects: "users", intervalSeconds: 60 }),
  name: "counting",
  description: "Counts.",
  operations: [listServices],
  emits: [usersCount],
  open:
    ({ provider, scope }) =>
    async (tick) => {
      for (const { name } of await tick.call(listServices, () => provider.services(tick.signal)))
        tick.sweep.gauge(usersCount, 1, {
          "vpn.user.role": name,
          "vpn.user.status": undefined,
          "vpn.user.type": "it",
        });
      if (provider.kind === "headscale") scope.record(usersAge, 60, {});
    },
});

const service = (name: string) => ({ name, addresses: [], ports: [], tags: [] });

describe("The harness of collectors", () => {
  it("shows what a run said, ends what was not said again and keeps all of it when a run fails", async () => {
    const provider = createFakeProvider({ services: [service("b"), service("a")] });
    const harness = openCollector(counting, provider);
    await harness.run();
    expect(harness.series()).toEqual([
      'vpn.users.count{vpn.user.role="a",vpn.user.type="it"} 1',
      'vpn.users.count{vpn.user.role="b",vpn.user.type="it"} 1',
    ]);
    provider.answers.services = () => {
      throw failing(403);
    };
    await expect(harness.run()).rejects.toMatchObject({ code: "upstream" });
    expect(harness.states.get("listServices")).toBe("scope_denied");
    expect(harness.series()).toHaveLength(2);
    provider.answers.services = [service("a")];
    await harness.run();
    expect(harness.series("vpn.users")).toEqual([
      'vpn.users.count{vpn.user.role="a",vpn.user.type="it"} 1',
    ]);
    expect(provider.calls).toEqual(["services", "services", "services"]);
  });

  it("refuses what the collector does not declare", async () => {
    const harness = openCollector(
      counting,
      createFakeProvider({ services: [] }, { kind: "headscale" }),
    );
    await expect(harness.run()).rejects.toThrow("vpn.users.age was emitted and is not declared");
    expect(harness.series()).toEqual(["vpn.users.age n=1 sum=60"]);
  });
});
