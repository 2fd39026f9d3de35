import { describe, expect, it } from "vitest";
import {
  ipv6Groups,
  ipv6Prefix,
  isOverlayAddress,
  mappedIpv4,
  unmapped,
} from "../../../src/kernel/base/ip-address.ts";

describe("an IPv4 address inside an IPv6 address", () => {
  it.each(["::ffff:192.0.2.7", "::FFFF:192.0.2.7", "::ffff:c000:207", "0:0:0:0:0:ffff:192.0.2.7"])(
    "is found in %s",
    (address) => {
      expect(mappedIpv4(address)).toBe("192.0.2.7");
      expect(unmapped(address)).toBe("192.0.2.7");
    },
  );

  it.each(["192.0.2.7", "::1", "2001:db8::ffff:1", "1::ffff:192.0.2.7", "::ffff:", "", "name"])(
    "is not found in %s",
    (address) => {
      expect(mappedIpv4(address)).toBeUndefined();
      expect(unmapped(address)).toBe(address);
    },
  );
});

it("spells out every group of an IPv6 address, without its zone", () => {
  expect(ipv6Groups("2001:db8::1%eth0")).toEqual([0x2001, 0xdb8, 0, 0, 0, 0, 0, 1]);
  expect(ipv6Groups("::")).toEqual([0, 0, 0, 0, 0, 0, 0, 0]);
  expect(ipv6Groups("64:ff9b::192.0.2.7").slice(-2)).toEqual([0xc000, 0x207]);
});

it("gives one prefix for every spelling of a network", () => {
  expect(ipv6Prefix("2001:0DB8:0:1:aaaa::1")).toBe("2001:db8:0:1");
  expect(ipv6Prefix("2001:db8:0:1::")).toBe("2001:db8:0:1");
});

it("knows the addresses of overlay networks", () => {
  expect(isOverlayAddress("100.64.0.1", "ipv4")).toBe(true);
  expect(isOverlayAddress("100.128.0.1", "ipv4")).toBe(false);
  expect(isOverlayAddress("fd7a:115c:a1e0::1", "ipv6")).toBe(true);
});
