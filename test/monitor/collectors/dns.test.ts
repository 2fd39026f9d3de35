import { describe, expect, it } from "vitest";
import { dns } from "../../../src/monitor/collectors/dns.ts";
import type { Dns } from "../../../src/monitor/providers/model.ts";
import { createFakeProvider, failing } from "./fake-provider.ts";
import { openCollector } from "./harness.ts";

const told: Dns = {
  nameservers: [
    { address: "9.9.9.9", useWithExitNode: true },
    { address: "1.1.1.1", useWithExitNode: false },
  ],
  splitZones: new Map([
    ["corp.test", [{ address: "10.20.0.53", useWithExitNode: true }]],
    ["old.test", []],
  ]),
  searchPaths: ["corp.test", "lab.test"],
  overrideLocal: true,
  magicDns: false,
};

describe("The collector of name resolution", () => {
  it("counts resolvers, zones and paths, and shows each of them; a zone without a resolver has an empty address", async () => {
    const harness = openCollector(dns, createFakeProvider({ dns: told }));
    await harness.run();
    expect(harness.series()).toEqual([
      "vpn.dns.magic_dns 0",
      "vpn.dns.nameservers.count 2",
      "vpn.dns.override_local 1",
      "vpn.dns.resolvers.use_with_exit_node 2",
      'vpn.dns.resolver{vpn.dns.resolver.address="",vpn.dns.resolver.kind="split",vpn.dns.resolver.domain="old.test",vpn.dns.resolver.use_with_exit_node="false"} 1',
      'vpn.dns.resolver{vpn.dns.resolver.address="1.1.1.1",vpn.dns.resolver.kind="global",vpn.dns.resolver.domain="",vpn.dns.resolver.use_with_exit_node="false"} 1',
      'vpn.dns.resolver{vpn.dns.resolver.address="10.20.0.53",vpn.dns.resolver.kind="split",vpn.dns.resolver.domain="corp.test",vpn.dns.resolver.use_with_exit_node="true"} 1',
      'vpn.dns.resolver{vpn.dns.resolver.address="9.9.9.9",vpn.dns.resolver.kind="global",vpn.dns.resolver.domain="",vpn.dns.resolver.use_with_exit_node="true"} 1',
      "vpn.dns.search_paths.count 2",
      'vpn.dns.search_path{vpn.dns.search_path.domain="corp.test"} 1',
      'vpn.dns.search_path{vpn.dns.search_path.domain="lab.test"} 1',
      "vpn.dns.split_zones.count 2",
    ]);
  });

  it("ends resolvers and paths that are gone", async () => {
    const provider = createFakeProvider({ dns: told });
    const harness = openCollector(dns, provider);
    await harness.run();
    provider.answers.dns = {
      nameservers: [],
      splitZones: new Map(),
      searchPaths: [],
      overrideLocal: false,
      magicDns: true,
    };
    await harness.run();
    expect(harness.series()).toEqual([
      "vpn.dns.magic_dns 1",
      "vpn.dns.nameservers.count 0",
      "vpn.dns.override_local 0",
      "vpn.dns.resolvers.use_with_exit_node 0",
      "vpn.dns.search_paths.count 0",
      "vpn.dns.split_zones.count 0",
    ]);
  });

  it("fails with its call", async () => {
    const harness = openCollector(
      dns,
      createFakeProvider({
        dns: () => {
          throw failing(401);
        },
      }),
    );
    await expect(harness.run()).rejects.toMatchObject({ code: "upstream" });
    expect(harness.states.get("getDnsConfiguration")).toBe("credential_rejected");
  });
});
