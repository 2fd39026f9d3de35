/**
 * What the holders of key shares may do with an unsealed store, as Vault's clients meet it: new
 * shares, another root token.
 */
import { afterAll, describe, expect, it, vi } from "vitest";
import { removeTemporaryFolders } from "./daemon.ts";
import {
  open,
  sealStatus,
  startHost,
  startShamir,
  startUnsealed,
  stopAtEnd,
  unseal,
  unsealed,
} from "./shamir.ts";
import { configure } from "./vault.ts";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;

afterAll(removeTemporaryFolders);

describe("sys/rekey", () => {
  it("replaces the shares: the new ones unseal, the former do not, and tokens, leases and settings stay", async () => {
    const host = await startHost();
    const { vault, holders } = await unsealed();
    await configure(vault, host);
    const lease = (await vault.ask("POST", "github/token", { body: { installation_id: 1001 } }))
      .json.lease_id as string;
    expect((await open(vault, "GET", "sys/rekey/init")).json).toEqual({
      nonce: "",
      started: false,
      t: 0,
      n: 0,
      progress: 0,
      required: 3,
      pgp_fingerprints: null,
      backup: false,
      verification_required: false,
    });
    const begun = await open(vault, "PUT", "sys/rekey/init", {
      secret_shares: 4,
      secret_threshold: 2,
    });
    const nonce = begun.json.nonce as string;
    expect(begun.json).toMatchObject({ started: true, t: 2, n: 4, progress: 0, required: 3 });
    const update = (key: string | undefined, given = nonce): ReturnType<typeof open> =>
      open(vault, "PUT", "sys/rekey/update", { key, nonce: given });
    const [a, b, c] = holders.keys;
    expect((await update(a)).json).toMatchObject({ progress: 1, nonce });
    for (const [answer, text] of [
      [await update(a), "given key has already been provided during this generation operation"],
      [
        await update(b, "other"),
        `incorrect nonce supplied; nonce for this rekey operation is "${nonce}"`,
      ],
      [await update(undefined), "'key' must be specified in request body as JSON"],
      [
        await open(vault, "PUT", "sys/rekey/init", { secret_shares: 1, secret_threshold: 1 }),
        "rekey already in progress",
      ],
    ] as const)
      expect([answer.status, answer.json]).toEqual([400, { errors: [text] }]);
    await update(b);
    const done = (await update(c)).json as Record<string, unknown> & { keys: string[] };
    expect(done).toMatchObject({ complete: true, nonce, verification_required: false });
    expect(Object.keys(done)).not.toContain("verification_nonce");
    expect([done.keys.length, (done["keys_base64"] as string[]).length]).toEqual([4, 4]);
    await vi.waitFor(
      () => expect(vault.daemon.stderr.join("\n")).toContain("only its new shares unseal"),
      { timeout: 60_000 },
    );
    expect((await vault.ask("GET", "sys/key-status")).json.data.term).toBe(2);
    await vault.daemon.stop();
    const again = stopAtEnd(await startShamir(vault.state, vault.root));
    expect(await sealStatus(again)).toMatchObject({ t: 2, n: 4 });
    expect((await unseal(again, holders.keys.slice(0, 2))).status).toBe(400);
    expect((await unseal(again, done.keys.slice(2))).json).toMatchObject({ sealed: false });
    expect(
      (await again.ask("PUT", "sys/leases/lookup", { body: { lease_id: lease } })).status,
    ).toBe(200);
    expect((await again.ask("GET", "github/config")).json.data.prv_key).toBe("<configured>");
  });

  it("of wrong shares discards them and stays in progress; DELETE cancels it, and without one nothing is in progress", async () => {
    const { vault, holders } = await unsealed({ shares: 3, threshold: 2 });
    const nonce = (
      await open(vault, "PUT", "sys/rekey/init", { secret_shares: 1, secret_threshold: 1 })
    ).json.nonce as string;
    const update = (key: string | undefined): ReturnType<typeof open> =>
      open(vault, "PUT", "sys/rekey/update", { key, nonce });
    await update(holders.keys[0]);
    const wrong = await update("11".repeat(33));
    expect([wrong.status, wrong.json.errors[0]]).toEqual([
      400,
      expect.stringContaining("rekey failed: these shares do not make the key") as string,
    ]);
    expect((await open(vault, "GET", "sys/rekey/init")).json).toMatchObject({
      started: true,
      progress: 0,
      nonce,
    });
    expect((await open(vault, "DELETE", "sys/rekey/init")).status).toBe(204);
    expect((await open(vault, "GET", "sys/rekey/init")).json).toMatchObject({ started: false });
    const late = await update(holders.keys[0]);
    expect(late.json).toEqual({ errors: ["no barrier rekey in progress"] });
    for (const [path, text] of [
      ["sys/rekey/verify", "no rekey in progress"],
      ["sys/rekey-recovery-key/init", "recovery rekeying not supported"],
    ])
      expect((await open(vault, "PUT", path ?? "", { key: holders.keys[0] })).json).toEqual({
        errors: [text],
      });
  });

  it.each([
    [
      { secret_shares: 2, secret_threshold: 3 },
      "invalid seal configuration: threshold cannot be larger than shares",
    ],
    [
      { secret_shares: 2, secret_threshold: 2, backup: true },
      "cannot request a backup of the new keys without providing PGP keys for encryption",
    ],
    [
      { secret_shares: 1, secret_threshold: 1, pgp_keys: ["x"] },
      "pgp_keys is not supported: Steward does not encrypt by PGP; leave it out, and encrypt what is returned for its holders yourself",
    ],
  ])("refuses to start with %j", async (body, text) => {
    const { vault } = await ready();
    const answer = await open(vault, "PUT", "sys/rekey/init", body);
    expect([answer.status, answer.json]).toEqual([400, { errors: [text] }]);
  });

  it("keeps no backup, which needs a token to be asked for", async () => {
    const { vault } = await ready();
    expect((await open(vault, "GET", "sys/rekey/backup")).status).toBe(403);
    const answer = await vault.ask("GET", "sys/rekey/backup");
    expect([answer.status, answer.json]).toEqual([400, { errors: ["no backed-up keys found"] }]);
    expect((await vault.ask("DELETE", "sys/rekey/backup")).status).toBe(204);
  });

  let one: ReturnType<typeof startUnsealed> | undefined;
  const ready = (): ReturnType<typeof startUnsealed> => (one ??= startUnsealed());
  afterAll(async () => void (await (await one)?.vault.daemon.stop()));

  it("with require_verification keeps the present shares until enough new ones were given back", async () => {
    const { vault, holders } = await unsealed({ shares: 2, threshold: 2 });
    const begun = (
      await open(vault, "PUT", "sys/rekey/init", {
        secret_shares: 3,
        secret_threshold: 2,
        require_verification: true,
      })
    ).json;
    expect(begun).toMatchObject({ verification_required: true });
    const early = await open(vault, "PUT", "sys/rekey/verify", { key: holders.keys[0], nonce: "" });
    expect(early.json).toEqual({ errors: ["no rekey verification in progress"] });
    let made: Record<string, unknown> = {};
    for (const key of holders.keys)
      made = (await open(vault, "PUT", "sys/rekey/update", { key, nonce: begun.nonce })).json;
    const nonce = made["verification_nonce"] as string;
    const fresh = made["keys"] as string[];
    expect([made["complete"], made["verification_required"], fresh.length]).toEqual([
      true,
      true,
      3,
    ]);
    expect((await open(vault, "GET", "sys/rekey/init")).json).toMatchObject({
      started: true,
      verification_nonce: nonce,
    });
    const finished = await open(vault, "PUT", "sys/rekey/update", {
      key: holders.keys[0],
      nonce: begun.nonce,
    });
    expect(finished.json.errors[0]).toContain("verification must be performed");
    expect((await open(vault, "GET", "sys/rekey/verify")).json).toEqual({
      nonce,
      started: true,
      t: 2,
      n: 3,
      progress: 0,
    });
    const verify = (key: string | undefined, given: string): ReturnType<typeof open> =>
      open(vault, "PUT", "sys/rekey/verify", { key, nonce: given });
    await verify(fresh[0], nonce);
    const wrong = await verify(holders.keys[0], nonce);
    expect(wrong.json).toEqual({
      errors: ["rekey verification failed; incorrect key shares supplied"],
    });
    const second = (await open(vault, "GET", "sys/rekey/verify")).json.nonce as string;
    expect([second === nonce, (await verify(fresh[0], nonce)).status]).toEqual([false, 400]);
    expect((await verify(fresh[0], second)).json).toMatchObject({ progress: 1 });
    const third = (await open(vault, "DELETE", "sys/rekey/verify")).json;
    expect([third.progress, third.nonce === second]).toEqual([0, false]);
    // The present shares are still valid.
    await vault.ask("PUT", "sys/seal");
    await unseal(vault, holders.keys);
    expect((await open(vault, "GET", "sys/rekey/init")).json).toMatchObject({ started: false });
    const rekeyed = (
      await open(vault, "PUT", "sys/rekey/init", {
        secret_shares: 3,
        secret_threshold: 2,
        require_verification: true,
      })
    ).json;
    for (const key of holders.keys)
      made = (await open(vault, "PUT", "sys/rekey/update", { key, nonce: rekeyed.nonce })).json;
    const [x, , z] = made["keys"] as string[];
    await verify(z, made["verification_nonce"] as string);
    const complete = await verify(x, made["verification_nonce"] as string);
    expect(complete.json).toEqual({ nonce: made["verification_nonce"], complete: true });
    await vault.ask("PUT", "sys/seal");
    expect((await unseal(vault, holders.keys)).status).toBe(400);
    expect((await unseal(vault, [x, z])).json).toMatchObject({ sealed: false, t: 2, n: 3 });
  });
});

