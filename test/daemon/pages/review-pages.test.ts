import { describe, expect, it } from "vitest";
import { reviewRoutes } from "../../../src/daemon/pages/review-pages.ts";
import { Access } from "../../../src/gen/steward/options/v1/options_pb.ts";
import { systemClock } from "../../../src/kernel/base/clock.ts";
import { createCall, type PlainRequest } from "../../../src/kernel/service.ts";

const call = createCall({ signal: new AbortController().signal, requestId: "test" });
const request = {
  path: "/duplicates",
  params: {},
  query: new URLSearchParams(),
  headers: {},
} as PlainRequest;
const options = {
  demo: false,
  version: "1",
  clock: systemClock,
  ai: true,
  links: [{ href: "/", label: "Status" }],
};

describe("the pages of the document service", () => {
  it("need the operator's token, as the API that they read", () => {
    expect(
      reviewRoutes(undefined, options).map(({ template, access }) => [template, access]),
    ).toEqual(
      [
        "/duplicates",
        "/duplicates/plan",
        "/documents",
        "/documents/{id}",
        "/suggestions",
        "/suggestions/costs",
        "/settings/dedup",
      ].map((template) => [template, Access.OPERATOR]),
    );
  });

  it("say that the service is out of service while it refuses requests", async () => {
    for (const route of reviewRoutes(undefined, options)) {
      const { status, body } = await route.handle(request, call);
      expect(status).toBe(200);
      expect(body).toContain("The document service is out of service.");
    }
  });

  it("are there when the service fails: each part says that it cannot be read", async () => {
    const routes = reviewRoutes({ service: { name: "dedup", rpc: [], plain: [] } }, options);
    const texts = await Promise.all(
      routes.map(async (route) => (await route.handle(request, call)).body as string),
    );
    expect(texts.map((text) => /The \w[\w ]* cannot be read\./.exec(text)?.[0])).toEqual([
      "The state of the archives cannot be read.",
      "The delete plan cannot be read.",
      "The documents cannot be read.",
      "The document cannot be read.",
      "The state of the suggestions cannot be read.",
      "The costs cannot be read.",
      "The settings cannot be read.",
    ]);
    // The text of a foreign error may hold paths.
    for (const text of texts) expect(text).toContain("internal error");
  });
});
