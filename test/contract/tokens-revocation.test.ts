/**
 * Revocation at a platform whose servers learn of a new token a little later, or behind a proxy that
 * answers in its place: a lease is gone only when its token is.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { CodeHost } from "../../src/demo/code-host/code-host.ts";
import { removeTemporaryFolders } from "./daemon.ts";
import {
  configure,
  startCodeHost,
  startVault,
  type VaultAnswer,
  type VaultDaemon,
} from "./vault.ts";

/** More than the time from a mint's answer to the revocation, so that its first answer is 401. */
const LAG_MS = 900;

let vault: VaultDaemon;
let host: CodeHost;

beforeAll(async () => {
  host = await startCodeHost({ replicationLagMs: LAG_MS });
  vault = await startVault();
  expect((await configure(vault, host, { max_permissions: "contents=write" })).status).toBe(204);
});
afterEach(() => host.faults.clear());
afterAll(async () => {
  await vault.daemon.stop();
  await host.stop();
  removeTemporaryFolders();
});

const mint = (): Promise<VaultAnswer> =>
  vault.ask("POST", "github/token", { body: { installation_id: 1001 } });

const revoke = (id: unknown): Promise<VaultAnswer> =>
  vault.ask("PUT", "sys/leases/revoke", { body: { lease_id: id } });

const lookup = async (id: unknown): Promise<number> =>
  (await vault.ask("PUT", "sys/leases/lookup", { body: { lease_id: id } })).status;

const orphans = async (): Promise<unknown> =>
  (await vault.ask("GET", "sys/leases/orphans")).json.data.orphans;

describe("a token that is revoked right after its mint", () => {
  it("is revoked at the platform before its lease is gone", async () => {
    const { lease_id: id } = (await mint()).json;
    expect(host.liveTokens()).toHaveLength(1);
    expect((await revoke(id)).status).toBe(204);
    expect([host.liveTokens(), await lookup(id)]).toEqual([[], 400]);
  });

  it("is revoked at the platform when it may not be handed out", async () => {
    host.faults.next("mint", { kind: "patch", members: { permissions: { contents: "admin" } } });
    const answer = await mint();
    expect([answer.status, answer.text]).toEqual([502, expect.stringContaining("revoked at once")]);
    expect([host.liveTokens(), await orphans()]).toEqual([[], []]);
  });
});

describe("a page with 404 in place of the platform's answer", () => {
  it("keeps the lease, which the next try revokes", async () => {
    const { lease_id: id } = (await mint()).json;
    host.faults.next("revoke", { kind: "html", status: 404 });
    const answer = await revoke(id);
    expect([answer.status, answer.text]).toEqual([502, expect.stringContaining("base_url")]);
    expect([host.liveTokens().length, await lookup(id)]).toEqual([1, 200]);
    expect((await revoke(id)).status).toBe(204);
    expect([host.liveTokens(), await lookup(id)]).toEqual([[], 400]);
  });

  it("keeps a record of a token that may not be handed out", async () => {
    host.faults.next("mint", { kind: "patch", members: { permissions: { contents: "admin" } } });
    host.faults.next("revoke", { kind: "html", status: 404 });
    const answer = await mint();
    expect([answer.status, answer.text]).toEqual([
      502,
      expect.stringContaining("could not be revoked"),
    ]);
    expect(await orphans()).toMatchObject([{ path: "github/token" }]);
  });
});
