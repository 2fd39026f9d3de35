import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { Data } from "../../../src/tokens/logical/types.ts";
import { writeExact } from "../../../src/tokens/logical/json.ts";
import { startEngineRoom } from "../support/engine.ts";
import { logical } from "../support/host.ts";

const bodyOf = (text: string | undefined): unknown => JSON.parse(text ?? "null");

describe("minting", () => {
  it.each(["read", "create", "update"] as const)(
    "answers a %s with the platform's fields and ours",
    async (operation) => {
      await using room = await startEngineRoom();
      const askedMs = Date.now();
      const response = await room.ask(operation, "token", { installation_id: "1001" });
      const answeredMs = Date.now();
      const data = response?.data ?? {};
      expect(Object.keys(data).toSorted()).toEqual([
        "expires_at",
        "hashed_token",
        "installation_id",
        "permissions",
        "repository_selection",
        "token",
      ]);
      expect(data["hashed_token"]).toBe(
        createHash("sha256").update(String(data["token"])).digest("base64"),
      );
      expect(room.codeHost.find(String(data["hashed_token"]))).toMatchObject({
        installationId: 1001,
        revokedAtMs: undefined,
      });
      expect(response?.secret).toMatchObject({
        renewable: false,
        internalData: { secret_type: "github_token", base_url: room.codeHost.url },
      });
      const expiresMs = Date.parse(String(data["expires_at"]));
      const ttlMs = response?.secret?.ttlMs ?? 0;
      // A second is the resolution of the platform's clock.
      expect(ttlMs).toBeGreaterThan(expiresMs - answeredMs - 1_000);
      expect(ttlMs).toBeLessThan(expiresMs - askedMs + 1_000);
      expect(response?.warnings).toBeUndefined();
    },
  );

  it("is a create for the policy, always", async () => {
    await using room = await startEngineRoom();
    for (const path of ["token", "token/ci"])
      expect(await room.backend.exists(logical("update", path))).toBe(false);
    expect([
      room.backend.find("token")?.mints,
      room.backend.find("token/ci")?.mints,
      room.backend.find("config")?.mints,
    ]).toEqual([true, true, undefined]);
  });

  it("echoes org_name only when it was given, even when installation_id decides", async () => {
    await using room = await startEngineRoom();
    expect(await room.mint({ org_name: "Example-ORG" })).toMatchObject({
      org_name: "Example-ORG",
      installation_id: 1001,
    });
    expect(await room.mint({ installation_id: 1001, org_name: "other" })).toMatchObject({
      org_name: "other",
      installation_id: 1001,
    });
    expect(await room.mint({ installation_id: 1001 })).not.toHaveProperty("org_name");
    expect(room.codeHost.requests().org_installation).toBe(1);
  });

  it.each<readonly [Data, object]>([
    [{}, {}],
    [
      { repositories: "web, api", permissions: "contents=read,issues=write" },
      { permissions: { contents: "read", issues: "write" }, repositories: ["web", "api"] },
    ],
    [
      { repositories: ["web"], permissions: ["contents=read", "issues=read"] },
      { permissions: { contents: "read", issues: "read" }, repositories: ["web"] },
    ],
    [
      { repository_ids: "9001,9002", permissions: { contents: "read" } },
      { permissions: { contents: "read" }, repository_ids: [9001, 9002] },
    ],
    [{ repository_ids: 9001 }, { repository_ids: [9001] }],
    [
      { repositories: '["web"]', permissions: '{"contents":"read"}' },
      { permissions: { contents: "read" }, repositories: ["web"] },
    ],
    [{ repositories: null, permissions: null, repository_ids: null }, {}],
  ])("asks the platform for what was asked: %j", async (data, body) => {
    await using room = await startEngineRoom();
    const response = await room.ask("create", "token", { installation_id: 1001, ...data });
    expect(bodyOf(room.codeHost.lastRequest("mint")?.body)).toEqual(body);
    expect(response?.warnings).toBeUndefined();
  });

  it("says who it is in the platform's way", async () => {
    await using room = await startEngineRoom();
    await room.mint();
    expect(room.codeHost.lastRequest("mint")?.headers).toMatchObject({
      accept: "application/vnd.github+json",
      "x-github-api-version": "2022-11-28",
      "user-agent": "steward/0.1.0",
      "content-type": "application/json",
    });
  });

  it("keeps the path of an enterprise server, with and without a slash", async () => {
    await using room = await startEngineRoom();
    for (const suffix of ["/api/v3", "/api/v3/"]) {
      await room.ask("update", "config", { base_url: room.codeHost.url + suffix });
      await room.mint({ org_name: "example-org" });
      expect(room.codeHost.lastRequest("mint")?.path).toBe(
        "/api/v3/app/installations/1001/access_tokens",
      );
      expect(room.codeHost.lastRequest("org_installation")?.path).toBe(
        "/api/v3/orgs/example-org/installation",
      );
    }
  });

  it("keeps the digits of the platform's numbers and fields it never heard of", async () => {
    await using room = await startEngineRoom();
    room.codeHost.faults.next("mint", {
      kind: "patch",
      members: {
        big: "PLACE",
        single_file: null,
        has_multiple_single_files: true,
        single_file_paths: ["a"],
      },
    });
    expect(writeExact(await room.mint())).toContain(
      '"big":"PLACE","single_file":null,"has_multiple_single_files":true,"single_file_paths":["a"]',
    );
  });

  it("takes tokens of any form and length", async () => {
    await using room = await startEngineRoom({ codeHost: { tokenForm: "stateless" } });
    const { token, hashed_token: hash } = await room.mint();
    expect(String(token).length).toBeGreaterThan(300);
    expect(hash).toBe(createHash("sha256").update(String(token)).digest("base64"));
  });

  it("can be repeated: each time another token", async () => {
    await using room = await startEngineRoom();
    const tokens = await Promise.all(Array.from({ length: 20 }, () => room.mint()));
    expect(new Set(tokens.map(({ token }) => token)).size).toBe(20);
  });
});

