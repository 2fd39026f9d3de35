import { describe, expect, it } from "vitest";
import {
  formatAddress,
  isLoopback,
  parseAddress,
} from "../../../../src/kernel/config/values/address.ts";

describe("a listen address", () => {
  it.each([
    ["127.0.0.1:8400", "127.0.0.1", 8400],
    ["[::1]:0", "::1", 0],
    ["localhost:80", "localhost", 80],
    [":2112", "", 2112],
    ["my-host.example:65535", "my-host.example", 65_535],
  ])("reads %s and writes it the same way", (text, host, port) => {
    const address = parseAddress(text);
    expect(address).toEqual({ host, port });
    expect(address && formatAddress(address)).toBe(text);
  });

  it.each([
    "8400",
    "127.0.0.1",
    "127.0.0.300:80",
    "::1:80",
    "[::1]",
    "[nonsense]:80",
    "host:65536",
    "host:-1",
    "a b:80",
    "http://host:80",
    "-x:80",
  ])("refuses %s", (text) => {
    expect(parseAddress(text)).toBeUndefined();
  });

  it.each([
    ["127.0.0.1", true],
    ["127.9.9.9", true],
    ["::1", true],
    ["LOCALHOST", true],
    ["", false],
    ["0.0.0.0", false],
    ["::", false],
    ["10.0.0.1", false],
    ["127.example", false],
  ])("knows whether %j is reached from this machine alone: %s", (host, expected) => {
    expect(isLoopback(host)).toBe(expected);
  });
});
