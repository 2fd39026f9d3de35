import { isIPv4 } from "node:net";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createEndpointReader } from "../../../src/monitor/enrich/addresses.ts";

const reader = createEndpointReader();

describe("An endpoint", () => {
  it.each([
    ["100.64.0.7:443", { host: { kind: "ipv4", address: "100.64.0.7", overlay: true }, port: 443 }],
    ["100.63.0.7:0", { host: { kind: "ipv4", address: "100.63.0.7", overlay: false }, port: 0 }],
    [
      "[FD7A:115C:A1E0:0::1]:65535",
      { host: { kind: "ipv6", address: "fd7a:115c:a1e0::1", overlay: true }, port: 65_535 },
    ],
    ["[fe80::1%eth0]:1", { host: { kind: "ipv6", address: "fe80::1", overlay: false }, port: 1 }],
    [
      "[::ffff:100.127.255.255]:1",
      { host: { kind: "ipv4", address: "100.127.255.255", overlay: true }, port: 1 },
    ],
    [
      "Db-01.Example.test:5432",
      { host: { kind: "name", address: "db-01.example.test", overlay: false }, port: 5_432 },
    ],
  ])("is read from %s", (text, endpoint) => {
    expect(reader.read(text)).toEqual(endpoint);
    expect(reader.read(text)).toEqual(endpoint);
  });

  it.each([
    "100.64.0.7",
    ":1",
    "100.64.0.7:",
    "100.64.0.7:65536",
    "100.64.0.7:+1",
    "100.64.0.7:123456",
    "fd7a::1:1",
    "[fd7a::1]",
    "[fd7a::1]x:1",
    "[]:1",
    "[name]:1",
    "-a:1",
    "a_b:1",
    `${"a".repeat(64)}:1`,
    `${"a.".repeat(127)}a:1`,
    "a b:1",
    " a:1",
  ])("is not read from %s", (text) => {
    expect(reader.read(text)).toBeUndefined();
  });

  it("of any address and port is read back, and anything else never throws", () => {
    fc.assert(
      fc.property(fc.ipV6(), fc.integer({ min: 0, max: 65_535 }), (address, port) => {
        expect(reader.read(`[${address}]:${port}`)).toMatchObject({ port });
      }),
    );
    fc.assert(
      fc.property(fc.ipV4(), fc.integer({ min: 0, max: 65_535 }), (address, port) => {
        expect(reader.read(`${address}:${port}`)).toMatchObject({
          host: { kind: "ipv4", address },
          port,
        });
      }),
    );
    fc.assert(fc.property(fc.string(), (text) => void reader.read(text)));
  });

  it("begins with an IPv4 address where Node says so", () => {
    const part = fc.constantFrom("0", "00", "7", "07", "99", "255", "256", "1000", "", "a");
    fc.assert(
      fc.property(fc.array(part, { minLength: 3, maxLength: 5 }), (parts) => {
        const address = parts.join(".");
        const isFound = reader.read(`${address}:1`)?.host.kind === "ipv4";
        expect([address, isFound]).toEqual([address, isIPv4(address)]);
      }),
      { numRuns: 1_000 },
    );
  });

  it("forgets hosts when they are too many, and reads them again", () => {
    for (let at = 0; at < 9_000; at++) reader.read(`h${at}:1`);
    expect(reader.read("h1:1")).toMatchObject({ host: { address: "h1" } });
  });
});