describe("a request to mint is refused", () => {
  it.each<readonly [Data, string]>([
    [{}, "installation_id or org_name is a required parameter"],
    [{ installation_id: 0, org_name: "" }, "installation_id or org_name is a required parameter"],
    [{ org_name: "  " }, "installation_id or org_name is a required parameter"],
    [{ installation_id: null }, "installation_id or org_name is a required parameter"],
    [
      { installation_id: -5 },
      "installation_id must be above 0; read installations for those that the app has",
    ],
    [
      { installation_id: 1001, repositories: "example-org/web" },
      'repositories takes short names: write "web" instead of "example-org/web"; the owner follows from the installation',
    ],
    [
      {
        installation_id: 1001,
        repositories: Array.from({ length: 501 }, (_, index) => `r${index}`),
      },
      "repositories takes at most 500 repositories, not 501; request several tokens, or omit it for all repositories of the installation",
    ],
    [
      { installation_id: 1001, repository_ids: Array.from({ length: 501 }, (_, index) => index) },
      "repository_ids takes at most 500 repositories, not 501; request several tokens, or omit it for all repositories of the installation",
    ],
    [{ installation_id: 1001, nope: 1 }, "1 error occurred:\n\t* unknown field: nope\n\n"],
    [
      { installation_id: 1001, permissions: "contents" },
      'error converting input for field "permissions": invalid key pair "contents"',
    ],
    [
      { installation_id: 1001, repository_ids: "1,x" },
      'error converting input for field "repository_ids": 1 error(s) decoding:\n\n* cannot parse \'[1]\' as int: strconv.ParseInt: parsing "x": invalid syntax',
    ],
  ])("before anybody is asked, configured or not", async (data, message) => {
    await using room = await startEngineRoom();
    await using bare = await startEngineRoom({ config: false });
    for (const each of [room, bare])
      expect(await each.refusal("create", "token", data)).toMatchObject({
        code: "invalid",
        message,
      });
    expect(room.codeHost.lastRequest()).toBeUndefined();
  });

  it("after its fields and before its permission set when nothing is configured", async () => {
    await using room = await startEngineRoom({ config: false });
    for (const path of ["token", "token/none"])
      expect(
        await room.refusal("create", path, path === "token" ? { installation_id: 1 } : {}),
      ).toMatchObject({ code: "invalid", rule: "not_configured" });
  });
});

