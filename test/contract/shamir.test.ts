/**
 * A store that is sealed by key shares, as Vault's clients meet it: initialisation, unsealing, new
 * shares, another root token, and what is answered in between.
 */
import { afterAll, describe, expect, it, vi } from "vitest";
import { removeTemporaryFolders } from "./daemon.ts";
import {
  initialize,
  open,
  sealStatus,
  startHost,
  startShamir,
  stopAtEnd,
  unseal,
  unsealed,
} from "./shamir.ts";
import { configure, type VaultDaemon } from "./vault.ts";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const WRONG =
  "invalid key: these shares do not make the key of this store; they were discarded, give all of them again";

afterAll(removeTemporaryFolders);

async function start(state?: string): Promise<VaultDaemon> {
  return stopAtEnd(await startShamir(state));
}

describe("sys/init", () => {
  it("makes the shares and the root token once; before it the store is not initialised, after it sealed", async () => {
    const vault = await start();
    expect(await sealStatus(vault)).toMatchObject({
      type: "shamir",
      initialized: false,
      sealed: true,
      t: 0,
      n: 0,
      progress: 0,
      nonce: "",
      migration: false,
      recovery_seal: false,
    });
    expect((await open(vault, "GET", "sys/init")).json).toEqual({ initialized: false });
    expect((await open(vault, "GET", "sys/health")).status).toBe(501);
    const early = await open(vault, "PUT", "sys/unseal", { key: "ab".repeat(33) });
    expect([early.status, early.json]).toEqual([
      400,
      { errors: ["Vault is not initialized; initialise it with sys/init"] },
    ]);
    const holders = await initialize(vault);
    expect(Object.keys(holders)).toEqual(["keys", "keys_base64", "root_token"]);
    expect(holders.keys).toHaveLength(5);
    expect(new Set(holders.keys.map((key) => key.slice(-2))).size).toBe(5);
    for (const [index, key] of holders.keys.entries()) {
      expect(key).toMatch(/^[0-9a-f]{66}$/);
      expect(Buffer.from(holders.keys_base64[index] ?? "", "base64").toString("hex")).toBe(key);
    }
    expect(holders.root_token).toMatch(/^hvs\.[0-9A-Za-z]{24}$/);
    expect(await sealStatus(vault)).toMatchObject({ initialized: true, sealed: true, t: 3, n: 5 });
    expect((await open(vault, "GET", "sys/health")).status).toBe(503);
    const again = await open(vault, "PUT", "sys/init", { secret_shares: 1, secret_threshold: 1 });
    expect([again.status, again.json]).toEqual([400, { errors: ["Vault is already initialized"] }]);
    expect((await unseal(vault, holders.keys.slice(2))).json).toMatchObject({ sealed: false });
    const self = await vault.ask("GET", "auth/token/lookup-self", { token: holders.root_token });
    expect(self.json.data).toMatchObject({ policies: ["root"], ttl: 0, path: "auth/token/root" });
    expect(vault.daemon.stderr.join("\n")).not.toContain("root token of the Vault API");
  });

  it.each([
    [{}, "invalid seal configuration: shares must be at least one"],
    [{ secret_shares: 2 }, "invalid seal configuration: threshold must be at least one"],
    [
      { secret_shares: 2, secret_threshold: 1 },
      "invalid seal configuration: threshold must be greater than one for multiple shares",
    ],
    [
      { secret_shares: 256, secret_threshold: 2 },
      "invalid seal configuration: shares must be less than 256",
    ],
    [
      { secret_shares: 3, secret_threshold: 4 },
      "invalid seal configuration: threshold cannot be larger than shares",
    ],
    [
      { secret_shares: 3, secret_threshold: 2, recovery_shares: 5, recovery_threshold: 3 },
      "parameters recovery_shares,recovery_threshold not applicable to seal type shamir",
    ],
  ])("refuses %j", async (body, text) => {
    const vault = await shared();
    const answer = await open(vault, "PUT", "sys/init", body);
    expect([answer.status, answer.json]).toEqual([400, { errors: [text] }]);
    expect(await sealStatus(vault)).toMatchObject({ initialized: false });
  });

  it.each([
    [{ pgp_keys: ["a", "b"] }, "pgp_keys"],
    [{ root_token_pgp_key: "keybase:x" }, "root_token_pgp_key"],
  ])("refuses %j, naming the field and what to do", async (more, field) => {
    const vault = await shared();
    const answer = await open(vault, "PUT", "sys/init", {
      secret_shares: 2,
      secret_threshold: 2,
      ...more,
    });
    expect([answer.status, answer.json.errors[0]]).toEqual([
      400,
      expect.stringMatching(new RegExp(`^${field} is not supported: .*leave it out`)),
    ]);
    expect(await sealStatus(vault)).toMatchObject({ initialized: false });
  });

  let one: Promise<VaultDaemon> | undefined;
  const shared = (): Promise<VaultDaemon> => (one ??= startShamir());
  afterAll(async () => void (await (await one)?.daemon.stop()));

  it("of one share returns the key itself, in hexadecimal and base64, and 255 shares can be had", async () => {
    const single = await start();
    const holders = await initialize(single, { shares: 1, threshold: 1 });
    expect(holders.keys).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/)]);
    expect((await unseal(single, holders.keys_base64)).json).toMatchObject({
      sealed: false,
      t: 1,
      n: 1,
    });
    const many = await start();
    const all = await initialize(many, { shares: 255, threshold: 255 });
    expect((await unseal(many, all.keys)).json).toMatchObject({ sealed: false, t: 255, n: 255 });
  });
});