describe("sys/generate-root", () => {
  const decoded = (encoded: string, otp: string): string =>
    Buffer.from(
      Buffer.from(encoded, "base64").map((byte, at) => byte ^ otp.charCodeAt(at)),
    ).toString("utf8");

  it("makes another root token for enough shares, XORed with the one-time pad that only the start returns", async () => {
    const { vault, holders } = await unsealed({ shares: 3, threshold: 2 });
    const begun = (await open(vault, "PUT", "sys/generate-root/attempt")).json;
    expect(begun).toEqual({
      nonce: expect.stringMatching(UUID) as string,
      started: true,
      progress: 0,
      required: 2,
      complete: false,
      encoded_token: "",
      encoded_root_token: "",
      pgp_fingerprint: "",
      otp: expect.stringMatching(/^[0-9A-Za-z]{28}$/) as string,
      otp_length: 28,
    });
    const shown = (await open(vault, "GET", "sys/generate-root/attempt")).json;
    expect(shown).toMatchObject({ nonce: begun.nonce as string, otp: "" });
    const update = (key: string | undefined): ReturnType<typeof open> =>
      open(vault, "PUT", "sys/generate-root/update", { key, nonce: begun.nonce });
    expect((await update(holders.keys[0])).json).toMatchObject({ progress: 1, complete: false });
    expect((await update(holders.keys[0])).status).toBe(400);
    const done = (await update(holders.keys_base64[2])).json;
    expect(done).toMatchObject({ progress: 2, required: 2, complete: true });
    expect(done.encoded_root_token).toBe(done.encoded_token);
    expect(done.encoded_token).not.toContain("=");
    const token = decoded(done.encoded_token as string, begun.otp as string);
    expect(token).toMatch(/^hvs\.[0-9A-Za-z]{24}$/);
    const self = await vault.ask("GET", "auth/token/lookup-self", { token });
    expect(self.json.data).toMatchObject({ policies: ["root"], ttl: 0 });
    expect((await open(vault, "GET", "sys/generate-root/attempt")).json.started).toBe(false);
  });

  it("takes a one-time pad, refuses one of another length, a second attempt and PGP, and is cancelled by DELETE", async () => {
    const { vault, holders } = await unsealed({ shares: 1, threshold: 1 });
    const attempt = (body: unknown): ReturnType<typeof open> =>
      open(vault, "POST", "sys/generate-root/attempt", body);
    expect((await attempt({ otp: "short" })).json.errors[0]).toContain(
      "OTP string is wrong length",
    );
    expect((await attempt({ pgp_key: "x" })).json.errors[0]).toContain("pgp_key is not supported");
    const nothing = await open(vault, "PUT", "sys/generate-root/update", {
      key: holders.keys[0],
      nonce: "",
    });
    expect(nothing.json).toEqual({ errors: ["no root generation in progress"] });
    const otp = "o".repeat(28);
    const first = (await attempt({ otp })).json;
    expect([first.otp, first.started]).toEqual(["", true]);
    expect((await attempt({ otp })).json).toEqual({
      errors: ["root generation already in progress"],
    });
    expect((await open(vault, "DELETE", "sys/generate-root/attempt")).status).toBe(204);
    const { nonce } = (await attempt({ otp })).json as { nonce: string };
    const wrong = await open(vault, "PUT", "sys/generate-root/update", {
      key: "22".repeat(32),
      nonce,
    });
    expect(wrong.json.errors[0]).toContain("root generation aborted");
    const done = await open(vault, "PUT", "sys/generate-root/update", {
      key: holders.keys[0],
      nonce,
    });
    const token = decoded(done.json.encoded_token as string, otp);
    expect((await vault.ask("GET", "sys/mounts", { token })).status).toBe(200);
  });

  it("is at OpenBao's path too, there with a token alone and in an envelope", async () => {
    const { vault, holders } = await unsealed({ shares: 1, threshold: 1 });
    expect((await open(vault, "PUT", "sys/generate-root-token/attempt")).status).toBe(403);
    const begun = (await vault.ask("PUT", "sys/generate-root-token/attempt")).json.data;
    const done = await vault.ask("PUT", "sys/generate-root-token/update", {
      body: { key: holders.keys[0], nonce: begun.nonce },
    });
    const token = decoded(done.json.data.encoded_token as string, begun.otp as string);
    expect((await vault.ask("GET", "sys/mounts", { token })).status).toBe(200);
  });
});