describe("lists given empty", () => {
  const empty: Data = {
    installation_id: 1001,
    repositories: "",
    repository_ids: [],
    permissions: {},
  };

  it("count as not given, with a warning", async () => {
    await using room = await startEngineRoom();
    expect((await room.ask("create", "token", empty))?.warnings).toEqual([
      "repositories, repository_ids, permissions given empty counts as not given: the token has the full scope of the installation there",
    ]);
    expect(bodyOf(room.codeHost.lastRequest("mint")?.body)).toEqual({});
  });

  it("are refused under strict_scopes, for tokens and for permission sets", async () => {
    await using room = await startEngineRoom({ config: { strict_scopes: true } });
    expect(await room.refusal("create", "token", empty)).toMatchObject({
      code: "invalid",
      message:
        "repositories, repository_ids, permissions must not be empty, for an empty list counts as not given (strict_scopes); leave out what shall not be limited",
    });
    expect(
      await room.refusal("create", "permissionset/ci", { installation_id: 1001, permissions: "" }),
    ).toMatchObject({ code: "invalid" });
    expect(room.codeHost.counts().minted).toBe(0);
    await expect(room.mint({ installation_id: 1001 })).resolves.toHaveProperty("token");
  });
});

describe("permissions", () => {
  it("that nobody knows are warned of, with the likely name", async () => {
    await using room = await startEngineRoom();
    room.codeHost.faults.next("mint", {
      kind: "status",
      status: 422,
      message: "The permissions requested are not granted to this installation.",
    });
    expect(
      (
        await room.refusal("create", "token", {
          installation_id: 1001,
          permissions: "pull-requests=read",
        })
      ).message,
    ).toContain('unknown permission "pull-requests"; did you mean pull_requests?');
    expect(
      (
        await room.ask("create", "permissionset/ci", {
          installation_id: 1001,
          permissions: "contents=admin",
        })
      )?.warnings,
    ).toEqual(['permission contents knows read and write, not "admin"']);
  });

  it("that are many are warned of one by one up to twenty, so that nobody waits for hints", async () => {
    await using room = await startEngineRoom();
    const permissions = Object.fromEntries(
      Array.from({ length: 1_000 }, (_, index) => [`${"content".repeat(5)}${index}`, "read"]),
    );
    const warnings =
      (await room.ask("create", "permissionset/ci", { installation_id: 1001, permissions }))
        ?.warnings ?? [];
    expect([warnings.length, warnings.at(-1)]).toEqual([21, "980 more permissions look wrong"]);
  });

  it("are compared with those that were granted", async () => {
    await using room = await startEngineRoom();
    room.codeHost.faults.next("mint", {
      kind: "patch",
      members: { permissions: { contents: "read", members: "write", metadata: "read" } },
    });
    expect(
      (
        await room.ask("create", "token", {
          installation_id: 1001,
          permissions: "contents=write,issues=read",
        })
      )?.warnings,
    ).toEqual([
      "the token lacks permissions that were requested: contents=write, issues=read",
      "the token has more permissions than requested: members=write",
    ]);
  });

  it("stay under the mount's ceiling, also when none are asked for", async () => {
    await using room = await startEngineRoom({
      config: { max_permissions: { contents: "write", issues: "read" } },
    });
    await room.mint();
    expect(bodyOf(room.codeHost.lastRequest("mint")?.body)).toEqual({
      permissions: { contents: "write", issues: "read" },
    });
    await room.mint({ installation_id: 1001, permissions: "contents=read" });
    expect(bodyOf(room.codeHost.lastRequest("mint")?.body)).toEqual({
      permissions: { contents: "read" },
    });
    for (const permissions of ["issues=write", "checks=read", "contents=admin", "contents=odd"]) {
      expect(
        await room.refusal("create", "token", { installation_id: 1001, permissions }),
      ).toMatchObject({
        code: "invalid",
        message: `${permissions} is above max_permissions of this mount, which allow contents=write, issues=read`,
      });
      expect(
        await room.refusal("create", "permissionset/ci", { installation_id: 1001, permissions }),
      ).toMatchObject({ code: "invalid" });
    }
  });
});

