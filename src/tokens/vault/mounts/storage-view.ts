/** A backend's own keys as a view on one mount's part of the storage table. */
import { StewardError } from "../../../kernel/base/errors.ts";
import type { Env } from "../../../kernel/state/types.ts";
import type { StorageView } from "../../logical/types.ts";
import { storedValues } from "./tables.ts";

/** The largest value; the platform's keys and permission sets are far below. */
const VALUE_BYTES = 512 * 1024;
/** Keys have to fit into an index entry together with the mount's uuid. */
const KEY_BYTES = 1_000;
/** Rows that one change deletes. */
const DELETE_ROWS = 500;

/** The storage of the mount with this uuid. */
export function createStorageView(env: Env, uuid: string): StorageView {
  return {
    get: async (key) => env.read((snapshot) => snapshot.get(storedValues, [uuid, key])),
    async put(key, value) {
      if (Buffer.byteLength(key) > KEY_BYTES)
        throw new StewardError(
          "invalid",
          `a name of ${Buffer.byteLength(key)} bytes is too long; the most is ${KEY_BYTES}`,
        );
      if (value.byteLength > VALUE_BYTES)
        throw new StewardError(
          "too_large",
          `a stored value has at most ${VALUE_BYTES} bytes, this one has ${value.byteLength}`,
        );
      await env.write((tx) => tx.put(storedValues, [uuid, key], value));
    },
    async delete(key) {
      await env.write((tx) => tx.delete(storedValues, [uuid, key]));
    },
    list: async (prefix, { after, limit } = { after: "", limit: Number.POSITIVE_INFINITY }) =>
      env.read((snapshot) => {
        const names = new Set<string>();
        const last = prefix + after;
        const isListed = (key: string): boolean =>
          after !== "" && (after.endsWith("/") ? key.startsWith(last) : key === last);
        for (const [[owner, key]] of snapshot.range(storedValues, { start: [uuid, last] })) {
          if (owner !== uuid || !key.startsWith(prefix) || names.size === limit) break;
          if (isListed(key)) continue;
          const rest = key.slice(prefix.length);
          const slash = rest.indexOf("/");
          names.add(slash < 0 ? rest : rest.slice(0, slash + 1));
        }
        return [...names].toSorted(bytewise);
      }),
  };
}

/** Deletes all of a mount's values, in bounded changes. */
export async function clearStorage(env: Env, uuid: string): Promise<void> {
  for (;;) {
    const more = await env.write((tx) => {
      const keys = [...tx.range(storedValues, { prefix: [uuid], limit: DELETE_ROWS })].map(
        ([key]) => key,
      );
      for (const key of keys) tx.delete(storedValues, key);
      return keys.length === DELETE_ROWS;
    });
    if (!more) return;
  }
}

/** Deletes the values of every uuid that is not among these. Resolves with the number of uuids. */
export async function clearUnowned(env: Env, owners: ReadonlySet<string>): Promise<number> {
  let deleted = 0;
  for (let owner = ownerFrom(env, ""); owner !== undefined; owner = ownerFrom(env, `${owner}\0`)) {
    if (owners.has(owner)) continue;
    await clearStorage(env, owner);
    deleted += 1;
  }
  return deleted;
}

/** The first uuid with values, from a text on in key order. */
function ownerFrom(env: Env, start: string): string | undefined {
  return env.read((snapshot) => {
    for (const [[uuid]] of snapshot.range(storedValues, { start: [start], limit: 1 })) return uuid;
    return undefined;
  });
}

/** By bytes, as Vault sorts names; JavaScript's own order differs above U+FFFF. */
function bytewise(left: string, right: string): number {
  return Buffer.compare(Buffer.from(left), Buffer.from(right));
}
