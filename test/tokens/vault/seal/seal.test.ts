import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  chownSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { systemIds } from "../../../../src/kernel/base/ids.ts";
import { createLog } from "../../../../src/kernel/base/log.ts";
import { stringKey } from "../../../../src/kernel/state/keys.ts";
import { defineTable } from "../../../../src/kernel/state/table.ts";
import type { Env, Table } from "../../../../src/kernel/state/types.ts";
import { bytesCodec } from "../../../../src/kernel/state/values.ts";
import { parseKey } from "../../../../src/tokens/vault/seal/root-key.ts";
import { openSeal } from "../../../../src/tokens/vault/seal/seal.ts";
import { sealTables } from "../../../../src/tokens/vault/seal/tables.ts";
import type { Seal, SealOptions } from "../../../../src/tokens/vault/seal/types.ts";
import { openEnv, temporaryFolder } from "../../../kernel/state/fixtures/tables.ts";

const secrets: Table<string, Uint8Array> = defineTable({
  name: "secrets",
  key: stringKey,
  value: bytesCodec,
  limit: { rows: 10 },
  sealed: true,
});
const value = Uint8Array.of(1, 2, 3);

interface Start {
  readonly env: Env;
  readonly seal: Seal;
  readonly said: string[];
}

async function start(directory: string, options: Partial<SealOptions> = {}): Promise<Start> {
  const env = await openEnv(directory, { tables: [secrets, ...sealTables] });
  const said: string[] = [];
  const log = createLog({
    level: "info",
    format: "text",
    write: (line) => said.push(line),
    now: () => 0,
  });
  return {
    env,
    said,
    seal: await openSeal(
      { env, directory, ids: systemIds, log },
      { type: "file", keyFile: undefined, credentials: undefined, ...options },
    ),
  };
}

/** A folder whose store was made, with one value in it. */
async function made(
  options: Partial<SealOptions> = {},
): Promise<{ directory: string; key: string }> {
  const directory = temporaryFolder();
  const { env } = await start(directory, options);
  await env.write((tx) => tx.put(secrets, "a", value));
  await env.close();
  const key = join(directory, "tokens.key");
  return { directory, key };
}

