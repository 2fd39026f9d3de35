import { describe, expect, it } from "vitest";
import { UNKNOWN_ROUTE } from "../../../gateway/codes.ts";
import { dialectOf, dialectOfPath } from "../../../gateway/dialects/by-name.ts";
import type { AnswerHeaders, FailureOptions } from "../../../gateway/dialects/dialect.ts";
import { Access } from "../../../src/gen/steward/options/v1/options_pb.ts";
import { StewardError } from "../../../src/kernel/base/errors.ts";
import type { DialectName } from "../../../src/kernel/wire/style.ts";

const findings = [
  {
    path: ["limit"],
    message: "limit must be between 1 and 100",
    code: "invalid_value",
    rule: "int32.gte_lte",
  },
];
const unknown = new StewardError("not_found", "there is no such path", { rule: UNKNOWN_ROUTE });

describe("a failure's body", () => {
  const cases: [DialectName, string, StewardError, number, string, FailureOptions?][] = [
    [
      "dedup",
      "findings",
      new StewardError("invalid", "limit must be between 1 and 100", { details: findings }),
      400,
      `{"error":{"code":"VALIDATION_FAILED","message":"limit must be between 1 and 100","details":${JSON.stringify(findings)}}}`,
    ],
    [
      "dedup",
      "a finding that a handler names",
      new StewardError("invalid", "documentId is no member", {
        field: "documentId",
        rule: "member",
      }),
      400,
      '{"error":{"code":"VALIDATION_FAILED","message":"documentId is no member","details":[{"path":["documentId"],"message":"documentId is no member","code":"invalid_value","rule":"member"}]}}',
    ],
    [
      "dedup",
      "a finding that nobody names a field for",
      new StewardError("invalid", "the key is too long"),
      400,
      '{"error":{"code":"VALIDATION_FAILED","message":"the key is too long","details":[{"path":[],"message":"the key is too long","code":"invalid_value"}]}}',
    ],
    [
      "dedup",
      "a bad request",
      new StewardError("invalid", "AI is off", { rule: "bad_request" }),
      400,
      '{"error":{"code":"BAD_REQUEST","message":"AI is off"}}',
    ],
    [
      "dedup",
      "checks",
      new StewardError("not_ready", "the archive is down", {
        facts: { database: { status: "ok" } },
      }),
      503,
      '{"error":{"code":"NOT_READY","message":"the archive is down","details":[{"database":{"status":"ok"}}]}}',
    ],
    [
      "dedup",
      "an unknown path",
      unknown,
      404,
      '{"error":{"code":"NOT_FOUND","message":"there is no such path"}}',
    ],
    [
      "monitor",
      "findings",
      new StewardError("invalid", "limit is wrong", { details: findings }),
      400,
      "limit is wrong\n",
    ],
    ["monitor", "an unknown path", unknown, 404, "404 page not found\n"],
    [
      "monitor",
      "the path that metrics are looked for at",
      unknown,
      404,
      "404 page not found: metrics are at /api/v1/metrics of gateway.listen while dedup.metrics_endpoint.enabled is true, and at /metrics of scrape.listen while scrape.enabled is true\n",
      { path: "/metrics" },
    ],
    [
      "monitor",
      "an unknown thing",
      new StewardError("not_found", "no network x"),
      404,
      "no network x\n",
    ],
    [
      "monitor",
      "a wrong method",
      new StewardError("unsupported", "m"),
      405,
      "Method Not Allowed\n",
      { allow: ["GET", "HEAD"] },
    ],
    [
      "monitor",
      "a missing credential",
      new StewardError("unauthenticated", "m"),
      401,
      "Unauthorized\n",
    ],
    [
      "vault",
      "bad input",
      new StewardError("invalid", "missing app_id"),
      400,
      '{"errors":["missing app_id"]}\n',
    ],
    [
      "vault",
      "a missing credential",
      new StewardError("unauthenticated", "m"),
      403,
      '{"errors":["permission denied"]}\n',
    ],
    ["vault", "an unknown thing", new StewardError("not_found", "m"), 404, '{"errors":[]}\n'],
    [
      "vault",
      "a mount that is not there",
      new StewardError("not_found", "no handler for route", { rule: "no_mount" }),
      404,
      '{"errors":["no handler for route"]}\n',
    ],
    [
      "vault",
      "a body of another type",
      new StewardError("invalid", "PATCH requires", { rule: "media_type" }),
      415,
      '{"errors":["PATCH requires"]}\n',
    ],
    [
      "dedup",
      "an error with a remedy",
      new StewardError("invalid", "AI is off", {
        field: "provider",
        remedy: "set dedup.ai.enabled",
      }),
      400,
      '{"error":{"code":"VALIDATION_FAILED","message":"AI is off; set dedup.ai.enabled","details":[{"path":["provider"],"message":"AI is off; set dedup.ai.enabled","code":"invalid_value"}]}}',
    ],
    [
      "dedup",
      "an error that says its remedy itself",
      new StewardError("conflict", "AI is off; turn it on", { remedy: "turn it on" }),
      409,
      '{"error":{"code":"CONFLICT","message":"AI is off; turn it on"}}',
    ],
    [
      "monitor",
      "an error with a remedy",
      new StewardError("not_found", "no network x", { remedy: "see /api/networks" }),
      404,
      "no network x; see /api/networks\n",
    ],
    [
      "vault",
      "an error with a remedy",
      new StewardError("conflict", "no key is set", { remedy: "write config first" }),
      400,
      '{"errors":["no key is set; write config first"]}\n',
    ],
    [
      "vault",
      "an unknown path",
      unknown,
      404,
      '{"errors":["no handler for route \\"nowhere/x\\""]}\n',
      { path: "/v1/nowhere/x" },
    ],
  ];
  it.each(cases)("of %s for %s", (name, _what, error, status, body, options = {}) => {
    const answer = dialectOf(name).failure(error, options);
    expect([answer.status, answer.body]).toEqual([status, body]);
    expect(answer.headers["cache-control"]).toBe("no-store");
  });
});

