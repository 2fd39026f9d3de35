import { describe, expect, it } from "vitest";
import { isForbiddenHost } from "../../../src/tokens/engine/forbidden-hosts.ts";

const hostOf = (url: string): string => new URL(url).hostname;

describe("a host that nothing may be sent to", () => {
  it.each([
    "http://169.254.169.254",
    "http://169.254.0.1/api/v3",
    "https://169.254.169.254.:8443",
    "http://2852039166",
    "http://0xa9fea9fe",
    "http://0251.0376.0251.0376",
    "http://169.254.43518",
    "http://0xA9.0376.169.0xfe",
    "http://１６９.254.169.254",
    "http://[fe80::1]",
    "http://[FEBF::ffff]",
    "http://[::ffff:169.254.169.254]",
    "http://[::ffff:a9fe:1]",
    "http://[::169.254.169.254]",
    "http://[64:ff9b::169.254.169.254]",
    "http://[::ffff:0:169.254.169.254]",
    "http://[2002:a9fe:a9fe::1]",
    "http://[fd00:ec2::254]",
    "http://[fd00:0ec2:0:0:0:0:0:254]",
    "http://[fd20:ce::254]",
    "http://100.100.100.200",
    "http://168.63.129.16",
    "http://METADATA.google.internal.",
    "http://metadata.goog",
    "http://instance-data",
  ])("%s", (url) => {
    expect(isForbiddenHost(hostOf(url))).toBe(true);
  });

  it.each([
    "http://127.0.0.1",
    "http://localhost",
    "http://[::1]",
    "http://10.0.0.1",
    "http://192.168.169.254",
    "http://172.16.1.1",
    "http://100.100.100.100",
    "http://[fd00::1]",
    "http://[fec0::1]",
    "http://[::ffff:10.0.0.1]",
    "http://[2001:db8::a9fe:a9fe]",
    "https://api.github.com",
    "https://ghes.example.org",
    "https://169.254.169.254.example.org",
    "https://metadata.google.internal.example.org",
  ])("is not %s", (url) => {
    expect(isForbiddenHost(hostOf(url))).toBe(false);
  });

  it("may carry a zone, and what is no address is none", () => {
    expect([
      isForbiddenHost("fe80::1%eth0"),
      isForbiddenHost("code.example.org"),
      isForbiddenHost(""),
    ]).toEqual([true, false, false]);
  });
});
