import { createHash } from "node:crypto";
import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { checksum } from "../../../src/demo/code-host/estate/token-form.ts";
import { HOME, startHost } from "./support.ts";

const NO_REPOSITORY =
  "There is at least one repository that does not exist or is not accessible to the parent installation.";

describe("minting", () => {
  it("gives a token for everything when nothing is asked for", async () => {
    const { mint, clock, call, jwt } = await startHost();
    const expires = new Date(clock.now() + 3_600_000).toISOString().replace(".000Z", "Z");
    for (const body of [
      undefined,
      {},
      { repositories: [], repository_ids: [], permissions: {} },
      { repositories: null },
    ]) {
      const { status, json } = await mint(body);
      expect(status).toBe(201);
      expect(json).toEqual({
        token: expect.stringMatching(/^ghs_[A-Za-z0-9]{36}$/),
        expires_at: expires,
        permissions: HOME.permissions,
        repository_selection: "all",
        single_file: ".github/a.yml",
        has_multiple_single_files: true,
        single_file_paths: [".github/a.yml", "b.yml"],
      });
    }
    expect(
      (await call("POST", "/app/installations/1001/access_tokens", { as: jwt(), body: "{}\n" }))
        .status,
    ).toBe(201);
  });

  it("narrows to repositories by name in any case, by id, or by both, with whole objects of about 6 KB", async () => {
    const { mint } = await startHost();
    for (const [body, names] of [
      [{ repositories: ["WEB"] }, ["web"]],
      [{ repository_ids: [2] }, ["api"]],
      [{ repositories: ["web", "site"], repository_ids: [2, 1] }, ["web", "Site", "api"]],
    ] as const) {
      const { json } = await mint(body);
      expect(json.repository_selection).toBe("selected");
      expect(json.repositories.map((each: { name: string }) => each.name)).toEqual(names);
    }
    const { json } = await mint({ repositories: ["web"] });
    expect(json.repositories[0]).toMatchObject({
      id: 1,
      full_name: "Example-Org/web",
      private: true,
      owner: { login: "Example-Org", type: "Organization" },
    });
    expect(JSON.stringify(json.repositories[0]).length).toBeGreaterThan(5000);
    expect(JSON.stringify(json.repositories[0]).length).toBeLessThan(7500);
  });

  it("lists the repositories of an installation on selected ones", async () => {
    const { mint, host } = await startHost();
    host.estate.change(1001, { repositorySelection: "selected" });
    const { json } = await mint();
    expect([json.repository_selection, json.repositories.length]).toEqual(["selected", 3]);
  });

  it("narrows permissions, and metadata comes with any access to repositories", async () => {
    const { mint } = await startHost();
    expect((await mint({ permissions: { contents: "read" } })).json.permissions).toEqual({
      contents: "read",
      metadata: "read",
    });
    expect((await mint({ permissions: { members: "read" } })).json).toMatchObject({
      permissions: { members: "read" },
    });
    expect((await mint({ permissions: { members: "read" } })).json).not.toHaveProperty(
      "single_file",
    );
  });

  it("refuses what the installation does not have, in upstream's words", async () => {
    const { mint, host } = await startHost();
    const rows: [body: unknown, message: string][] = [
      [
        { permissions: { actions: "read" } },
        "The permissions requested are not granted to this installation.",
      ],
      [
        { permissions: { "pull-requests": "read" } },
        "The permissions requested are not granted to this installation.",
      ],
      [
        { permissions: { issues: "write" } },
        "The level of access for permissions requested are not granted to this installation.",
      ],
      [
        { permissions: { workflows: "read" } },
        "The level of access for permissions requested are not granted to this installation.",
      ],
      [
        { permissions: { contents: "all" } },
        "The level of access for permissions requested are not granted to this installation.",
      ],
      [{ repositories: ["Example-Org/web"] }, NO_REPOSITORY],
      [{ repositories: ["web", "nope"] }, NO_REPOSITORY],
      [{ repository_ids: [21] }, NO_REPOSITORY],
      [
        { repositories: "web" },
        "Invalid request.\n\nFor 'properties/repositories', \"web\" is not an array.",
      ],
      [
        { repositories: [1] },
        "Invalid request.\n\nFor 'properties/repositories/items/0', 1 is not a string.",
      ],
      [
        { repository_ids: ["1"] },
        "Invalid request.\n\nFor 'properties/repository_ids/items/0', \"1\" is not an integer.",
      ],
      [
        { repositories: Array.from({ length: 501 }, () => "web") },
        "Invalid request.\n\nFor 'properties/repositories', No more than 500 items are allowed; 501 were supplied.",
      ],
      [
        { permissions: ["contents"] },
        "Invalid request.\n\nFor 'properties/permissions', [\"contents\"] is not an object.",
      ],
      [
        { permissions: { contents: null } },
        "Invalid request.\n\nFor 'properties/permissions/properties/contents', nil is not a string.",
      ],
    ];
    for (const [body, message] of rows)
      expect((await mint(body as object)).json).toEqual({
        message,
        documentation_url: expect.stringContaining("create-an-installation-access-token"),
        status: "422",
      });
    expect((await mint({ repositories: Array.from({ length: 500 }, () => "web") })).status).toBe(
      201,
    );
    expect(host.counts().minted).toBe(1);
  });

  it("refuses a body that is no JSON object", async () => {
    const { call, jwt } = await startHost();
    for (const [body, message] of [
      ["{", "Problems parsing JSON"],
      ["[]", "Body should be a JSON object"],
      ["null", "Body should be a JSON object"],
    ] as const) {
      expect(
        (await call("POST", "/app/installations/1001/access_tokens", { as: jwt(), body })).json,
      ).toMatchObject({ message, status: "400" });
    }
  });

  it("answers 403 for a suspended installation and 404 for another app's and for none", async () => {
    const { call, jwt, host } = await startHost();
    for (const id of ["2001", "9", "x", "-1", "99999999999999999999"])
      expect(
        (await call("POST", `/app/installations/${id}/access_tokens`, { as: jwt() })).json,
      ).toMatchObject({ message: "Not Found", status: "404" });
    expect(
      (
        await call("POST", "/app/installations/2001/access_tokens", {
          as: jwt({ iss: 2 }, { key: 1 }),
        })
      ).status,
    ).toBe(201);
    host.estate.change(1001, { suspendedAt: "2026-01-01T00:00:00Z" });
    expect(
      (await call("POST", "/app/installations/1001/access_tokens", { as: jwt() })).json,
    ).toMatchObject({ message: "This installation has been suspended", status: "403" });
    host.estate.change(1001, { suspendedAt: null });
    expect(
      (await call("POST", "/app/installations/1001/access_tokens", { as: jwt() })).status,
    ).toBe(201);
  });
});

