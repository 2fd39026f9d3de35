/**
 * What a store says about its key shares: how many there are and unseal, and how the right key is
 * recognised. One row, not sealed, since it is needed to unseal. It holds no key and no share, only
 * an HMAC under each key; and, until the first unsealing, the first root token under the key.
 */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync } from "node:crypto";
import { StewardError } from "../../../kernel/base/errors.ts";
import type { Ids } from "../../../kernel/base/ids.ts";
import { equalSecrets, Secret } from "../../../kernel/base/secret.ts";
import type { Env } from "../../../kernel/state/types.ts";
import { sealRow } from "./tables.ts";
import type { ShareTerms } from "./types.ts";

const ROW = "shamir";
const CHECK_LABEL = "steward tokens: root key";
const TOKEN_LABEL = "steward tokens: first root token";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** A key by its HMAC, in base64. */
export interface KnownKey extends ShareTerms {
  readonly check: string;
}

export interface StoredSeal {
  readonly current: KnownKey;
  /** Opens the store as well, from its offer until one of both opened the store or was adopted. */
  readonly next?: KnownKey;
  /** Base64 of nonce, encrypted token and tag; absent from the first unsealing on. */
  readonly rootToken?: string;
  /** Shares and token were handed over. */
  readonly delivered: boolean;
}

/** Undefined for a store that is not initialised, or whose key is a file. */
export function storedSeal(env: Env): StoredSeal | undefined {
  const bytes = env.read((snapshot) => snapshot.get(sealRow, ROW));
  return bytes === undefined
    ? undefined
    : (JSON.parse(Buffer.from(bytes).toString("utf8")) as StoredSeal);
}

/** Durable when it resolves. */
export async function storeSeal(env: Env, seal: StoredSeal): Promise<void> {
  await env.write((tx) => tx.put(sealRow, ROW, Buffer.from(JSON.stringify(seal))));
}

export function knownKey(key: Uint8Array, { shares, threshold }: ShareTerms): KnownKey {
  return { shares, threshold, check: checkOf(key) };
}

/** Constant time. */
export function isKnownKey(key: Uint8Array, { check }: KnownKey): boolean {
  return equalSecrets(checkOf(key), check);
}

function checkOf(key: Uint8Array): string {
  return createHmac("sha256", key).update(CHECK_LABEL).digest("base64");
}

/** The token under a key that is derived from the root key. */
export function encryptToken(token: Secret, key: Uint8Array, ids: Ids): string {
  const nonce = ids.bytes(NONCE_BYTES);
  const cipher = createCipheriv("aes-256-gcm", tokenKey(key), nonce);
  const body = token.use((text) => cipher.update(text, "utf8"));
  return Buffer.concat([nonce, body, cipher.final(), cipher.getAuthTag()]).toString("base64");
}

/** Throws `corrupt` when it was not encrypted under this key, or was changed. */
export function decryptToken(text: string, key: Uint8Array): Secret {
  const bytes = Buffer.from(text, "base64");
  try {
    const decipher = createDecipheriv(
      "aes-256-gcm",
      tokenKey(key),
      bytes.subarray(0, NONCE_BYTES),
      { authTagLength: TAG_BYTES },
    ).setAuthTag(bytes.subarray(-TAG_BYTES));
    const body = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES));
    return Secret.of(Buffer.concat([body, decipher.final()]).toString("utf8"), "first root token");
  } catch (cause) {
    throw new StewardError("corrupt", "the first root token of the store cannot be read", {
      remedy: "restore a backup of the store",
      cause,
    });
  }
}

function tokenKey(key: Uint8Array): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", key, "", TOKEN_LABEL, 32));
}
