import { expect, it } from "vitest";
import { createApiObserver } from "../../../src/monitor/network/call-reports.ts";

it("a logical request counts once, its retries and its wait apart, and a cancelled one not at all", () => {
  const written: unknown[] = [];
  const write = (row: { readonly name: string }, value: number, attributes: object): void =>
    void written.push([row.name, value, attributes]);
  const observe = createApiObserver({ add: write, record: write } as Parameters<
    typeof createApiObserver
  >[0]);
  observe({
    operation: "devices",
    status: 200,
    class: undefined,
    attempts: 3,
    durationMs: 1_500,
    waitedMs: 250,
  });
  observe({
    operation: "users",
    status: 0,
    class: "transport",
    attempts: 1,
    durationMs: 10,
    waitedMs: 0.05,
  });
  observe({
    operation: "users",
    status: 0,
    class: "cancelled",
    attempts: 1,
    durationMs: 10,
    waitedMs: 10,
  });
  const devices = { endpoint: "devices", "http.response.status_code": 200 };
  const users = { endpoint: "users", "http.response.status_code": 0 };
  expect(written).toEqual([
    ["svc.api.requests", 1, devices],
    ["svc.api.duration", 1.5, devices],
    ["svc.api.retries", 2, { endpoint: "devices" }],
    ["svc.api.rate_limit.wait", 0.25, { endpoint: "devices" }],
    ["svc.api.requests", 1, users],
    ["svc.api.duration", 0.01, users],
  ]);
});
