import { describe, expect, it } from "vitest";
import type { Fault } from "../../../src/demo/code-host/faults.ts";
import type { Data } from "../../../src/tokens/logical/types.ts";
import { startEngineRoom } from "../support/engine.ts";

const mintTo = { installation_id: 1001 };

type Row = readonly [fault: Fault, code: string, rule: string, message: RegExp];

const page = "base_url is the address of the platform's API";

describe("what the platform says", () => {
  it.each<Row>([
    [
      { kind: "status", status: 401, message: "A JSON web token could not be decoded" },
      "upstream",
      "auth",
      /^unable to create access token: 401 Unauthorized: A JSON web token could not be decoded: .*check app_id and prv_key$/,
    ],
    [
      { kind: "status", status: 401, message: "Integration not found" },
      "upstream",
      "auth",
      /Integration not found.*check app_id/,
    ],
    [
      { kind: "status", status: 404, message: "Not Found" },
      "invalid",
      "not_installed",
      /^unable to create access token: 404 Not Found: Not Found: the app has no installation 1001; install it there/,
    ],
    [
      { kind: "status", status: 403, message: "This installation has been suspended" },
      "invalid",
      "suspended",
      /installation 1001 is suspended; an owner of the account can unsuspend it$/,
    ],
    [
      { kind: "status", status: 403, message: "Resource not accessible by integration" },
      "invalid",
      "forbidden",
      /accept its permissions/,
    ],
    [
      {
        kind: "status",
        status: 422,
        message: "The permissions requested are not granted to this installation.",
      },
      "invalid",
      "permissions",
      /not granted to this installation: request fewer permissions/,
    ],
    [
      {
        kind: "status",
        status: 422,
        message:
          "There is at least one repository that does not exist or is not accessible to the parent installation.",
      },
      "invalid",
      "repositories",
      /check the names/,
    ],
    [
      { kind: "status", status: 422, message: "Odd" },
      "invalid",
      "rejected",
      /422 Unprocessable Entity: Odd: check repositories and permissions/,
    ],
    [
      { kind: "status", status: 400, message: "Version not supported" },
      "upstream",
      "rejected",
      new RegExp(page),
    ],
    [
      { kind: "status", status: 500, message: "boom" },
      "upstream",
      "server",
      /500 Internal Server Error: boom: the platform failed; try again later$/,
    ],
    [{ kind: "status", status: 503 }, "upstream", "server", /503/],
    [
      { kind: "html" },
      "upstream",
      "server",
      /^unable to create access token: 502 Bad Gateway: the platform failed/,
    ],
    [
      { kind: "html", status: 404 },
      "upstream",
      "decode",
      new RegExp(`a page, not the API's; check that ${page}`),
    ],
    [
      { kind: "html", status: 200 },
      "upstream",
      "decode",
      /^unable to decode access token response: the response contains no token/,
    ],
    [{ kind: "garbage" }, "upstream", "decode", /^unable to decode access token response/],
    [{ kind: "patch", members: { token: "" } }, "upstream", "decode", /contains no token/],
    [{ kind: "patch", members: { token: 5 } }, "upstream", "decode", /contains no token/],
    [
      { kind: "redirect", location: "https://elsewhere.example.org/" },
      "upstream",
      "redirect",
      /307 Temporary Redirect: Moved: redirects are not followed/,
    ],
    [
      { kind: "reset" },
      "upstream",
      "transport",
      /^unable to create access token: the connection to the platform failed \([A-Z_]+\); check base_url, proxy and network$/,
    ],
    [{ kind: "truncate" }, "upstream", "transport", /connection to the platform failed/],
    [
      { kind: "oversize", bytes: 33 * 1024 * 1024 },
      "upstream",
      "too_large",
      /answer is too large; .*set exclude_repository_metadata; the token in it was revoked at once$/,
    ],
  ])("keeps its meaning: %j", async (fault, code, rule, message) => {
    await using room = await startEngineRoom();
    room.codeHost.faults.next("mint", fault);
    const refusal = await room.refusal("create", "token", mintTo);
    expect(refusal).toMatchObject({ code, rule });
    expect(refusal.message).toMatch(message);
    await expect(room.mint()).resolves.toHaveProperty("token");
  });

  it.each<readonly [Fault, number]>([
    [{ kind: "status", status: 429, headers: { "retry-after": "17" } }, 17_000],
    [{ kind: "status", status: 403, headers: { "retry-after": "5" } }, 5_000],
    [
      {
        kind: "status",
        status: 403,
        message: "You have exceeded a secondary rate limit. Please wait.",
      },
      60_000,
    ],
    [{ kind: "status", status: 429 }, 60_000],
  ])("as a limit is a limit, with its time: %j", async (fault, retryAfterMs) => {
    await using room = await startEngineRoom();
    room.codeHost.faults.next("mint", fault);
    expect(await room.refusal("create", "token", mintTo)).toMatchObject({
      code: "exhausted",
      rule: "rate_limited",
      retryAfterMs,
    });
  });

  it("as an end of its limit is a limit until then", async () => {
    await using room = await startEngineRoom({
      codeHost: { secondary: { mintsPerMinute: 1, announce: "reset", retryAfterS: 30 } },
    });
    await room.mint();
    // It counts by the clock's minutes, one of which may begin between two mints.
    let refusal = await room.refusal("create", "token", mintTo);
    if (refusal.code === undefined) refusal = await room.refusal("create", "token", mintTo);
    expect(refusal.code).toBe("exhausted");
    expect(refusal.retryAfterMs).toBeGreaterThan(0);
    expect(refusal.retryAfterMs).toBeLessThanOrEqual(60_000);
  });

  it("about real scopes is understood", async () => {
    await using room = await startEngineRoom();
    const rows: readonly (readonly [Data, string])[] = [
      [{ permissions: "administration=write" }, "permissions"],
      [{ permissions: "contents=admin" }, "permissions"],
      [{ repositories: "none" }, "repositories"],
      [{ repository_ids: "1" }, "repositories"],
    ];
    for (const [data, rule] of rows)
      expect(await room.refusal("create", "token", { ...mintTo, ...data })).toMatchObject({
        code: "invalid",
        rule,
      });
    room.codeHost.estate.change(1001, { suspendedAt: "2026-01-01T00:00:00Z" });
    expect(await room.refusal("create", "token", mintTo)).toMatchObject({
      code: "invalid",
      rule: "suspended",
    });
    expect(await room.refusal("create", "token", { installation_id: 4 })).toMatchObject({
      code: "invalid",
      rule: "not_installed",
    });
  });

  it("is quoted in bounds, on one line, without what looks like a credential", async () => {
    await using room = await startEngineRoom();
    room.codeHost.faults.next("mint", {
      kind: "status",
      status: 422,
      message: `bad ghs_abcDEF123 and eyJhbGciOi.eyJpc3MiOiIx.c2ln\nnew\u001b[31m ${"x".repeat(10_000)}`,
    });
    const { message } = await room.refusal("create", "token", mintTo);
    expect(message).toContain(String.raw`bad [secret] and [secret]\nnew\u001b[31m xxx`);
    expect(message.length).toBeLessThan(700);
  });

  it("is not waited for longer than ten seconds", async () => {
    await using room = await startEngineRoom();
    room.codeHost.faults.next("mint", { kind: "hang" });
    const started = performance.now();
    expect(await room.refusal("create", "token", mintTo)).toMatchObject({
      code: "deadline",
      rule: "timeout",
    });
    expect(performance.now() - started).toBeLessThan(20_000);
  });

  it("from an address where nobody listens is a failed connection", async () => {
    await using room = await startEngineRoom();
    const gone = room.codeHost.url;
    await room.codeHost.stop();
    expect(await room.refusal("create", "token", mintTo)).toMatchObject({
      code: "upstream",
      rule: "transport",
    });
    expect(gone).toMatch(/^http:/);
  });
});
