import { describe, expect, it } from "vitest";
import { admits, isSubset, parseCidrs } from "../../../src/tokens/vault/cidrs.ts";

describe("networks", () => {
  it("are addresses or CIDRs of either family", () => {
    expect(parseCidrs("f", [" 10.0.0.1", "10.0.0.0/8", "::1", "fd00::/8"])).toEqual([
      "10.0.0.1/32",
      "10.0.0.0/8",
      "::1/128",
      "fd00::/8",
    ]);
    for (const bad of [
      "",
      "10.0.0",
      "10.0.0.0/33",
      "::/129",
      "10.0.0.0/8/8",
      "10.0.0.0/",
      "10.0.0.0/-1",
      "fe80::1%eth0",
      "host",
    ])
      expect(() => parseCidrs("f", [bad])).toThrow("is neither an address nor a network");
    expect(() =>
      parseCidrs(
        "f",
        Array.from({ length: 300 }, () => "::1"),
      ),
    ).toThrow("at most 256");
  });

  it("lie within others or not", () => {
    expect(isSubset(["10.1.0.0/16"], [])).toBe(true);
    expect(isSubset(["10.1.0.0/16", "fd00::1/128"], ["10.0.0.0/8", "fd00::/8"])).toBe(true);
    expect(isSubset(["10.0.0.0/7"], ["10.0.0.0/8"])).toBe(false);
    expect(isSubset(["11.0.0.0/16"], ["10.0.0.0/8"])).toBe(false);
    expect(isSubset(["::/0"], ["0.0.0.0/0"])).toBe(false);
    expect(isSubset([], ["10.0.0.0/8"])).toBe(true);
  });

  it("let in who lives there, an IPv4 client of a listener for both families too", () => {
    expect(admits([], undefined)).toBe(true);
    const bound = ["10.0.0.0/8", "192.0.2.7/32", "fd00::/8"];
    const letIn = (address: string | undefined): boolean => admits(bound, address);
    expect(["10.255.0.1", "::ffff:10.0.0.1", "192.0.2.7", "fd12::1"].map(letIn)).toEqual([
      true,
      true,
      true,
      true,
    ]);
    expect(
      ["11.0.0.1", "::ffff:11.0.0.1", "192.0.2.8", "fe80::1", "", "somewhere", undefined].map(
        letIn,
      ),
    ).toEqual([false, false, false, false, false, false, false]);
  });

  it("that nobody can read let nobody in", () => {
    expect(admits(["nonsense"], "10.0.0.1")).toBe(false);
    expect(admits(["nonsense", "10.0.0.1"], "10.0.0.1")).toBe(true);
  });
});
