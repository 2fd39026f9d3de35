import { describe, expect, it } from "vitest";
import { isCrossSite } from "../../../gateway/access/cross-site.ts";

const post = { method: "POST", host: "localhost:8400", origin: undefined, fetchSite: undefined };

describe("a request that changes something", () => {
  it.each([
    ["from a program", {}],
    ["from the same origin", { fetchSite: "same-origin", origin: "http://localhost:8400" }],
    ["typed by the visitor", { fetchSite: "none" }],
    [
      "behind a proxy that ends TLS",
      { host: "steward.example", origin: "https://steward.example" },
    ],
    [
      "on the usual port, said or not",
      { host: "steward.example:80", origin: "http://steward.example" },
    ],
  ])("passes %s", (_name, more) => {
    expect(isCrossSite({ ...post, ...more }, [])).toBe(false);
  });

  it.each([
    ["of another site", { fetchSite: "cross-site" }],
    ["of another port of this site", { fetchSite: "same-site" }],
    ["of a value no browser knows yet", { fetchSite: "new-site" }],
    ["with another origin", { origin: "http://evil.example" }],
    ["with another port as origin", { origin: "http://localhost:3000" }],
    ["with a hidden origin", { origin: "null" }],
    ["with an origin of another scheme", { origin: "file://localhost:8400" }],
    ["with a name like ours in front", { origin: "http://localhost:8400.evil.example" }],
    [
      "of the same origin by its word but not by its site",
      { fetchSite: "cross-site", origin: "http://localhost:8400" },
    ],
  ])("is refused from a page %s", (_name, more) => {
    for (const method of ["POST", "PUT", "DELETE", "PATCH"])
      expect(isCrossSite({ ...post, ...more, method }, [])).toBe(true);
  });

  it("passes from an origin that the configuration allows", () => {
    const request = { ...post, origin: "https://app.example", fetchSite: "cross-site" };
    expect(isCrossSite(request, ["https://app.example"])).toBe(false);
    expect(
      isCrossSite({ ...request, origin: "https://app.example.evil" }, ["https://app.example"]),
    ).toBe(true);
  });
});

describe("a request that only reads", () => {
  it.each(["GET", "HEAD", "OPTIONS"])("passes from anywhere by %s", (method) => {
    expect(
      isCrossSite({ ...post, method, fetchSite: "cross-site", origin: "http://evil.example" }, []),
    ).toBe(false);
  });
});