describe("a failure's headers", () => {
  const missing = new StewardError("unauthenticated", "m");
  const cases: [string, DialectName, StewardError, AnswerHeaders, FailureOptions?][] = [
    [
      "the type and both challenges",
      "dedup",
      missing,
      {
        "content-type": "application/json; charset=utf-8",
        "www-authenticate": ['Bearer realm="steward"', 'Basic realm="steward"'],
      },
    ],
    [
      "a challenge that makes no browser ask",
      "dedup",
      new StewardError("denied", "m"),
      { "www-authenticate": 'Bearer realm="steward"' },
    ],
    [
      "text and its challenge",
      "monitor",
      missing,
      {
        "content-type": "text/plain; charset=utf-8",
        "x-content-type-options": "nosniff",
        "www-authenticate": 'Basic realm="steward admin"',
      },
    ],
    [
      "the operator's challenge for a route of his",
      "monitor",
      missing,
      { "www-authenticate": 'Basic realm="steward"' },
      { access: Access.OPERATOR },
    ],
    ["plain JSON", "vault", missing, { "content-type": "application/json" }],
    [
      "the waiting",
      "monitor",
      new StewardError("exhausted", "m", { retryAfterMs: 2500 }),
      { "retry-after": "3" },
    ],
    [
      "the methods",
      "dedup",
      new StewardError("unsupported", "m"),
      { allow: "GET, HEAD" },
      { allow: ["GET", "HEAD"] },
    ],
  ];
  it.each(cases)("hold %s", (_what, name, error, headers, options = {}) => {
    expect(dialectOf(name).failure(error, options).headers).toMatchObject(headers);
  });
});

describe("the surface of a path that nothing serves", () => {
  it.each([
    ["/api/v1/x", "dedup"],
    ["/api/v1", "dedup"],
    ["/api/v10", "monitor"],
    ["/api/x", "monitor"],
    ["/v1/x", "vault"],
    ["/v1", "vault"],
    ["/v10", "monitor"],
    ["/", "monitor"],
    ["/x", "monitor"],
  ])("%s is %s", (path, name) => {
    expect(dialectOfPath(path).name).toBe(name);
  });
});
