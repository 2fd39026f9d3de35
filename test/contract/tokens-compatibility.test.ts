/** What clients of Vault and OpenBao ask beyond minting, each on the running daemon over HTTP. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { removeTemporaryFolders } from "./daemon.ts";
import { startVault, vaultRequest, type VaultDaemon } from "./vault.ts";

let vault: VaultDaemon;

beforeAll(async () => {
  vault = await startVault();
});

afterAll(async () => {
  await vault.daemon.stop();
  removeTemporaryFolders();
});

describe("a spent wrapping token", () => {
  const GONE = ["wrapping token is not valid or does not exist"];

  async function wrap(): Promise<string> {
    return (await vault.ask("POST", "sys/wrapping/wrap", { body: { a: 1 }, headers: { "x-vault-wrap-ttl": "60" } })).json.wrap_info.token as string;
  }

  it.each(["unwrap", "rewrap", "lookup"])("says so to sys/wrapping/%s, as the request's own token and as its parameter", async (operation) => {
    const token = await wrap();
    const asked = (asking: { token?: string; body?: unknown }): ReturnType<typeof vaultRequest> => vaultRequest(vault.daemon.url, "PUT", `sys/wrapping/${operation}`, asking);
    expect((await vaultRequest(vault.daemon.url, "PUT", "sys/wrapping/unwrap", { token })).json.data).toEqual({ a: 1 });
    for (const asking of [{ token }, { body: { token } }, { token, body: { token: "" } }, { token: vault.root, body: { token } }]) {
      const { status, json } = await asked(asking);
      expect([status, json.errors]).toEqual([400, GONE]);
    }
    expect((await asked({})).json.errors).toEqual(["missing \"token\" value in input"]);
  });
});
