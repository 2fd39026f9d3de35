import { describe, expect, it } from "vitest";
import { createEndpointReader } from "../../../src/monitor/enrich/addresses.ts";
import { createDeviceCache } from "../../../src/monitor/enrich/device-cache.ts";
import { deviceLabel, nodeName } from "../../../src/monitor/enrich/names.ts";
import { transportName } from "../../../src/monitor/enrich/transports.ts";
import { wellKnownService } from "../../../src/monitor/enrich/well-known-services.ts";
import { createManualClock } from "../../kernel/supervisor/manual-clock.ts";
import { alpha, device } from "../flows/fixtures.ts";

describe("The name of an address", () => {
  const devices = createDeviceCache({ clock: createManualClock() });
  void devices.replaceDevices([alpha]);
  devices.replaceServices([{ name: "svc:web", addresses: ["100.90.1.2", "100.64.0.7"] }]);
  devices.suggest({
    nodeId: "nZ",
    name: "zeta.tail.test",
    addresses: ["100.64.0.99", "100.90.1.2", "203.0.113.5"],
  });
  const named = (text: string, collapse = true): string => {
    const host = createEndpointReader().host(text);
    if (host === undefined) throw new Error(`${text} is no host`);
    return nodeName(devices, devices.byAddress(host.address), host, { collapseExternal: collapse });
  };

  it.each([
    ["100.64.0.7", "alpha"],
    ["FD7A:115C:A1E0:0:0:0:0:7", "alpha"],
    ["100.90.1.2", "svc:web"],
    ["100.64.0.99", "unverified:zeta"],
    ["203.0.113.5", "unverified:zeta"],
    ["100.100.1.1", "unknown"],
    ["fd7a:115c:a1e0::dead", "unknown"],
    ["203.0.113.9", "external"],
    ["2001:db8::1", "external"],
    ["10.0.0.1", "external"],
    ["some-host", "unknown"],
  ])("%s is %s", (address, name) => {
    expect(named(address)).toBe(name);
  });

  it("without a name is the address when externals are not collapsed", () => {
    expect(
      ["203.0.113.9", "100.100.1.1", "100.64.0.7"].map((address) => named(address, false)),
    ).toEqual(["203.0.113.9", "100.100.1.1", "alpha"]);
  });

  it("of a device without a host name is what comes closest", () => {
    expect(deviceLabel(device({ nodeId: "n1", hostname: "", name: "x.tail.test" }))).toBe("x");
    expect(deviceLabel(device({ nodeId: "n1", hostname: "", name: "" }))).toBe("n1");
    expect(deviceLabel(device({ nodeId: "", id: "7", hostname: "", name: "" }))).toBe("7");
  });
});

describe("Numbers of transports and ports", () => {
  it.each([
    [1, "icmp"],
    [2, "igmp"],
    [6, "tcp"],
    [17, "udp"],
    [47, "gre"],
    [50, "esp"],
    [51, "ah"],
    [58, "ipv6-icmp"],
    [89, "ospf"],
    [99, "tsmp"],
    [132, "sctp"],
    [255, "255"],
    [256, "unknown"],
    [-1, "unknown"],
    [0, "unknown"],
    [undefined, "unknown"],
  ])("transport %s is %s", (number, name) => {
    expect(transportName(number)).toBe(name);
  });

  it.each([
    [6, 443, "https"],
    [17, 443, "https"],
    [17, 53, "domain"],
    [6, 22, "ssh"],
    [17, 22, "ssh"],
    [132, 38_412, "ng-control"],
    [1, 443, undefined],
    [6, 0, undefined],
    [6, 51_514, undefined],
    [6, 3_389, "ms-wbt-server"],
  ])("port %s/%s is %s", (transport, port, name) => {
    expect(wellKnownService(transport, port)?.name).toBe(name);
  });

  it("names what IANA registers under its own names, for each transport by itself", () => {
    const named =
      (transport: number) =>
      (port: number): string | undefined =>
        wellKnownService(transport, port)?.name;
    expect(
      [80, 631, 623, 3_050, 3_478, 5_349, 6_000, 6_063, 6_443, 9_100, 44_818].map(named(6)),
    ).toEqual([
      "http",
      "ipp",
      "asf-rmcp",
      "gds-db",
      "stun",
      "stuns",
      "x11",
      "x11",
      "sun-sr-https",
      "pdl-datastream",
      "EtherNet-IP-2",
    ]);
    expect([80, 2_375, 4_840, 5_351, 6_379, 8_472, 8_888].map(named(17))).toEqual([
      "http",
      undefined,
      "opcua-udp",
      "nat-pmp",
      undefined,
      "otv",
      "ddi-udp-1",
    ]);
  });

  it("names more than eleven thousand pairs by names as RFC 6335 has them", () => {
    const found = new Map<string, number>();
    let pairs = 0;
    for (const transport of [6, 17, 33, 132]) {
      for (let port = 0; port < 65_536; port++) {
        const service = wellKnownService(transport, port);
        if (service === undefined) continue;
        pairs += 1;
        expect(found.get(service.name) ?? service.id).toBe(service.id);
        found.set(service.name, service.id);
      }
    }
    expect(pairs).toBeGreaterThan(11_400);
    expect([...found.keys()].filter((name) => !/^[A-Za-z0-9-]+$/.test(name))).toEqual([]);
    // Keys of flows hold the number in sixteen bits.
    expect(Math.max(...found.values())).toBeLessThan(65_536);
    expect(new Set(found.values()).size).toBe(found.size);
  });

  it("services of one name have one number, others have others", () => {
    expect(wellKnownService(6, 8_008)).toEqual(wellKnownService(6, 8_080));
    expect(wellKnownService(6, 80)?.id).not.toBe(wellKnownService(6, 8_080)?.id);
  });
});
