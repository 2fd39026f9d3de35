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
  devices.suggest({ nodeId: "nZ", name: "zeta.tail.test", addresses: ["100.64.0.99", "100.90.1.2", "203.0.113.5"] });
  const named = (text: string, collapse = true): string => {
    const host = createEndpointReader().host(text);
    if (host === undefined) throw new Error(`${text} is no host`);
    return nodeName(devices, devices.byAddress(host.address), host, collapse);
  };

  it.each([
    ["100.64.0.7", "alpha"], ["FD7A:115C:A1E0:0:0:0:0:7", "alpha"], ["100.90.1.2", "svc:web"], ["100.64.0.99", "unverified:zeta"], ["203.0.113.5", "unverified:zeta"], ["100.100.1.1", "unknown"],
    ["fd7a:115c:a1e0::dead", "unknown"], ["203.0.113.9", "external"], ["2001:db8::1", "external"], ["10.0.0.1", "external"], ["some-host", "unknown"],
  ])("%s is %s", (address, name) => {
    expect(named(address)).toBe(name);
  });

  it("without a name is the address when externals are not collapsed", () => {
    expect(["203.0.113.9", "100.100.1.1", "100.64.0.7"].map((address) => named(address, false))).toEqual(["203.0.113.9", "100.100.1.1", "alpha"]);
  });

  it("of a device without a host name is what comes closest", () => {
    expect(deviceLabel(device({ nodeId: "n1", hostname: "", name: "x.tail.test" }))).toBe("x");
    expect(deviceLabel(device({ nodeId: "n1", hostname: "", name: "" }))).toBe("n1");
    expect(deviceLabel(device({ nodeId: "", id: "7", hostname: "", name: "" }))).toBe("7");
  });
});

describe("Numbers of transports and ports", () => {
  it.each([[1, "icmp"], [2, "igmp"], [6, "tcp"], [17, "udp"], [47, "gre"], [50, "esp"], [51, "ah"], [58, "ipv6-icmp"], [89, "ospf"], [99, "tsmp"], [132, "sctp"], [255, "255"], [256, "unknown"], [-1, "unknown"], [0, "unknown"], [undefined, "unknown"]])("transport %s is %s", (number, name) => {
    expect(transportName(number)).toBe(name);
  });

  it.each([[6, 443, "https"], [17, 443, "https"], [17, 53, "domain"], [6, 22, "ssh"], [17, 22, undefined], [132, 38_412, "ng-control"], [1, 443, undefined], [6, 0, undefined], [6, 51_514, undefined], [6, 3_389, "ms-wbt-server"]])("port %s/%s is %s", (transport, port, name) => {
    expect(wellKnownService(transport, port)?.name).toBe(name);
  });

  it("services of one name have one number, others have others", () => {
    expect(wellKnownService(6, 8_008)).toEqual(wellKnownService(6, 8_080));
    expect(wellKnownService(6, 80)?.id).not.toBe(wellKnownService(6, 8_080)?.id);
  });
});
