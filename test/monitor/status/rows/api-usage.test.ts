import { describe, expect, it } from "vitest";
import type { EndpointCalls } from "../../../../src/monitor/network/call-ledger.ts";
import { apiUsage } from "../../../../src/monitor/status/rows/api-usage.ts";

const NOW_MS = 1_700_000_000_000;
const WARN_MS = 600_000;

/** The warning for a credential that has so long to go. */
function warningAt(leftMs: number): string | undefined {
  const credential = { expiresMs: NOW_MS + leftMs, warnMs: WARN_MS };
  const network = { authMethod: "apikey" as const, calls: [], report: { credential } };
  return apiUsage([network], NOW_MS).auth?.warning;
}

describe("the warning of a credential that expires", () => {
  it("begins at the threshold, and not a millisecond before", () => {
    expect(warningAt(WARN_MS + 1)).toBe("");
    expect(warningAt(WARN_MS)).toBe("the credential expires in 10m0s");
    expect(warningAt(1_000)).toBe("the credential expires in 1s");
  });

  it("says of one whose time is over that it has expired", () => {
    expect(warningAt(1)).toBe("the credential expires in 0s");
    expect(warningAt(0)).toBe("the credential has expired");
    expect(warningAt(-WARN_MS)).toBe("the credential has expired");
  });

  it("is of the first network only, beside the time itself", () => {
    const credential = { expiresMs: NOW_MS + 1_000, warnMs: WARN_MS };
    const of = (...reports: readonly object[]) =>
      apiUsage(
        reports.map((report) => ({ authMethod: "oauth" as const, calls: [], report })),
        NOW_MS,
      ).auth;
    expect(of({ credential }, {})).toMatchObject({
      method: "oauth",
      keyExpiresAt: { seconds: BigInt(NOW_MS / 1_000 + 1) },
      warning: "the credential expires in 1s",
    });
    const second = of({}, { credential });
    expect([second?.keyExpiresAt, second?.warning]).toEqual([undefined, ""]);
  });
});

it("sums the calls of all networks, and shows each endpoint with every figure", () => {
  const calls = (endpoint: string, changes: Partial<EndpointCalls> = {}): EndpointCalls => ({
    endpoint,
    requests: 50,
    errors: 2,
    retries: 3,
    rateLimited: 5,
    lastStatus: 429,
    lastAtMs: 7_000,
    last429AtMs: 8_000,
    lastError: "timeout",
    recentMs: [0.2, 11.6],
    ...changes,
  });
  const usage = apiUsage(
    [
      { authMethod: "oauth", calls: [calls("users")], report: {} },
      {
        authMethod: "apikey",
        calls: [calls("devices", { requests: 9, rateLimited: 1, last429AtMs: 9_000 })],
        report: {},
      },
    ],
    NOW_MS,
  );
  expect(usage).toMatchObject({
    auth: { method: "oauth", totalCalls: 59n, total429: 6n },
    rateLimit: { count: 6n, lastSeen: { seconds: 9n } },
  });
  expect(usage.endpoints.map(({ endpoint }) => endpoint)).toEqual(["devices", "users"]);
  expect(usage.endpoints[1]).toMatchObject({
    requests: 50n,
    errors: 2n,
    retries: 3n,
    rateLimited: 5n,
    lastStatus: 429,
    lastError: "timeout",
    lastAt: { seconds: 7n },
    last429At: { seconds: 8n },
    durationMsSeries: [1, 12],
  });
});
