/**
 * Storage of an AppRole mount. Roles are found by name and by role id, secret ids by themselves and
 * by their accessors; ids and accessors are known by HMACs only. An entry that leads to another is
 * written before it and read with care, so that a crash in between leaves nothing worse than a line
 * that leads nowhere.
 */
import { createHmac } from "node:crypto";
import {
  ApproleRowSchema,
  SecretIdRowSchema,
  type ApproleRow,
  type SecretIdRow,
} from "../../../../gen/steward/state/v1/tokens_auth_pb.ts";
import { nextTurn } from "../../../../kernel/async/turns.ts";
import type { Ids } from "../../../../kernel/base/ids.ts";
import { protobufCodec } from "../../../../kernel/state/values.ts";
import type { StorageView } from "../../../logical/types.ts";

const roleCodec = protobufCodec(ApproleRowSchema);
const secretCodec = protobufCodec(SecretIdRowSchema);
const SALT = "salt";
const SALT_BYTES = 32;
/** Secret ids that are read at a time; some five milliseconds. */
const PAGE_ROWS = 256;
const utf8 = new TextDecoder();

/** A stored secret id. `key` is its HMAC. */
export interface StoredSecretId {
  readonly key: string;
  readonly row: SecretIdRow;
}

/** Roles and secret ids of one mount. Whoever changes something holds the mount's lock. */
export interface ApproleStorage {
  /** Unique id of the mount, without meaning. */
  readonly mountId: string;
  role(name: string): Promise<ApproleRow | undefined>;
  roleNames(): Promise<readonly string[]>;
  /**
   * The role of a role id. An unknown id takes the same steps, so that timing does not reveal it.
   */
  byRoleId(
    roleId: string,
  ): Promise<{ readonly name: string; readonly row: ApproleRow } | undefined>;
  saveRole(name: string, row: ApproleRow, before: ApproleRow | undefined): Promise<void>;
  /** With its secret ids. A crash may leave secret ids without their role. */
  deleteRole(name: string): Promise<void>;
  /** All secret ids of a role, or of a name that has no role. */
  deleteSecretIds(role: string): Promise<void>;
  byKey(role: string, key: string): Promise<StoredSecretId | undefined>;
  secretId(role: string, secretId: string): Promise<StoredSecretId | undefined>;
  byAccessor(role: string, accessor: string): Promise<StoredSecretId | undefined>;
  saveSecretId(role: string, stored: StoredSecretId): Promise<void>;
  deleteSecretId(role: string, stored: StoredSecretId): Promise<void>;
  /** In pages, between which other work has its turn: what changes meanwhile may be left out. */
  secretIds(role: string): AsyncIterable<readonly StoredSecretId[]>;
  keyOf(secretId: string): string;
}

/** Opens a mount's storage; its salt is made with it. */
export async function openApproleStorage(storage: StorageView, ids: Ids): Promise<ApproleStorage> {
  const kept = await storage.get(SALT);
  const salt = kept ?? ids.bytes(SALT_BYTES);
  if (kept === undefined) await storage.put(SALT, salt);
  const hmac = (kind: string, value: string): string =>
    createHmac("sha256", salt).update(kind).update(value).digest("base64url");
  const roleIdKey = (roleId: string): string => `role_id/${hmac("role:", roleId)}`;
  const accessorKey = (role: string, accessor: string): string =>
    `accessor/${role}/${hmac("accessor:", accessor)}`;
  const secretKey = (role: string, key: string): string => `secret_id/${role}/${key}`;
  const keyOf = (secretId: string): string => hmac("secret:", secretId);

  async function role(name: string): Promise<ApproleRow | undefined> {
    const bytes = await storage.get(`role/${name}`);
    return bytes === undefined ? undefined : roleCodec.read(bytes);
  }
  async function byKey(name: string, key: string): Promise<StoredSecretId | undefined> {
    const bytes = await storage.get(secretKey(name, key));
    return bytes === undefined ? undefined : { key, row: secretCodec.read(bytes) };
  }
  /** Read in place of a role that does not exist; undefined while there is none. */
  let standIn = await firstRole();

  async function firstRole(): Promise<string | undefined> {
    const [name] = await storage.list("role/", { after: "", limit: 1 });
    return name;
  }

  async function* secretIds(name: string): AsyncGenerator<readonly StoredSecretId[]> {
    for (let after: string | undefined = ""; after !== undefined;) {
      const page = { after, limit: PAGE_ROWS };
      const keys = await storage.list(`secret_id/${name}/`, page);
      const rows = await Promise.all(keys.map((key) => byKey(name, key)));
      yield rows.filter((stored) => stored !== undefined);
      after = keys.length < PAGE_ROWS ? undefined : keys.at(-1);
      await nextTurn();
    }
  }
  async function deleteSecretId(name: string, { key, row }: StoredSecretId): Promise<void> {
    await storage.delete(secretKey(name, key));
    await storage.delete(accessorKey(name, row.accessor));
  }
  async function deleteSecretIds(name: string): Promise<void> {
    for await (const page of secretIds(name))
      await Promise.all(page.map((stored) => deleteSecretId(name, stored)));
  }

  return {
    mountId: hmac("mount:", ""),
    role,
    byKey,
    secretIds,
    deleteSecretId,
    deleteSecretIds,
    keyOf,
    roleNames: () => storage.list("role/"),
    async byRoleId(roleId) {
      const name = await storage.get(roleIdKey(roleId));
      if (name === undefined) {
        await storage.get(SALT);
        if (standIn !== undefined) await role(standIn);
        return undefined;
      }
      const row = await role(utf8.decode(name));
      return row === undefined || row.roleId !== roleId
        ? undefined
        : { name: utf8.decode(name), row };
    },
    async saveRole(name, row, before) {
      await storage.put(roleIdKey(row.roleId), Buffer.from(name));
      await storage.put(`role/${name}`, roleCodec.write(row));
      standIn ??= name;
      if (before !== undefined && before.roleId !== row.roleId)
        await storage.delete(roleIdKey(before.roleId));
    },
    async deleteRole(name) {
      const row = await role(name);
      // First, so that nobody can log in during the deletion.
      await storage.delete(`role/${name}`);
      if (row !== undefined) await storage.delete(roleIdKey(row.roleId));
      if (standIn === name) standIn = await firstRole();
      await deleteSecretIds(name);
    },
    secretId: (name, secretId) => byKey(name, keyOf(secretId)),
    async byAccessor(name, accessor) {
      const key = await storage.get(accessorKey(name, accessor));
      const stored = key === undefined ? undefined : await byKey(name, utf8.decode(key));
      return stored?.row.accessor === accessor ? stored : undefined;
    },
    async saveSecretId(name, { key, row }) {
      await storage.put(accessorKey(name, row.accessor), Buffer.from(key));
      await storage.put(secretKey(name, key), secretCodec.write(row));
    },
  };
}
