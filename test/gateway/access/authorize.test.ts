import { describe, expect, it } from "vitest";
import { createAuthorize, type RequestHead } from "../../../gateway/access/authorize.ts";
import { Access } from "../../../src/gen/steward/options/v1/options_pb.ts";
import { Secret } from "../../../src/kernel/base/secret.ts";

const open = createAuthorize({ allowedHosts: ["nas.lan"] });
const closed = createAuthorize({ token: Secret.of("word", "test"), allowedHosts: [] });
const bearer = { authorization: "Bearer word" };

function head(path: string, headers: Record<string, string> = {}, method = "GET"): RequestHead {
  return { method, path, headers: { host: "localhost:8400", ...headers } };
}

describe("without a token", () => {
  it("everything is open under this machine's names and the allowed ones", () => {
    for (const access of [Access.PUBLIC, Access.OPERATOR, Access.ADMIN, Access.SELF]) {
      expect(open(access, "dedup", head("/api/v1/documents"))).toBeUndefined();
      expect(open(access, "dedup", head("/api/v1/documents", { host: "nas.lan" }))).toBeUndefined();
    }
  });

  it("a foreign name is denied, with the remedy in the message, on public methods too", () => {
    const refusal = open(Access.PUBLIC, "dedup", head("/api/v1/health", { host: "evil.example" }));
    expect(refusal).toMatchObject({ code: "denied", rule: "host" });
    expect(refusal?.message).toContain("gateway.allowed_hosts");
    expect(refusal?.message).toContain('"evil.example"');
  });

  it("gRPC health answers under any name", () => {
    expect(
      open(Access.SELF, "vault", head("/grpc.health.v1.Health/Check", { host: "evil.example" })),
    ).toBeUndefined();
  });

  it.each([
    "/v1/sys/health",
    "/v1/sys/wrapping/unwrap",
    "/v1/auth/approle/login",
    "/v1/github/info",
  ])("%s answers under any name to a live Vault token alone", (path) => {
    const asFrom = (host: string, isLive: boolean): unknown =>
      open(Access.SELF, "vault", head(path, { host, "x-vault-token": "hvs.x" }), {
        hasCredential: () => isLive,
      });
    expect(asFrom("evil.example", true)).toBeUndefined();
    expect(asFrom("evil.example", false)).toMatchObject({
      code: "denied",
      rule: "host",
      message: expect.stringContaining("live Vault token") as string,
    });
    expect([asFrom("localhost:8400", false), asFrom("nas.lan", false)]).toEqual([
      undefined,
      undefined,
    ]);
    expect(closed(Access.SELF, "vault", head(path, { host: "evil.example" }))).toBeUndefined();
  });

  it.each([
    "/v1/sys/init",
    "/v1/sys/unseal",
    "/v1//sys/init",
    "/v1/sys/%69nit",
    "/v1/sys/unseal/",
    "/v1/x/../sys/init",
    "/v1/SYS/init",
  ])("%s does not, whatever it carries", (path) => {
    expect(
      open(Access.SELF, "vault", head(path, { host: "evil.example" }), {
        hasCredential: () => true,
      }),
    ).toMatchObject({ code: "denied" });
  });
});

describe("with a token", () => {
  it("names do not matter, the token does", () => {
    const path = "/api/v1/documents";
    expect(
      closed(Access.OPERATOR, "dedup", head(path, { host: "nas.example", ...bearer })),
    ).toBeUndefined();
    expect(closed(Access.ADMIN, "monitor", head(path, bearer))).toBeUndefined();
    expect(closed(Access.OPERATOR, "dedup", head(path))).toMatchObject({
      code: "unauthenticated",
      message: expect.stringContaining("Authorization: Bearer") as string,
    });
    expect(
      closed(Access.OPERATOR, "dedup", head(path, { authorization: "Bearer wrong" })),
    ).toMatchObject({ code: "unauthenticated" });
  });

  it("public methods and those with their own credential are open", () => {
    expect(closed(Access.PUBLIC, "dedup", head("/api/v1/health"))).toBeUndefined();
    expect(closed(Access.SELF, "vault", head("/v1/github/token"))).toBeUndefined();
  });

  it("a foreign page is denied although the browser adds the credential", () => {
    expect(
      closed(
        Access.OPERATOR,
        "dedup",
        head("/api/v1/sync", { ...bearer, "sec-fetch-site": "cross-site" }, "POST"),
      ),
    ).toMatchObject({ code: "denied", rule: "cross_site" });
  });

  it("a Vault token lets a page of any site pass below /v1/, and nowhere else", () => {
    const headers = { "sec-fetch-site": "cross-site", "x-vault-token": "hvs.x" };
    expect(closed(Access.SELF, "vault", head("/v1/github/token", headers, "POST"))).toBeUndefined();
    expect(
      closed(
        Access.SELF,
        "vault",
        head("/v1/sys/init", { "sec-fetch-site": "cross-site" }, "POST"),
      ),
    ).toMatchObject({ code: "denied" });
    expect(closed(Access.PUBLIC, "dedup", head("/api/v1/x", headers, "POST"))).toMatchObject({
      code: "denied",
    });
  });
});

it("a method that says nothing is never open", () => {
  expect(open(Access.UNSPECIFIED, "dedup", head("/"))).toMatchObject({ code: "internal" });
});
