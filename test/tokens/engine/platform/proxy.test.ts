import { describe, expect, it } from "vitest";
import {
  createProxyFor,
  isProxyAddress,
  unusableProxies,
} from "../../../../src/tokens/engine/platform/proxy.ts";

const HTTP = "http://h:1";
const HTTPS = "http://s:1";

describe("the proxy for an origin", () => {
  it("is that of its scheme, and none in place of one that is not set", () => {
    const both = createProxyFor({ http: HTTP, https: HTTPS, none: undefined });
    expect(["http://a.test", "https://a.test"].map(both)).toEqual([HTTP, HTTPS]);
    const plain = createProxyFor({ http: HTTP, https: undefined, none: undefined });
    expect(["http://a.test", "https://a.test"].map(plain)).toEqual([HTTP, undefined]);
    const tls = createProxyFor({ http: undefined, https: HTTPS, none: undefined });
    expect(["http://a.test", "https://a.test"].map(tls)).toEqual([undefined, HTTPS]);
  });

  it.each([
    "localhost",
    "LOCALHOST",
    "localhost.",
    "127.0.0.1",
    "127.9.9.9",
    "[::1]",
    "[::ffff:127.0.0.1]",
  ])("is none for %s, this machine", (host) => {
    expect(createProxyFor({ http: HTTP, https: HTTPS, none: "" })(`https://${host}:8443`)).toBe(
      undefined,
    );
  });

  it.each<[none: string, direct: readonly string[], proxied: readonly string[]]>([
    ["*", ["https://a.test", "http://10.0.0.1"], []],
    ["example.org", ["https://example.org", "https://a.Example.org."], ["https://anexample.org"]],
    [".example.org", ["https://example.org", "https://a.example.org"], ["https://org"]],
    ["*.example.org", ["https://a.example.org"], ["https://example.org"]],
    [" a.test , B.test.\tc.test", ["https://a.test", "https://b.test", "https://c.test"], []],
    ["a.test:8443", ["https://a.test:8443"], ["https://a.test", "http://a.test:844"]],
    ["a.test:443,b.test:80", ["https://a.test", "http://b.test"], ["http://a.test"]],
    ["10.0.0.0/8", ["https://10.9.8.7:8443"], ["https://11.0.0.1", "https://10.test"]],
    ["10.0.0.1", ["https://10.0.0.1", "https://[::ffff:10.0.0.1]"], ["https://10.0.0.2"]],
    ["10.0.0.1:8443", ["https://10.0.0.1:8443"], ["https://10.0.0.1"]],
    ["2001:DB8::/32", ["https://[2001:db8:1::1]"], ["https://[2001:db9::1]"]],
    ["2001:db8:0::1", ["https://[2001:db8::1]"], ["https://[2001:db8::2]"]],
    ["[2001:db8::1]:443", ["https://[2001:db8::1]"], ["https://[2001:db8::1]:8443"]],
    ["10.0.0.0/33,10.0.0.0/x,10.0.0.0/,fe80::1%eth0,.,/8", [], ["https://10.0.0.1", "http://a"]],
  ])("is none where NO_PROXY is %j", (none, direct, proxied) => {
    const proxyFor = createProxyFor({ http: HTTP, https: HTTPS, none });
    expect(direct.filter((origin) => proxyFor(origin) !== undefined)).toEqual([]);
    expect(proxied.filter((origin) => proxyFor(origin) === undefined)).toEqual([]);
  });
});

describe("a proxy's address", () => {
  it.each(["http://h:1", "https://h", "socks5://h:1", "http://ada:p%40ss@h:1", "http://[::1]:1"])(
    "may be %j",
    (text) => {
      expect(isProxyAddress(text)).toBe(true);
    },
  );

  it.each(["http://", "h:1", "ftp://h:1", "http://ada:p%ss@h:1", "http://a b", ""])(
    "is not %j",
    (text) => {
      expect(isProxyAddress(text)).toBe(false);
    },
  );

  it("that is none is reported by the name of its variable", () => {
    expect(unusableProxies({ http: undefined, https: HTTPS, none: undefined })).toEqual([]);
    expect(unusableProxies({ http: "ftp://h", https: "http://", none: "" })).toEqual([
      "HTTP_PROXY",
      "HTTPS_PROXY",
    ]);
  });
});