describe("sys/unseal", () => {
  it("takes shares in any order and both spellings, shows progress under one nonce, and a share twice changes nothing", async () => {
    const vault = await start();
    const { keys, keys_base64: base64 } = await initialize(vault);
    const first = (await unseal(vault, [keys[4]])).json;
    expect(first).toMatchObject({ sealed: true, progress: 1, t: 3, n: 5 });
    expect(first.nonce).toMatch(UUID);
    expect((await unseal(vault, [base64[4]])).json).toMatchObject({
      progress: 1,
      nonce: first.nonce as string,
    });
    expect((await unseal(vault, [base64[0]])).json).toMatchObject({
      progress: 2,
      nonce: first.nonce as string,
    });
    expect((await unseal(vault, [keys[2]?.toUpperCase()])).json).toMatchObject({
      sealed: false,
      progress: 0,
      nonce: "",
      cluster_name: expect.stringContaining("steward") as string,
    });
    expect((await unseal(vault, [keys[1]])).json).toMatchObject({ sealed: false, progress: 0 });
    const reset = await open(vault, "PUT", "sys/unseal", { reset: true });
    expect([reset.status, reset.json]).toEqual([400, { errors: ["vault is unsealed"] }]);
  });

  it("of wrong shares discards all and says so; reset discards them too, and the next attempt has another nonce", async () => {
    const vault = await start();
    const { keys } = await initialize(vault);
    const foreign = "5a".repeat(33);
    const nonce = (await unseal(vault, keys.slice(0, 2))).json.nonce as string;
    const refused = await unseal(vault, [foreign]);
    expect([refused.status, refused.json]).toEqual([400, { errors: [WRONG] }]);
    expect(await sealStatus(vault)).toMatchObject({ sealed: true, progress: 0, nonce: "" });
    // As long as the threshold allows, a wrong one is not recognised alone.
    expect((await unseal(vault, [keys[0], "ab".repeat(16)])).json).toMatchObject({ progress: 2 });
    expect((await unseal(vault, [keys[1]])).status).toBe(400);
    const next = (await unseal(vault, [keys[0]])).json;
    expect([next.progress, next.nonce === nonce]).toEqual([1, false]);
    expect((await open(vault, "PUT", "sys/unseal", { reset: true })).json).toMatchObject({
      progress: 0,
      nonce: "",
      sealed: true,
    });
    expect((await unseal(vault, keys.slice(0, 3))).json).toMatchObject({ sealed: false });
  });

  it.each([
    [{}, "'key' must be specified in request body as JSON, or 'reset' set to true"],
    [{ key: "not a key!" }, "'key' must be a valid hex or base64 string"],
    [{ key: "abcd" }, "key is shorter than minimum 16 bytes"],
    [{ key: Buffer.alloc(34).toString("base64") }, "key is longer than maximum 33 bytes"],
    [
      { key: "ab".repeat(33), migrate: true },
      "migrate is not supported: a store keeps the seal that it was made with; leave it out",
    ],
  ])("refuses %j", async (body, text) => {
    const vault = await ready();
    const answer = await open(vault, "PUT", "sys/unseal", body);
    expect([answer.status, answer.json]).toEqual([400, { errors: [text] }]);
    expect(await sealStatus(vault)).toMatchObject({ progress: 0 });
  });

  let one: Promise<VaultDaemon> | undefined;
  const ready = (): Promise<VaultDaemon> =>
    (one ??= startShamir().then(async (vault) => {
      await initialize(vault);
      return vault;
    }));
  afterAll(async () => void (await (await one)?.daemon.stop()));

  it("of several people at once counts each share once", async () => {
    const vault = await start();
    const { keys } = await initialize(vault, { shares: 20, threshold: 10 });
    const answers = await Promise.all(
      [...keys.slice(0, 10), ...keys.slice(0, 10)].map((key) => unseal(vault, [key])),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
    expect(await sealStatus(vault)).toMatchObject({ sealed: false, progress: 0 });
    expect(
      vault.daemon.stderr.filter((line) => line.includes("the store of tokens is unsealed")),
    ).toHaveLength(1);
  });
});

describe("while sealed", () => {
  it("after a restart and after sys/seal, only five paths answer; /readyz stays open, and the pages say what to do", async () => {
    const { vault, holders } = await unsealed();
    expect((await vault.ask("PUT", "sys/seal")).status).toBe(204);
    await vi.waitFor(async () => expect((await sealStatus(vault))["sealed"]).toBe(true), {
      timeout: 60_000,
    });
    await vault.daemon.stop();
    const again = stopAtEnd(await startShamir(vault.state, vault.root));
    for (const path of [
      "github/info",
      "github/metrics",
      "github/config",
      "sys/mounts",
      "sys/rekey/init",
      "sys/rekey/verify",
      "sys/generate-root/attempt",
      "sys/key-status",
      "auth/token/lookup-self",
    ]) {
      const answer = await again.ask("GET", path);
      expect([path, answer.status, answer.json]).toEqual([
        path,
        503,
        { errors: ["Vault is sealed"] },
      ]);
    }
    for (const [path, status] of [
      ["sys/health", 503],
      ["sys/seal-status", 200],
      ["sys/init", 200],
      ["sys/leader", 200],
    ] as const)
      expect([path, (await open(again, "GET", path)).status]).toEqual([path, status]);
    const get = async (path: string): Promise<string> =>
      await (await fetch(`${again.daemon.url}${path}`)).text();
    expect((await fetch(`${again.daemon.url}/readyz`)).status).toBe(200);
    expect(await get("/readyz?verbose=1")).toMatch(
      /tokens.*sealed: give 3 of 5 key shares to sys\/unseal \(0 given\)/,
    );
    expect(await get("/tokens")).toContain("sealed");
    expect(await get("/")).toContain("sealed");
    await unseal(again, holders.keys.slice(1, 4));
    expect((await again.ask("GET", "github/info")).status).toBe(200);
  });

  it("leases that expired are revoked after the unsealing", async () => {
    const host = await startHost();
    const { vault, holders } = await unsealed();
    await configure(vault, host);
    await vault.ask("POST", "sys/mounts/github/tune", { body: { max_lease_ttl: "8s" } });
    const { lease_id: lease } = (
      await vault.ask("POST", "github/token", { body: { installation_id: 1001 } })
    ).json as { lease_id: string };
    const expiry = Date.parse(
      (await vault.ask("PUT", "sys/leases/lookup", { body: { lease_id: lease } })).json.data
        .expire_time as string,
    );
    await vault.ask("PUT", "sys/seal");
    await vi.waitFor(() => expect(Date.now()).toBeGreaterThan(expiry), { timeout: 60_000 });
    expect(host.liveTokens()).toHaveLength(1);
    await unseal(vault, holders.keys.slice(0, 3));
    await vi.waitFor(() => expect(host.liveTokens()).toEqual([]), { timeout: 60_000 });
  });
});