describe("the form of a token", () => {
  it("is classic with a checksum, or long with two dots; the request's header decides over the option", async () => {
    const { mint, host } = await startHost();
    const { token: classic } = (await mint()).json;
    expect(checksum(classic.slice(4, 34))).toBe(classic.slice(34));
    const { token: long } = (await mint({}, { "x-github-stateless-s2s-token": "enabled" })).json;
    expect(long).toMatch(/^ghs_1_[\w-]+\.[\w-]+\.[\w-]+$/);
    expect(long).toMatch(/^ghs_[A-Za-z0-9._-]{36,}$/);
    expect(Math.abs(long.length - 520)).toBeLessThan(20);
    expect(host.minted().map((each) => each.form)).toEqual(["classic", "stateless"]);
    const other = await startHost({ tokenForm: "stateless" });
    expect((await other.mint()).json.token).toContain(".");
    expect(
      (await other.mint({}, { "x-github-stateless-s2s-token": "disabled" })).json.token,
    ).not.toContain(".");
  });
});

describe("what is known of minted tokens", () => {
  it("is their hash, scope and fate, never their text", async () => {
    const { mint, host, call, clock } = await startHost();
    const { token } = (await mint({ repositories: ["api"], permissions: { contents: "read" } }))
      .json;
    const hash = createHash("sha256").update(token).digest("base64");
    const known = {
      number: 1,
      hash,
      form: "classic",
      appId: 1,
      installationId: 1001,
      permissions: { contents: "read", metadata: "read" },
      repositoryIds: [2],
      mintedAtMs: clock.now(),
      expiresAtMs: clock.now() + 3_600_000,
      revokedAtMs: undefined,
    };
    expect(host.minted()).toEqual([known]);
    expect(host.find(hash)).toEqual(known);
    expect(host.liveTokens()).toHaveLength(1);
    expect((await call("DELETE", "/installation/token", { as: token })).status).toBe(204);
    expect(host.find(hash)?.revokedAtMs).toBe(clock.now());
    expect(host.liveTokens()).toEqual([]);
    expect(
      inspect([host, host.minted(), host.lastRequest()], { depth: 20, showHidden: true }),
    ).not.toContain(token);
  });

  it("is bounded: the dead go first, then the oldest living one, which is unknown from then on", async () => {
    const { mint, host, call } = await startHost({ tokensKept: 3 });
    const tokens: string[] = [];
    for (let index = 0; index < 3; index++) tokens.push((await mint()).json.token);
    await call("DELETE", "/installation/token", { as: tokens[1] ?? "" });
    tokens.push((await mint()).json.token);
    expect(host.counts()).toEqual({ minted: 4, revoked: 1, live: 3, dropped: 0, kept: 3 });
    tokens.push((await mint()).json.token);
    expect(host.counts()).toEqual({ minted: 5, revoked: 1, live: 3, dropped: 1, kept: 3 });
    expect((await call("GET", "/rate_limit", { as: tokens[0] ?? "" })).status).toBe(401);
    expect((await call("GET", "/rate_limit", { as: tokens[2] ?? "" })).status).toBe(200);
  });

  it("forgets the expired at the bound", async () => {
    const { mint, host, clock } = await startHost({ tokensKept: 2, tokenLifetimeMs: 1000 });
    await mint();
    await mint();
    clock.advance(1001);
    await mint();
    expect(host.counts()).toMatchObject({ minted: 3, live: 1, dropped: 0, kept: 1 });
  });
});
