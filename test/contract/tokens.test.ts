import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CodeHost } from "../../src/demo/code-host/code-host.ts";
import { removeTemporaryFolders } from "./daemon.ts";
import { appKey, configure, startCodeHost, startVault, type VaultDaemon } from "./vault.ts";

let host: CodeHost;
let vault: VaultDaemon;
const LEASE = /^github\/token\/[0-9A-Za-z]{24}$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

beforeAll(async () => {
  host = await startCodeHost();
  vault = await startVault();
  expect((await configure(vault, host)).status).toBe(204);
});

afterAll(async () => {
  await vault.daemon.stop();
  await host.stop();
  removeTemporaryFolders();
});

describe("build information (contract 2.4, 4)", () => {
  it("is seven strings in the envelope, without a token", async () => {
    const answer = await vault.ask("GET", "github/info", { token: "" });
    expect(answer.status).toBe(200);
    expect(Object.keys(answer.json)).toEqual([
      "request_id",
      "lease_id",
      "renewable",
      "lease_duration",
      "data",
      "wrap_info",
      "warnings",
      "auth",
    ]);
    expect(answer.json.request_id).toMatch(UUID);
    expect(answer.json.data).toEqual({
      project_name: "",
      project_docs: "",
      build_version: "",
      build_revision: "",
      build_branch: "",
      build_date: "",
      build_user: "",
    });
  });
});

describe("metrics (contract 4)", () => {
  it("are text exposition, without a token", async () => {
    const answer = await vault.ask("GET", "github/metrics", { token: "" });
    expect(answer.status).toBe(200);
    expect(answer.headers["content-type"]).toBe("text/plain; version=0.0.4; charset=utf-8");
    expect(answer.text).toContain("# TYPE vault_github_token_build_info gauge");
  });
});

describe("the engine's configuration (contract 2.1, 3)", () => {
  it("reads back without the key", async () => {
    const { json } = await vault.ask("GET", "github/config");
    expect(json.data).toEqual({
      app_id: 7,
      base_url: host.url,
      exclude_repository_metadata: false,
      prv_key: "<configured>",
    });
  });

  it("takes part of the fields once there is a configuration", async () => {
    expect(
      (await vault.ask("PUT", "github/config", { body: { exclude_repository_metadata: "true" } }))
        .status,
    ).toBe(204);
    expect((await vault.ask("GET", "github/config")).json.data.exclude_repository_metadata).toBe(
      true,
    );
    await vault.ask("POST", "github/config", { body: { exclude_repository_metadata: false } });
  });

  it("names what a first write lacks", async () => {
    await vault.ask("POST", "sys/mounts/bare", { body: { type: "github" } });
    const answer = await vault.ask("POST", "bare/config", { body: { app_id: 3 } });
    expect(answer.status).toBe(400);
    expect(answer.json.errors[0]).toContain("prv_key");
    expect((await vault.ask("GET", "bare/config")).json.data).toEqual({
      app_id: 0,
      base_url: "https://api.github.com",
      exclude_repository_metadata: false,
      prv_key: "",
    });
  });

  it("is gone after a delete, and the leases can still be revoked", async () => {
    await vault.ask("POST", "sys/mounts/brief", { body: { type: "github" } });
    await vault.ask("POST", "brief/config", {
      body: { app_id: 7, prv_key: appKey.privateKey, base_url: host.url },
    });
    const minted = await vault.ask("POST", "brief/token", { body: { installation_id: 1001 } });
    expect((await vault.ask("DELETE", "brief/config")).status).toBe(204);
    expect((await vault.ask("GET", "brief/config")).json.data.prv_key).toBe("");
    expect(
      (await vault.ask("POST", "brief/token", { body: { installation_id: 1001 } })).status,
    ).toBe(400);
    const before = host.counts().revoked;
    expect(
      (await vault.ask("PUT", "sys/leases/revoke", { body: { lease_id: minted.json.lease_id } }))
        .status,
    ).toBe(204);
    expect(host.counts().revoked).toBe(before + 1);
  });
});

