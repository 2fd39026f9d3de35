import { expect, it } from "vitest";
import {
  isAllowedOrigin,
  isPreflight,
  originHeaders,
  preflightHeaders,
} from "../../../../src/kernel/listen/headers/cors.ts";

it("allows the origins of the list, in any case, or every origin", () => {
  const allowed = ["https://Docs.example"];
  expect(isAllowedOrigin("https://docs.example", allowed)).toBe(true);
  expect(isAllowedOrigin("https://docs.example.evil", allowed)).toBe(false);
  expect(isAllowedOrigin("null", allowed)).toBe(false);
  expect(isAllowedOrigin("null", ["*"])).toBe(true);
  expect(isAllowedOrigin("https://docs.example", [])).toBe(false);
});

it("keeps caches from giving the answer for one origin to another", () => {
  expect(originHeaders("https://docs.example")).toEqual({
    "access-control-allow-origin": "https://docs.example",
    vary: "Origin",
  });
  expect(originHeaders("*")).toEqual({ "access-control-allow-origin": "*" });
});

it("answers a preflight request with what may be sent", () => {
  const headers = { "access-control-request-method": "PUT" };
  expect(isPreflight({ method: "OPTIONS", headers })).toBe(true);
  expect(isPreflight({ method: "OPTIONS", headers: {} })).toBe(false);
  expect(isPreflight({ method: "PUT", headers })).toBe(false);
  expect(preflightHeaders({ methods: ["GET", "PUT"], headers: ["A"], maxAgeSeconds: 5 })).toEqual({
    "access-control-allow-methods": "GET, PUT",
    "access-control-allow-headers": "A",
    "access-control-max-age": "5",
  });
});
