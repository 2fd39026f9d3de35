import { describe, expect, it } from "vitest";
import {
  clientAddress,
  countedAddress,
  createTrustedProxies,
  isForwarded,
} from "../../../gateway/access/client-address.ts";

const proxies = createTrustedProxies(["127.0.0.1", "10.0.0.0/8", "fd00::/8"]);
const nobody = createTrustedProxies([]);

describe("the address of a client", () => {
  it.each([
    [
      "is the other end where no proxy is trusted",
      nobody,
      "127.0.0.1",
      { "x-forwarded-for": "192.0.2.1" },
      "127.0.0.1",
    ],
    [
      "is the other end where that is no trusted proxy",
      proxies,
      "203.0.113.9",
      { "x-forwarded-for": "192.0.2.1", forwarded: "for=192.0.2.1" },
      "203.0.113.9",
    ],
    [
      "is what a trusted proxy says",
      proxies,
      "127.0.0.1",
      { "x-forwarded-for": "192.0.2.1" },
      "192.0.2.1",
    ],
    [
      "is the last one that is no trusted proxy",
      proxies,
      "10.1.1.1",
      { "x-forwarded-for": "198.51.100.7, 192.0.2.1, 10.2.2.2" },
      "192.0.2.1",
    ],
    [
      "is the first one of a chain of trusted proxies",
      proxies,
      "10.1.1.1",
      { "x-forwarded-for": "10.3.3.3, 10.2.2.2" },
      "10.3.3.3",
    ],
    ["is the proxy's where it says nothing", proxies, "10.1.1.1", {}, "10.1.1.1"],
    [
      "is that of the last believed hop where a part is no address",
      proxies,
      "10.1.1.1",
      { "x-forwarded-for": "192.0.2.1, unknown, 10.2.2.2" },
      "10.2.2.2",
    ],
    ["has no port", proxies, "10.1.1.1", { "x-forwarded-for": "192.0.2.1:4711" }, "192.0.2.1"],
    [
      "has no brackets",
      proxies,
      "10.1.1.1",
      { "x-forwarded-for": "[2001:db8::1]:4711" },
      "2001:db8::1",
    ],
    [
      "is an IPv4 one in an IPv6 socket too",
      proxies,
      "::ffff:10.1.1.1",
      { "x-forwarded-for": "::ffff:192.0.2.1" },
      "192.0.2.1",
    ],
    [
      "is taken from several headers of the name",
      proxies,
      "fd00::1",
      { "x-forwarded-for": ["192.0.2.1", "10.2.2.2"] },
      "192.0.2.1",
    ],
    [
      "is that of Forwarded",
      proxies,
      "10.1.1.1",
      { forwarded: 'for=198.51.100.7;proto=http, by=10.1.1.1;For="[2001:db8::1]:4711"' },
      "2001:db8::1",
    ],
    [
      "is the proxy's where Forwarded hides it",
      proxies,
      "10.1.1.1",
      { forwarded: "for=192.0.2.1, for=_hidden" },
      "10.1.1.1",
    ],
    [
      "comes from X-Forwarded-For where both are sent",
      proxies,
      "10.1.1.1",
      { "x-forwarded-for": "192.0.2.1", forwarded: "for=198.51.100.7" },
      "192.0.2.1",
    ],
  ])("%s", (_name, trusted, peer, headers, expected) => {
    expect(clientAddress(peer, headers, trusted)).toBe(expected);
  });

  it("looks at no more hops than a chain can have", () => {
    const header = ["192.0.2.1", ...Array<string>(40).fill("10.2.2.2")].join(",");
    expect(clientAddress("10.1.1.1", { "x-forwarded-for": header }, proxies)).toBe("10.2.2.2");
  });
});

describe("a forwarded request", () => {
  it.each(["forwarded", "x-forwarded-for", "x-forwarded-proto", "x-real-ip", "via"])(
    "is known by %s",
    (name) => {
      expect(isForwarded({ host: "x", [name]: "y" })).toBe(true);
    },
  );

  it("is no other", () => {
    expect(isForwarded({ host: "x", "x-forward": "y" })).toBe(false);
  });
});

describe("a bound per address", () => {
  it("counts each IPv4 address and each /64 of IPv6", () => {
    const of = (address: string): string | undefined => countedAddress(address, proxies);
    expect(of("192.0.2.1")).toBe("192.0.2.1");
    expect(of("2001:db8::1")).toBe(of("2001:0DB8:0:0:ffff::2"));
    expect(of("2001:db8::1")).not.toBe(of("2001:db8:0:1::1"));
  });

  it.each(["127.0.0.1", "::1", "10.2.2.2", ""])(
    "does not count %j, which many share",
    (address) => {
      expect(countedAddress(address, proxies)).toBeUndefined();
    },
  );
});