describe("a token (contract 2.2, 2.3, 4)", () => {
  it("carries the platform's fields, the installation and its hash, under a lease that ends with it", async () => {
    const { status, json, headers } = await vault.ask("POST", "github/token", {
      body: { installation_id: 1001 },
    });
    expect(status).toBe(200);
    expect(headers["cache-control"]).toBe("no-store");
    expect(json.lease_id).toMatch(LEASE);
    expect(json.renewable).toBe(false);
    expect(json.lease_duration).toBeGreaterThan(3_590);
    expect(json.lease_duration).toBeLessThanOrEqual(3600);
    expect(json.data).toMatchObject({
      installation_id: 1001,
      permissions: { contents: "write" },
      repository_selection: "all",
    });
    expect(json.data).not.toHaveProperty("org_name");
    expect(json.data.hashed_token).toBe(
      createHash("sha256")
        .update(json.data.token as string)
        .digest("base64"),
    );
  });

  it("is the same by GET, by organisation in any case, and in every spelling of its scopes", async () => {
    const byGet = await vault.ask(
      "GET",
      "github/token?org_name=Example-ORG&repositories=web,api&permissions=contents=read,issues=write",
    );
    expect(byGet.status).toBe(200);
    expect(byGet.json.data).toMatchObject({
      installation_id: 1001,
      org_name: "Example-ORG",
      permissions: { contents: "read", issues: "write" },
      repository_selection: "selected",
    });
    const byList = await vault.ask("POST", "github/token", {
      body: {
        installation_id: "1001",
        repository_ids: "11, 12",
        permissions: ["contents=read", "issues=write"],
      },
    });
    expect(byList.json.data).toMatchObject({
      permissions: { contents: "read", issues: "write" },
      repository_selection: "selected",
    });
    const byForm = await vault.ask("POST", "github/token", {
      body: "installation_id=1001&repositories=web&repositories=api",
      headers: { "content-type": "application/x-www-form-urlencoded" },
    });
    expect(byForm.json.data.repositories.map((one: { name: string }) => one.name)).toEqual([
      "web",
      "api",
    ]);
  });

  it("lists bare names of repositories when told to", async () => {
    await vault.ask("POST", "github/config", { body: { exclude_repository_metadata: true } });
    const { json } = await vault.ask("POST", "github/token", {
      body: { installation_id: 1001, repositories: ["web"] },
    });
    await vault.ask("POST", "github/config", { body: { exclude_repository_metadata: false } });
    expect(json.data.repositories).toEqual(["web"]);
  });

  it("needs an installation or an organisation", async () => {
    const answer = await vault.ask("POST", "github/token", { body: {} });
    expect([answer.status, answer.text]).toEqual([
      400,
      '{"errors":["installation_id or org_name is a required parameter"]}\n',
    ]);
  });

  it("is revoked at the platform with its lease", async () => {
    const { json } = await vault.ask("POST", "github/token", { body: { installation_id: 1001 } });
    const id = json.lease_id as string;
    const found = await vault.ask("PUT", "sys/leases/lookup", { body: { lease_id: id } });
    expect(found.json.data).toMatchObject({
      id,
      path: "github/token",
      renewable: false,
      last_renewal: null,
    });
    expect(
      (await vault.ask("PUT", "sys/leases/renew", { body: { lease_id: id } })).json.errors[0],
    ).toContain("lease is not renewable");
    const before = host.counts().revoked;
    expect((await vault.ask("PUT", "sys/leases/revoke", { body: { lease_id: id } })).status).toBe(
      204,
    );
    expect(host.counts().revoked).toBe(before + 1);
    expect((await vault.ask("PUT", "sys/leases/lookup", { body: { lease_id: id } })).text).toBe(
      '{"errors":["invalid lease"]}\n',
    );
  });
});

