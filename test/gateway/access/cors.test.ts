import { describe, expect, it } from "vitest";
import { createCors } from "../../../gateway/access/cors.ts";
import { createAuthorize } from "../../../gateway/access/authorize.ts";
import { Access } from "../../../src/gen/steward/options/v1/options_pb.ts";
import { Secret } from "../../../src/kernel/base/secret.ts";
import { connectCall, startGateway } from "../start-gateway.ts";

const page = "https://archive.example.org";
const auth = { allowedHosts: [], allowedOrigins: [page] };
const asking = {
  origin: page,
  "access-control-request-method": "POST",
  "access-control-request-headers": "content-type",
};

describe("the list of origins", () => {
  it("says nothing while it is empty", () => {
    expect(createCors([])({ method: "OPTIONS", path: "/api/v1/jobs", headers: asking })).toEqual({
      headers: {},
      preflight: false,
    });
  });

  it.each([
    ["/api/v1/jobs", true],
    ["/api/v1/nothing", true],
    ["/steward.dedup.v1.JobService/ListJobs", true],
    ["/api/status.json", false],
    ["/api/v10", false],
    ["/v1/sys/health", false],
    ["/", false],
    ["/docs", false],
    ["/openapi.json", false],
    ["/steward.monitor.v1.MonitorService/Get", false],
    ["/grpc.health.v1.Health/Check", false],
    ["/healthz", false],
  ])("covers %s: %s", (path, covered) => {
    const { headers } = createCors([page])({ method: "GET", path, headers: { origin: page } });
    expect(headers["access-control-allow-origin"] === page).toBe(covered);
    expect("vary" in headers).toBe(covered);
  });

  it("never names an origin that is not on it, and tells caches that answers differ", () => {
    const cors = createCors([page]);
    for (const origin of [
      "https://evil.example",
      `${page}.evil.example`,
      "null",
      `${page}/`,
      undefined,
    ]) {
      expect(cors({ method: "GET", path: "/api/v1/jobs", headers: { origin } })).toEqual({
        headers: { vary: "Origin" },
        preflight: false,
      });
    }
  });

  it("of * alone is every origin", () => {
    expect(
      createCors(["*"])({
        method: "GET",
        path: "/api/v1/jobs",
        headers: { origin: "https://any.example" },
      }).headers,
    ).toEqual({
      "access-control-allow-origin": "*",
      "access-control-expose-headers": "Retry-After",
    });
  });
});

describe("a page of an allowed origin", () => {
  it("may ask before it sends, without a credential", async () => {
    const { url } = await startGateway({ auth: { ...auth, token: Secret.of("word", "test") } });
    const answer = await fetch(`${url}/api/v1/jobs/j/cancel`, {
      method: "OPTIONS",
      headers: asking,
    });
    expect([answer.status, await answer.text()]).toEqual([204, ""]);
    expect(
      Object.fromEntries([...answer.headers].filter(([name]) => /^access|vary/.test(name))),
    ).toEqual({
      "access-control-allow-origin": page,
      "access-control-allow-methods": "GET, POST, PUT, DELETE, OPTIONS",
      "access-control-allow-headers": "Content-Type, Authorization, traceparent, tracestate",
      "access-control-max-age": "86400",
      vary: "Origin",
    });
    expect(
      (
        await fetch(`${url}/steward.dedup.v1.JobService/ListJobs`, {
          method: "OPTIONS",
          headers: asking,
        })
      ).headers.get("access-control-allow-headers"),
    ).toContain("Connect-Protocol-Version");
    expect((await fetch(`${url}/api/v1/jobs`, { method: "OPTIONS" })).status).toBe(405);
  });

  it("may change things over REST and Connect, and read why not", async () => {
    const { url } = await startGateway({ auth });
    const headers = { origin: page, "sec-fetch-site": "cross-site" };
    expect((await fetch(`${url}/api/v1/jobs/j/cancel`, { method: "POST", headers })).status).toBe(
      200,
    );
    const called = await connectCall(
      url,
      "/steward.dedup.v1.JobService/CancelJob",
      '{"jobId":"j"}',
      headers,
    );
    expect([called.status, called.headers.get("access-control-allow-origin")]).toEqual([200, page]);
    const missing = await fetch(`${url}/api/v1/nothing`, { headers });
    expect([missing.status, missing.headers.get("access-control-allow-origin")]).toEqual([
      404,
      page,
    ]);
  });

  it("may read that Steward is busy, and when to try again", async () => {
    const { url } = await startGateway(
      { auth: { ...auth, token: Secret.of("word", "test") } },
      { admissionMs: 1, stranger: { requests: 0, streams: 0 } },
    );
    for (const path of ["/api/v1/jobs", "/steward.dedup.v1.JobService/ListJobs"]) {
      const { status, headers } = await fetch(`${url}${path}`, { headers: { origin: page } });
      expect([path, status, headers.get("retry-after")]).toEqual([path, 429, "1"]);
      expect(headers.get("access-control-allow-origin")).toBe(page);
      expect(headers.get("access-control-expose-headers")).toMatch(/^Retry-After(,|$)/);
      const foreign = { origin: "https://evil.example" };
      const other = await fetch(`${url}${path}`, { headers: foreign });
      expect(other.headers.get("access-control-allow-origin")).toBe(null);
    }
  });

  it("is a foreign page everywhere else", () => {
    const request = {
      method: "POST",
      path: "/api/rdns/purge",
      headers: { host: "localhost", origin: page, "sec-fetch-site": "cross-site" },
    };
    for (const allowedOrigins of [[page], ["*"]]) {
      const authorize = createAuthorize({ allowedHosts: [], allowedOrigins });
      expect(authorize(Access.ADMIN, "monitor", request)).toMatchObject({
        code: "denied",
        rule: "cross_site",
      });
      expect(authorize(Access.SELF, "vault", { ...request, path: "/v1/sys/init" })).toMatchObject({
        code: "denied",
        rule: "cross_site",
      });
      expect(
        authorize(Access.OPERATOR, "dedup", { ...request, path: "/api/v1/sync" }),
      ).toBeUndefined();
    }
  });
});

it("a page of another origin gets neither permission nor effect", async () => {
  const { url } = await startGateway({ auth });
  const origin = "https://evil.example";
  const preflight = await fetch(`${url}/api/v1/jobs/j/cancel`, {
    method: "OPTIONS",
    headers: { ...asking, origin },
  });
  expect([preflight.status, preflight.headers.get("access-control-allow-origin")]).toEqual([
    405,
    null,
  ]);
  expect(
    (await fetch(`${url}/api/v1/jobs/j/cancel`, { method: "POST", headers: { origin } })).status,
  ).toBe(401);
});