describe("repositories", () => {
  it("are compared with those that were granted", async () => {
    await using room = await startEngineRoom();
    room.codeHost.faults.next("mint", {
      kind: "patch",
      members: { repositories: [{ name: "api" }] },
    });
    expect(
      (await room.ask("create", "token", { installation_id: 1001, repositories: "Web" }))?.warnings,
    ).toEqual([
      "the token lacks repositories that were requested: web",
      "the token has more repositories than requested: api",
    ]);
    room.codeHost.faults.next("mint", {
      kind: "patch",
      members: { repository_selection: "all", repositories: undefined },
    });
    expect(
      (await room.ask("create", "token", { installation_id: 1001, repository_ids: "9001" }))
        ?.warnings,
    ).toEqual([
      "the token is for all repositories of the installation, although specific ones were requested",
    ]);
  });

  it("come whole, or as bare names", async () => {
    await using room = await startEngineRoom();
    const whole = await room.mint({ installation_id: 1001, repositories: "web" });
    expect((whole["repositories"] as readonly { readonly id: number }[])[0]?.id).toBe(9001);
    await room.ask("update", "config", { exclude_repository_metadata: true });
    expect(await room.mint({ installation_id: 1001, repositories: "web,api" })).toMatchObject({
      repositories: ["web", "api"],
    });
  });

  it.each<readonly [unknown, unknown]>([
    [null, null],
    [
      [null, 5, "x", {}, { name: "web" }, { name: null }],
      [null, null, null, null, "web", null],
    ],
    ["odd", "odd"],
    [{}, {}],
    [[], []],
  ])("of any odd form do no harm: %j", async (repositories, expected) => {
    await using room = await startEngineRoom({ config: { exclude_repository_metadata: true } });
    room.codeHost.faults.next("mint", { kind: "patch", members: { repositories } });
    expect((await room.mint())["repositories"]).toEqual(expected);
  });
});

describe("a token without a usable end", () => {
  it.each([undefined, null, 5, "", "tomorrow", "2026-11-21", "2020-01-01T00:00:00Z"])(
    "is revoked at once and not handed out: %j",
    async (expires) => {
      await using room = await startEngineRoom();
      room.codeHost.faults.next("mint", { kind: "patch", members: { expires_at: expires } });
      const refusal = await room.refusal("create", "token", { installation_id: 1001 });
      expect(refusal).toMatchObject({ code: "upstream", rule: "expires_at" });
      expect(refusal.message).toContain("it was revoked at once");
      expect(room.codeHost.counts()).toMatchObject({ minted: 1, live: 0 });
    },
  );

  it("that cannot be revoked either is told to the operator, without the token", async () => {
    await using room = await startEngineRoom();
    room.codeHost.faults.next("mint", { kind: "no_expiry" });
    room.codeHost.faults.next("revoke", { kind: "status", status: 500 });
    expect((await room.refusal("create", "token", { installation_id: 1001 })).message).toContain(
      "could not be revoked",
    );
    expect(room.host.logged.join("\n")).toMatch(
      /^error revoking a token that cannot be leased failed/,
    );
    expect(room.host.logged.join("\n")).not.toContain("ghs_");
  });

  it("is fine with fractions and offsets", async () => {
    await using room = await startEngineRoom();
    room.codeHost.faults.next("mint", {
      kind: "patch",
      members: { expires_at: "2036-01-01T00:00:00.123456+05:30" },
    });
    await expect(room.mint()).resolves.toHaveProperty("token");
  });
});
