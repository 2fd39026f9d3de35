/** `max_permissions` of a mount against what the platform grants, on a running daemon. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { CodeHost } from "../../src/demo/code-host/code-host.ts";
import { removeTemporaryFolders } from "./daemon.ts";
import {
  configure,
  startCodeHost,
  startVault,
  type VaultAnswer,
  type VaultDaemon,
} from "./vault.ts";

let vault: VaultDaemon;
let host: CodeHost;

beforeAll(async () => {
  host = await startCodeHost();
  vault = await startVault({ services: { dedup: false, monitor: false } });
});
afterAll(async () => {
  await vault.daemon.stop();
  await host.stop();
  removeTemporaryFolders();
});
beforeEach(async () => {
  host.faults.clear();
  await configure(vault, host, { max_permissions: "contents=write,issues=read" });
});

const mint = (body: object = {}): Promise<VaultAnswer> =>
  vault.ask("POST", "github/token", { body: { installation_id: 1001, ...body } });

const grant = (permissions: unknown): void =>
  host.faults.next("mint", { kind: "patch", members: { permissions } });

async function expectNothingLeft(): Promise<void> {
  expect(host.liveTokens()).toEqual([]);
  const { json } = await vault.ask("GET", "sys/leases/orphans");
  expect(json.data.orphans).toEqual([]);
  expect((await vault.ask("LIST", "sys/leases/lookup/github/token")).status).toBe(404);
}

describe("a token that the platform granted", () => {
  it.each<[string, unknown, string]>([
    ["a higher level", { contents: "write", issues: "write" }, "issues=write"],
    ["a permission that nobody asked for", { contents: "write", checks: "read" }, "checks=read"],
    ["administration", { contents: "read", administration: "write" }, "administration=write"],
    ["more than reading metadata", { metadata: "write" }, "metadata=write"],
    ["a level that nobody knows", { contents: "owner" }, "contents=owner"],
  ])("with %s is revoked at once and refused", async (_, permissions, named) => {
    grant(permissions);
    const { revoke } = host.requests();
    const answer = await mint();
    expect(answer.status).toBe(502);
    expect(answer.text).toContain(`with ${named}, which is above max_permissions`);
    expect(answer.text).toContain("revoked at once");
    expect(answer.text).not.toContain("ghs_");
    expect(host.requests().revoke).toBe(revoke + 1);
    await expectNothingLeft();
  });

  it.each([undefined, null, "write", []])(
    "without permissions that can be checked (%j) is revoked and refused",
    async (permissions) => {
      grant(permissions);
      const answer = await mint({ permissions: "contents=read" });
      expect([answer.status, answer.text]).toEqual([
        502,
        expect.stringContaining("max_permissions of this mount cannot be checked"),
      ]);
      await expectNothingLeft();
    },
  );

  it("that could not be revoked either stays listed", async () => {
    grant({ administration: "write" });
    host.faults.next("revoke", { kind: "status", status: 500 });
    const answer = await mint();
    expect([answer.status, answer.text]).toEqual([
      502,
      expect.stringContaining("could not be revoked"),
    ]);
    const { json } = await vault.ask("GET", "sys/leases/orphans");
    expect(json.data.orphans).toMatchObject([{ path: "github/token" }]);
  });

  it.each<[string, object]>([
    ["what was asked", { contents: "write", issues: "read" }],
    ["less", { contents: "read" }],
    ["reading metadata besides, as every token has it", { contents: "read", metadata: "read" }],
  ])("with %s is handed out", async (_, permissions) => {
    grant(permissions);
    const answer = await mint();
    expect([answer.status, answer.text]).toEqual([200, answer.text]);
    expect(answer.json.data.permissions).toEqual(permissions);
  });

  it("may have anything where there is no ceiling", async () => {
    await configure(vault, host, { max_permissions: "" });
    grant({ administration: "write" });
    expect((await mint()).status).toBe(200);
  });
});

describe("under a ceiling", () => {
  it("a request for everything asks the platform for the ceiling and no more", async () => {
    for (const body of [{}, { permissions: "" }, { permissions: {} }, { permissions: null }]) {
      expect((await mint(body)).status).toBe(200);
      expect(JSON.parse(host.lastRequest("mint")?.body ?? "")).toEqual({
        permissions: { contents: "write", issues: "read" },
      });
    }
  });

  it.each([
    "issues=write",
    "contents=admin",
    "Contents=read",
    "contents=read,administration=read",
    "__proto__=read",
    "constructor=read",
    "metadata=write",
  ])("%s is refused before the platform is asked, for root too", async (permissions) => {
    const { mint: before } = host.requests();
    const answer = await mint({ permissions });
    expect([answer.status, answer.text]).toEqual([
      400,
      expect.stringContaining("is above max_permissions"),
    ]);
    expect(host.requests().mint).toBe(before);
  });

  it("reading metadata may be asked for by name: every token has it", async () => {
    const answer = await mint({ permissions: "contents=read,metadata=read" });
    expect([answer.status, answer.json.data.permissions]).toEqual([
      200,
      { contents: "read", metadata: "read" },
    ]);
  });

  it("a permission set that was stored before is refused, with the cause on /tokens", async () => {
    await configure(vault, host, { max_permissions: "" });
    await vault.ask("POST", "github/permissionset/wide", {
      body: { installation_id: 1001, permissions: "issues=write" },
    });
    await configure(vault, host, { max_permissions: "contents=read" });
    const { mint: before } = host.requests();
    expect((await vault.ask("POST", "github/token/wide")).status).toBe(400);
    expect(host.requests().mint).toBe(before);
    const report = await (await fetch(`${vault.daemon.url}/api/tokens.json`)).json();
    expect(report.refusals[0]).toMatchObject({
      path: "github/token/wide",
      code: "invalid",
      message: expect.stringContaining("issues=write is above max_permissions"),
    });
  });
});
