/**
 * The two secrets of the token store, made with the store: the salt that names become keys with,
 * and the key of batch tokens.
 */
import { createHmac, createSecretKey } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { TokenSecretsRowSchema } from "../../../gen/steward/state/v1/tokens_auth_pb.ts";
import type { Ids } from "../../../kernel/base/ids.ts";
import type { Secret } from "../../../kernel/base/secret.ts";
import type { Env } from "../../../kernel/state/types.ts";
import { tokenSecrets } from "./tables.ts";

const SECRET_BYTES = 32;

/** What ids and accessors are known by. */
export interface TokenSecrets {
  /** The key of a token; reveals nothing about the id without the salt. */
  keyOf(id: Secret): string;
  accessorKey(accessor: string): string;
  readonly batchKey: Uint8Array;
}

/** The store's secrets; made when there are none. Throws `sealed`. */
export async function openTokenSecrets(env: Env, ids: Ids): Promise<TokenSecrets> {
  const row =
    env.read((snapshot) => snapshot.get(tokenSecrets, "")) ??
    (await env.write((tx) => {
      const fresh =
        tx.get(tokenSecrets, "") ??
        create(TokenSecretsRowSchema, {
          salt: ids.bytes(SECRET_BYTES),
          batchKey: ids.bytes(SECRET_BYTES),
        });
      tx.put(tokenSecrets, "", fresh);
      return fresh;
    }));
  const salt = createSecretKey(row.salt); // made ready once: that takes longer than the rest
  const hmac = (kind: string, value: string): string =>
    createHmac("sha256", salt).update(kind).update(value).digest("base64url");
  return {
    keyOf: (id) => id.use((value) => hmac("token:", value)),
    accessorKey: (accessor) => hmac("accessor:", accessor),
    batchKey: row.batchKey,
  };
}
