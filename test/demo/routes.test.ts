import { describe, expect, it } from "vitest";
import { createRoutes } from "../../src/demo/routes.ts";

const routes = createRoutes<"list" | "one" | "drop">([
  ["GET", "/things", "list"],
  ["GET", "/things/:id", "one"],
  ["DELETE", "/things/:id", "drop"],
]);

describe("routes", () => {
  it("lead to an operation with its variable segments decoded", () => {
    expect(routes.find("GET", "/things")).toMatchObject({ operation: "list", params: [] });
    expect(routes.find("GET", "/things/svc%3Aweb")).toMatchObject({
      operation: "one",
      params: ["svc:web"],
    });
    expect(routes.find("DELETE", "/things/7")).toMatchObject({ operation: "drop", params: ["7"] });
  });

  it("lead nowhere for other methods, empty or malformed segments, and paths without end", () => {
    for (const [method, path] of [
      ["POST", "/things"],
      ["GET", "/things/"],
      ["GET", "/things/%zz"],
      ["GET", "/things/a/b"],
      ["GET", `/things/${"x".repeat(3000)}`],
    ] as const)
      expect(routes.find(method, path)).toBeUndefined();
  });

  it("know the methods that a path has", () => {
    expect([routes.methods("/things/7"), routes.methods("/nothing")]).toEqual([
      ["GET", "DELETE"],
      [],
    ]);
  });
});
