import { describe, expect, it } from "vitest";
import { isTrustedHost, parseAuthority } from "../../../gateway/access/host.ts";

describe("an authority", () => {
  it.each([
    ["localhost:8400", "localhost", "8400"],
    ["LOCALHOST.", "localhost", ""],
    ["127.0.0.1", "127.0.0.1", ""],
    ["[::1]:8400", "::1", "8400"],
    ["Example.ORG:80", "example.org", "80"],
  ])("%s is read", (text, host, port) => {
    expect(parseAuthority(text)).toEqual({ host, port });
  });

  it.each([
    "",
    ":80",
    "a b",
    "a/b",
    "user@host",
    "::1",
    "[::1",
    "host:123456",
    "host:x",
    "a?b",
    "[evil]",
  ])("%j is none", (text) => {
    expect(parseAuthority(text)).toBeUndefined();
  });
});

describe("without a token, a name", () => {
  it.each([
    "localhost",
    "localhost:1",
    "localhost.:8400",
    "127.0.0.1:8400",
    "127.9.8.7",
    "[::1]",
    "[::1]:8400",
    "LocalHost",
  ])("%s is this machine's own", (text) => {
    expect(isTrustedHost(text, [])).toBe(true);
  });

  it.each([
    "example.org",
    "localhost.example.org",
    "127.0.0.1.example.org",
    "127.0.0.1.nip.io:8400",
    "127example.org",
    "2130706433",
    "0x7f.1",
    "192.168.1.5",
    "0.0.0.0",
    "[::]",
    "",
    "localhost@evil",
  ])("%j is foreign", (text) => {
    expect(isTrustedHost(text, [])).toBe(false);
  });

  it("is trusted when the configuration lists it, whatever its case and port", () => {
    expect(isTrustedHost("NAS.lan:8400", ["nas.lan"])).toBe(true);
    expect(isTrustedHost("nas.lan.", ["NAS.lan:9000"])).toBe(true);
    expect(isTrustedHost("nas.lan.example", ["nas.lan"])).toBe(false);
  });
});
