import { describe, expect, it } from "vitest";
import { accessOf, methodTable } from "../../gateway/methods.ts";
import { Access } from "../../src/gen/steward/options/v1/options_pb.ts";
import { bindService, type BoundService } from "../../src/kernel/service.ts";
import {
  CollidingService,
  NestedQueryService,
  NoAccessService,
  StrayVariableService,
} from "../gen/steward/test/v1/broken_pb.ts";
import { DedupSampleService } from "../gen/steward/test/v1/dedup_sample_pb.ts";
import { dedupService, otherServices, plainRoute } from "./sample-services.ts";

const answer = (): Promise<never> => Promise.reject(new Error("not called"));
const table = methodTable(
  [dedupService(), ...otherServices()],
  [
    plainRoute("/api/v1/samples/{number}/progress", answer),
    plainRoute("/", answer, { dialect: "monitor" }),
  ],
);

function found(verb: string, path: string): unknown {
  const match = table.match(verb, path);
  if (match.kind !== "found") return match.kind;
  return [
    match.route.kind === "rpc" ? match.route.method.rpc.name : match.route.template.text,
    match.params,
  ];
}

describe("the method table", () => {
  it.each([
    ["GET", "/api/v1/samples/stats", ["GetSampleStats", {}]],
    ["GET", "/api/v1/samples/7", ["GetSample", { number: "7" }]],
    ["HEAD", "/api/v1/samples/7", ["GetSample", { number: "7" }]],
    ["GET", "/api/v1/sample-by-number/7", ["GetSample", { number: "7" }]],
    ["GET", "/api/v1/shelves/a%2Fb/samples", ["ListSamples", { shelf_id: "a/b" }]],
    ["PUT", "/api/v1/samples/7", ["ImportSample", { number: "7" }]],
    ["POST", "/api/v1/samples", ["CreateSample", {}]],
    ["GET", "/api/v1/samples/7/progress", ["/api/v1/samples/{number}/progress", { number: "7" }]],
    ["LIST", "/v1/samples", ["ListVaultSamples", {}]],
    ["GET", "/", ["/", {}]],
    ["GET", "/api/v1/samples/7/", "unknown"],
    ["GET", "/api/v1/shelves//samples", "unknown"],
    ["GET", "/api/v1/samples/%zz", "malformed"],
    ["GET", "/steward.test.v1.DedupSampleService/WatchSample", "unknown"],
  ])("takes %s %s for %o", (verb, path, expected) => {
    expect(found(verb, path)).toEqual(expected);
  });

  it.each([
    ["DELETE", "/api/v1/samples/7", ["GET", "HEAD", "PUT"], "dedup"],
    ["PUT", "/api/v1/samples/stats", ["GET", "HEAD"], "dedup"],
    ["GET", "/api/v1/samples", ["POST"], "dedup"],
    ["HEAD", "/api/sample/purge", ["POST"], "monitor"],
    ["OPTIONS", "/v1/sample/x", ["GET", "HEAD", "DELETE"], "vault"],
  ])("names the methods that %s %s could have used", (verb, path, allow, dialect) => {
    expect(table.match(verb, path)).toEqual({ kind: "wrong_method", allow, dialect });
  });

  it("keeps what the options say of a method", () => {
    const byName = new Map(table.methods.map((method) => [method.rpc.name, method]));
    expect(byName.get("CreateSample")).toMatchObject({
      access: Access.OPERATOR,
      dialect: "dedup",
      httpStatus: 202,
      bodyBytes: 2048,
    });
    expect(byName.get("ExportSample")).toMatchObject({
      httpStatus: 200,
      raw: true,
      attachment: "sample.json",
      bodyBytes: 4 * 1024 * 1024,
    });
    expect(byName.get("GetMonitorSample")).toMatchObject({
      access: Access.ADMIN,
      bodyBytes: 64 * 1024,
    });
    expect(byName.get("WatchSample")).toMatchObject({ access: Access.OPERATOR });
    expect(
      table.routes.some((route) => route.kind === "rpc" && route.method.rpc.name === "WatchSample"),
    ).toBe(false);
    expect(accessOf(DedupSampleService.method.getSampleStats)).toBe(Access.PUBLIC);
  });
});

describe("what must not start", () => {
  const nothing = (): object => ({});
  const cases: [string, BoundService, string][] = [
    [
      "a method without access",
      bindService(NoAccessService, { forgotten: nothing }),
      "does not say who may call it",
    ],
    [
      "two methods on one route",
      bindService(CollidingService, { first: nothing, second: nothing }),
      "GET /api/v1/things/{name} collides with /api/v1/things/{id}",
    ],
    [
      "a path variable that is no field",
      bindService(StrayVariableService, { stray: nothing }),
      "has no scalar field missing",
    ],
    [
      "a query that text cannot give",
      bindService(NestedQueryService, { nested: nothing }),
      "cannot be given in a path or query",
    ],
  ];
  it.each(cases)("%s", (_what, service, message) => {
    expect(() => methodTable([service], [])).toThrow(message);
  });

  it("a plain route without access, or one that collides with a method", () => {
    expect(() =>
      methodTable([], [plainRoute("/x", answer, { access: Access.UNSPECIFIED })]),
    ).toThrow("does not say who may call it");
    expect(() =>
      methodTable([dedupService()], [plainRoute("/api/v1/samples/{id}", answer)]),
    ).toThrow("collides");
  });
});
