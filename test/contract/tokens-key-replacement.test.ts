/** Replacing the app's private key while tokens are minted and revoked, on a running daemon. */
import { generateKeyPairSync } from "node:crypto";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import type { CodeHost } from "../../src/demo/code-host/code-host.ts";
import { removeTemporaryFolders } from "./daemon.ts";
import { appKey, configure, startCodeHost, startVault, type VaultDaemon } from "./vault.ts";

/** Requests under way all the time. */
const CLIENTS = 4;

let vault: VaultDaemon;
let host: CodeHost;
const newKey = generateKeyPairSync("rsa", {
  modulusLength: 2048,
  publicKeyEncoding: { type: "spki", format: "pem" },
  privateKeyEncoding: { type: "pkcs8", format: "pem" },
});

beforeAll(async () => {
  host = await startCodeHost({ latencyMs: 5 });
  vault = await startVault({ services: { dedup: false, monitor: false } });
  await configure(vault, host);
});
afterAll(async () => {
  await vault.daemon.stop();
  await host.stop();
  removeTemporaryFolders();
});

it("the key is replaced without one failed mint, and tokens of the old one are still revoked", async () => {
  const failures: string[] = [];
  let minted = 0;
  const over = new AbortController();
  const old = (await vault.ask("POST", "github/token", { body: { installation_id: 1001 } })).json;
  const client = async (): Promise<void> => {
    while (!over.signal.aborted) {
      const answer = await vault.ask("POST", "github/token", { body: { org_name: "example-org" } });
      minted += 1;
      if (answer.status !== 200) failures.push(answer.text);
    }
  };
  const clients = Array.from({ length: CLIENTS }, client);
  const more = async (): Promise<void> => {
    const enough = minted + 5 * CLIENTS;
    await vi.waitFor(() => expect(minted).toBeGreaterThanOrEqual(enough), { timeout: 60_000 });
  };
  await more();
  host.estate.replaceKeys(7, [appKey.publicKey, newKey.publicKey]);
  await more();
  const written = await vault.ask("POST", "github/config", {
    body: { prv_key: newKey.privateKey },
  });
  expect(written.status).toBe(204);
  await more();
  over.abort();
  await Promise.all(clients);
  // No request that was signed with the old key is under way any more.
  host.estate.replaceKeys(7, [newKey.publicKey]);
  expect(failures).toEqual([]);
  const after = await vault.ask("POST", "github/token", { body: { installation_id: 1001 } });
  expect(after.status).toBe(200);
  const ended = await vault.ask("PUT", "sys/leases/revoke", { body: { lease_id: old.lease_id } });
  expect(ended.status).toBe(204);
  expect(host.liveTokens().some(({ hash }) => hash === old.data.hashed_token)).toBe(false);
});

it("a key that the platform does not know is named by the doctor, and minting says so", async () => {
  host.estate.replaceKeys(7, [appKey.publicKey]);
  const answer = await vault.ask("POST", "github/token", { body: { installation_id: 1001 } });
  expect(answer.status).toBe(502);
  const { data } = (await vault.ask("GET", "github/doctor")).json;
  expect(data.ok).toBe(false);
  expect(data.checks.find(({ name }: { name: string }) => name === "app")).toMatchObject({
    ok: false,
    remedy: expect.stringContaining("prv_key"),
  });
  expect((await configure(vault, host)).status).toBe(204);
  expect(
    (await vault.ask("POST", "github/token", { body: { installation_id: 1001 } })).status,
  ).toBe(200);
});
