import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { addressCategory } from "../../../src/monitor/privacy/address-class.ts";
import type { AddressCategory } from "../../../src/monitor/privacy/address-class.ts";

const edges: readonly (readonly [AddressCategory, readonly string[]])[] = [
  [
    "vpn_ips",
    [
      "100.64.0.0",
      "100.127.255.255",
      "fd7a:115c:a1e0::",
      "fd7a:115c:a1e0:ffff:ffff:ffff:ffff:ffff",
    ],
  ],
  [
    "internal_ips",
    [
      "127.0.0.0",
      "127.255.255.255",
      "169.254.0.0",
      "169.254.255.255",
      "10.0.0.0",
      "10.255.255.255",
      "172.16.0.0",
      "172.31.255.255",
      "192.168.0.0",
      "192.168.255.255",
      "::1",
      "fe80::",
      "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
      "fc00::",
      "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
      "fd7a:115c:a1df:ffff:ffff:ffff:ffff:ffff",
      "fd7a:115c:a1e1::",
    ],
  ],
  [
    "external_ips",
    [
      "100.63.255.255",
      "100.128.0.0",
      "126.255.255.255",
      "128.0.0.0",
      "169.253.255.255",
      "169.255.0.0",
      "9.255.255.255",
      "11.0.0.0",
      "172.15.255.255",
      "172.32.0.0",
      "192.167.255.255",
      "192.169.0.0",
      "0.0.0.0",
      "255.255.255.255",
      "::",
      "::2",
      "fe7f:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
      "fec0::",
      "fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
      "fe00::",
      "2001:db8::1",
    ],
  ],
];
const all = edges.flatMap(([category, addresses]) =>
  addresses.map((address) => [address, category] as const),
);
const port = fc.nat(65_535);

describe("The category of an address", () => {
  it.each(all)("%s is one of %s", (address, category) => {
    expect(addressCategory(address)).toBe(category);
  });

  it("is the same with a port, in upper case, and with space around it", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...all),
        port,
        fc.constantFrom("", " ", "\t", "\n"),
        ([address, category], number, space) => {
          const withPort = address.includes(":")
            ? `[${address}]:${number}`
            : `${address}:${number}`;
          for (const text of [address, address.toUpperCase(), withPort])
            expect(addressCategory(`${space}${text}${space}`)).toBe(category);
        },
      ),
    );
  });

  it("is that of the IPv4 address which an IPv6 address holds", () => {
    for (const [address, category] of all.filter(([each]) => !each.includes(":"))) {
      const hex = address.split(".").map((part) => Number(part).toString(16).padStart(2, "0"));
      const mapped = `::ffff:${hex[0]}${hex[1]}:${hex[2]}${hex[3]}`;
      expect([`::ffff:${address}`, mapped, `[${mapped}]:80`].map(addressCategory)).toEqual([
        category,
        category,
        category,
      ]);
    }
  });

  it("does not depend on a zone", () => {
    expect(["fe80::1%eth0", "[fe80::1%eth0]:53", "[::1]"].map(addressCategory)).toEqual([
      "internal_ips",
      "internal_ips",
      "internal_ips",
    ]);
  });

  it.each([
    "",
    ".",
    ":",
    "web-01",
    "web-01:80",
    "10.0.0.0/8",
    "10.0.0",
    "10.0.0.256",
    "1.86.2",
    "[10.0.0.1",
    "10.0.0.1:port",
    "https://9.9.9.9/dns",
    "unverified:10.0.0.1",
    `${" ".repeat(200)}10.0.0.1`,
  ])("is not known of %j", (text) => {
    expect(addressCategory(text)).toBeUndefined();
  });

  it("is known of every address there is", () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.ipV4(), fc.ipV6()),
        (address) => addressCategory(address) !== undefined,
      ),
    );
  });
});