describe("the seal", () => {
  it("makes a key for nobody else at the first start, opens with it at each later one, and says that it lies beside the data", async () => {
    const { directory, key } = await made();
    expect([
      statSync(key).mode & 0o777,
      parseKey(readFileSync(key, "utf8"))?.length,
      existsSync(`${key}.new`),
    ]).toEqual([0o600, 32, false]);
    const { env, seal, said } = await start(directory);
    expect(seal.status()).toEqual({
      initialized: true,
      sealed: false,
      type: "static",
      shares: 1,
      threshold: 1,
      progress: 0,
      nonce: "",
      reason: undefined,
      advisory: expect.stringContaining("in the same folder as the data") as string,
    });
    expect(env.read((snapshot) => snapshot.get(secrets, "a"))).toEqual(value);
    expect(said.join("")).not.toContain(readFileSync(key, "utf8").trim());
  });

  it("of a store of invented things says nothing about where its key lies", async () => {
    const { seal, said } = await start(temporaryFolder(), { invented: true });
    expect([said, seal.status().sealed, seal.status().advisory]).toEqual([[], false, undefined]);
    const plain = await start(temporaryFolder());
    expect(plain.said.map((line) => /keep a copy|same folder as the data/.exec(line)?.[0])).toEqual(
      ["same folder as the data", "keep a copy"],
    );
  });

  it("goes on after a crash that left half of the first key", async () => {
    const directory = temporaryFolder();
    writeFileSync(join(directory, "tokens.key.new"), "half");
    expect((await start(directory)).seal.status().sealed).toBe(false);
    expect(existsSync(join(directory, "tokens.key.new"))).toBe(false);
  });

  it("can be closed and opened by the key as hexadecimal or base64, and by no other", async () => {
    const { directory, key } = await made();
    const { env, seal } = await start(directory);
    const bytes = parseKey(readFileSync(key, "utf8")) ?? new Uint8Array();
    for (const form of ["hex", "base64", "base64url"] as const) {
      seal.seal();
      expect(seal.status()).toMatchObject({
        initialized: true,
        sealed: true,
        reason: expect.stringContaining("sys/unseal") as string,
      });
      expect(() => env.read((snapshot) => snapshot.get(secrets, "a"))).toThrow(
        expect.objectContaining({ code: "sealed" }),
      );
      for (const wrong of ["", "no key", "ab".repeat(31)])
        await expect(seal.unseal(wrong)).rejects.toMatchObject({ code: "invalid" });
      await expect(seal.unseal("ab".repeat(32))).rejects.toMatchObject({
        code: "denied",
        message: "this is not the key that the store of tokens was made with",
      });
      expect(seal.status().sealed).toBe(true);
      await seal.unseal(Buffer.from(bytes).toString(form));
      expect(env.read((snapshot) => snapshot.get(secrets, "a"))).toEqual(value);
    }
  });

  it("stays closed without its key and names the file and the remedy; the key given by hand opens it", async () => {
    const { directory, key } = await made();
    const text = readFileSync(key, "utf8");
    rmSync(key);
    const { seal } = await start(directory);
    expect(seal.status()).toMatchObject({
      initialized: true,
      sealed: true,
      reason: expect.stringMatching(/tokens\.key is missing.*put it back/) as string,
    });
    expect(existsSync(key)).toBe(false);
    await seal.unseal(text);
    expect(seal.status().sealed).toBe(false);
  });

  it("stays closed for a key of another store, and for a key file that is badly kept, and says which", async () => {
    const { directory, key } = await made();
    const right = readFileSync(key, "utf8");
    const cases: readonly (readonly [string, RegExp, () => void])[] = [
      [
        "another key",
        /does not hold the key that the store of tokens was made with/,
        () => writeFileSync(key, Buffer.alloc(32, 9).toString("hex")),
      ],
      ["no key", /32 bytes in hexadecimal or base64/, () => writeFileSync(key, "x")],
      ["much else", /has 5000 bytes/, () => writeFileSync(key, "x".repeat(5_000))],
      ["open to others", /mode 0644.*chmod 600/, () => chmodSync(key, 0o644)],
      [
        "a link",
        /symbolic link/,
        () => {
          renameSync(key, `${key}.real`);
          symlinkSync(`${key}.real`, key);
        },
      ],
      [
        "a folder",
        /is no file/,
        () => {
          rmSync(key);
          mkdirSync(key, 0o700);
        },
      ],
    ];
    for (const [name, reason, spoil] of cases) {
      rmSync(key, { force: true, recursive: true });
      writeFileSync(key, right, { mode: 0o600 });
      spoil();
      const { env, seal } = await start(directory);
      expect([name, seal.status()]).toEqual([
        name,
        expect.objectContaining({
          sealed: true,
          initialized: true,
          reason: expect.stringMatching(reason) as string,
        }),
      ]);
      await env.close();
    }
  });

  it.skipIf(process.geteuid?.() !== 0)(
    "does not take a key that belongs to somebody else",
    async () => {
      const { directory, key } = await made();
      chownSync(key, 4_711, 4_711);
      expect((await start(directory)).seal.status().reason).toMatch(
        /belongs to user 4711.*; run Steward as that user$/,
      );
    },
  );

  it("takes the configured file before the credential, and that before the state folder's; neither of them is made", async () => {
    const [file, credentials] = [join(temporaryFolder(), "key"), temporaryFolder()];
    writeFileSync(file, Buffer.alloc(32, 1).toString("base64"), { mode: 0o600 });
    writeFileSync(join(credentials, "tokens.key"), Buffer.alloc(32, 2).toString("hex"), {
      mode: 0o440,
    });
    const byFile = await made({ keyFile: file, credentials });
    const byCredential = await made({ credentials });
    expect([existsSync(byFile.key), existsSync(byCredential.key)]).toEqual([false, false]);
    expect((await start(byFile.directory, { keyFile: file })).seal.status()).toMatchObject({
      sealed: false,
      advisory: undefined,
    });
    expect((await start(byCredential.directory, { credentials })).seal.status()).toMatchObject({
      sealed: false,
      advisory: undefined,
    });
    const directory = temporaryFolder();
    const none = await start(directory, { keyFile: join(directory, "none") });
    expect(none.seal.status()).toMatchObject({
      initialized: false,
      sealed: true,
      reason: expect.stringMatching(/none is missing; make one: head -c 32/) as string,
    });
    await expect(none.seal.unseal("ab".repeat(32))).rejects.toMatchObject({
      code: "invalid",
      rule: "initialized",
    });
  });

  it("makes its key in the state folder when the credentials have none for it", async () => {
    const { key } = await made({ credentials: temporaryFolder() });
    expect(existsSync(key)).toBe(true);
  });
});
