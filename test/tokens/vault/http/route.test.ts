import { expect, it } from "vitest";
import { vaultRoute } from "../../../../src/tokens/vault/http/route.ts";

// test/gateway/prefix-route.test.ts: what the gateway does with the limits of a route.
it("the route of /v1 takes 32 MiB with a token and ends a request after 90 s", () => {
  const route = vaultRoute({
    core: {
      handle: () => Promise.reject(new Error("unused")),
      isLive: () => false,
      maxBodyBytes: () => 0,
    },
    cors: () => ({ enabled: false, allowedOrigins: [], allowedHeaders: [] }),
  });
  expect(route).toMatchObject({
    template: "/v1/{rest=**}",
    limits: { bodyBytes: 32 * 2 ** 20, requestMs: 90_000 },
  });
});