describe("permission sets (contract 3, 4, 7)", () => {
  it("are written, read, listed, used, replaced and deleted", async () => {
    expect((await vault.ask("GET", "github/permissionset/ci")).text).toBe('{"errors":[]}\n');
    expect((await vault.ask("LIST", "github/permissionsets")).status).toBe(404);
    expect(
      (
        await vault.ask("POST", "github/permissionset/ci", {
          body: { installation_id: 1001, permissions: "contents=read", repositories: "web" },
        })
      ).status,
    ).toBe(204);
    expect((await vault.ask("GET", "github/permissionset/ci")).json.data).toEqual({
      installation_id: 1001,
      org_name: "",
      repositories: ["web"],
      repository_ids: null,
      permissions: { contents: "read" },
    });
    const listed = await vault.ask("LIST", "github/permissionsets");
    expect([listed.status, listed.json.data]).toEqual([200, { keys: ["ci"] }]);
    expect((await vault.ask("GET", "github/permissionsets?list=true")).json.data).toEqual({
      keys: ["ci"],
    });
    const minted = await vault.ask("POST", "github/token/ci");
    expect(minted.json.lease_id).toMatch(/^github\/token\/ci\/[0-9A-Za-z]{24}$/);
    expect(minted.json.data).toMatchObject({
      installation_id: 1001,
      permissions: { contents: "read" },
    });
    await vault.ask("POST", "github/permissionset/ci", { body: { org_name: "other-org" } });
    expect((await vault.ask("GET", "github/permissionset/ci")).json.data).toEqual({
      installation_id: 0,
      org_name: "other-org",
      repositories: null,
      repository_ids: null,
      permissions: null,
    });
    expect((await vault.ask("DELETE", "github/permissionset/ci")).status).toBe(204);
    expect((await vault.ask("GET", "github/permissionset/ci")).status).toBe(404);
  });

  it("take no scope with the request, and their absence is named", async () => {
    const missing = await vault.ask("GET", "github/token/none");
    expect([missing.status, missing.text]).toEqual([
      400,
      '{"errors":["permission set \'none\' does not exist"]}\n',
    ]);
    await vault.ask("POST", "github/permissionset/fixed", { body: { installation_id: 1001 } });
    const scoped = await vault.ask("POST", "github/token/fixed", {
      body: { permissions: { contents: "write" } },
    });
    expect([scoped.status, scoped.json.errors[0]]).toEqual([
      400,
      expect.stringContaining("unknown field: permissions") as string,
    ]);
  });
});

describe("authentication (contract 5)", () => {
  it("is asked of every path but two", async () => {
    for (const [method, path] of [
      ["GET", "config"],
      ["POST", "config"],
      ["DELETE", "config"],
      ["POST", "token"],
      ["GET", "token"],
      ["POST", "token/x"],
      ["GET", "permissionset/x"],
      ["LIST", "permissionsets"],
      ["GET", "installations"],
      ["GET", "doctor"],
    ] as const) {
      const answer = await vault.ask(method, `github/${path}`, { token: "" });
      expect([path, answer.status, answer.text]).toEqual([
        path,
        403,
        '{"errors":["permission denied"]}\n',
      ]);
    }
  });
});

describe("errors (contract 7, facts 2.2)", () => {
  it("have Vault's forms", async () => {
    const unknown = await vault.ask("POST", "github/token", { body: { nope: 1 } });
    expect([unknown.status, unknown.json.errors]).toEqual([
      400,
      ["1 error occurred:\n\t* unknown field: nope\n\n"],
    ]);
    const nowhere = await vault.ask("GET", "nope/x");
    expect([nowhere.status, nowhere.json.errors]).toEqual([
      404,
      ['no handler for route "nope/x". route entry not found.'],
    ]);
    expect((await vault.ask("PATCH", "github/config", { body: "{}" })).status).toBe(415);
    expect((await vault.ask("OPTIONS", "github/token")).json.errors).toEqual([
      "cannot handle internal-only request operation",
    ]);
    expect((await vault.ask("GET", "github/a/%2e%2e/config")).json.errors).toEqual([
      "relative paths not supported",
    ]);
    expect(
      (await vault.ask("POST", "github/token", { body: '{"installation_id":' })).json.errors[0],
    ).toMatch(/^failed to decode JSON input/);
  });
});
