/**
 * Batch tokens: all that is known about one is inside its id, encrypted, so that nothing is stored.
 * The id is `hvb.` and the base64url of: version, 16 random bytes, a nonce, the AES-256-GCM
 * ciphertext, its tag. Each has a key of its own, made of the store's key and the random bytes, so
 * that no count of tokens ever wears a key out.
 */
import { createCipheriv, createDecipheriv, createHmac } from "node:crypto";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  BatchTokenSchema,
  TokenMetaSchema,
  type BatchToken,
} from "../../../gen/steward/state/v1/tokens_auth_pb.ts";
import type { Ids } from "../../../kernel/base/ids.ts";
import { StewardError } from "../../../kernel/base/errors.ts";
import { Secret } from "../../../kernel/base/secret.ts";
import type { TokenEntry } from "../types.ts";

/** How the id of a batch token begins. */
const BATCH_PREFIX = "hvb.";
const VERSION = 1;
const SALT_BYTES = 16;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEAD_BYTES = 1 + SALT_BYTES + NONCE_BYTES;
/** Clients send it in a header of at most 16 KiB. */
const MAX_ID_LENGTH = 8 * 1024;

/** Writes and reads batch tokens. */
export interface BatchTokens {
  /** Throws `invalid` when the token would be too long. */
  seal(token: Omit<TokenEntry, "key">): Secret;
  /** Undefined for what this store did not make. */
  open(id: Secret, key: string): TokenEntry | undefined;
}

/** Batch tokens under a key of 32 bytes. */
export function createBatchTokens(batchKey: Uint8Array, ids: Ids): BatchTokens {
  const keyOf = (salt: Uint8Array): Uint8Array =>
    createHmac("sha256", batchKey).update(salt).digest();
  return {
    seal(token) {
      const head = Buffer.concat([Uint8Array.of(VERSION), ids.bytes(SALT_BYTES + NONCE_BYTES)]);
      const cipher = createCipheriv(
        "aes-256-gcm",
        keyOf(head.subarray(1, 1 + SALT_BYTES)),
        head.subarray(1 + SALT_BYTES),
      ).setAAD(head);
      const body = cipher.update(toBinary(BatchTokenSchema, messageOf(token)));
      const id =
        BATCH_PREFIX +
        Buffer.concat([head, body, cipher.final(), cipher.getAuthTag()]).toString("base64url");
      if (id.length > MAX_ID_LENGTH)
        throw new StewardError(
          "invalid",
          "the policies and metadata of a batch token are part of the token, and these are too long; create a service token",
          { rule: "size of a batch token" },
        );
      return Secret.of(id, "token store");
    },
    open(id, key) {
      const message = id.use((text) =>
        text.startsWith(BATCH_PREFIX) && text.length <= MAX_ID_LENGTH
          ? unseal(text.slice(BATCH_PREFIX.length), keyOf)
          : undefined,
      );
      return message === undefined ? undefined : entryOf(message, key);
    },
  };
}

function unseal(text: string, keyOf: (salt: Uint8Array) => Uint8Array): BatchToken | undefined {
  const bytes = Buffer.from(text, "base64url");
  // A second spelling of the same bytes would be a second id of the same token.
  if (
    bytes.length < HEAD_BYTES + TAG_BYTES ||
    bytes[0] !== VERSION ||
    bytes.toString("base64url") !== text
  )
    return undefined;
  const head = bytes.subarray(0, HEAD_BYTES);
  const decipher = createDecipheriv(
    "aes-256-gcm",
    keyOf(head.subarray(1, 1 + SALT_BYTES)),
    head.subarray(1 + SALT_BYTES),
    { authTagLength: TAG_BYTES },
  );
  const body = decipher
    .setAAD(head)
    .setAuthTag(bytes.subarray(-TAG_BYTES))
    .update(bytes.subarray(HEAD_BYTES, -TAG_BYTES));
  try {
    return fromBinary(BatchTokenSchema, Buffer.concat([body, decipher.final()]));
  } catch {
    return undefined; // the tag does not fit
  }
}

function messageOf(token: Omit<TokenEntry, "key">): BatchToken {
  const {
    policies,
    path,
    displayName,
    meta,
    entityId,
    parent,
    createdAtMs,
    expiresAtMs,
    explicitMaxTtlMs,
    role,
    boundCidrs,
  } = token;
  return create(BatchTokenSchema, {
    policies: [...policies],
    path,
    displayName,
    entityId,
    createdAtMs,
    expiresAtMs: expiresAtMs ?? createdAtMs,
    explicitMaxTtlMs,
    boundCidrs: [...boundCidrs],
    ...(meta === undefined ? {} : { meta: create(TokenMetaSchema, { values: { ...meta } }) }),
    ...(parent === undefined ? {} : { parent }),
    ...(role === undefined ? {} : { role }),
  });
}

function entryOf(message: BatchToken, key: string): TokenEntry {
  const {
    policies,
    path,
    displayName,
    meta,
    entityId,
    parent,
    createdAtMs,
    expiresAtMs,
    explicitMaxTtlMs,
    role,
    boundCidrs,
  } = message;
  return {
    key,
    type: "batch",
    accessor: "",
    policies,
    path,
    displayName,
    meta: meta?.values,
    entityId,
    numUses: 0,
    parent,
    createdAtMs,
    creationTtlMs: expiresAtMs - createdAtMs,
    expiresAtMs,
    explicitMaxTtlMs,
    periodMs: 0,
    renewable: false,
    lastRenewalAtMs: undefined,
    role,
    boundCidrs,
  };
}
