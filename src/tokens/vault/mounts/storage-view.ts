/** A backend's own keys as a view on one mount's part of the storage table. */
import { nextTurn } from "../../../kernel/async/turns.ts";
import { StewardError } from "../../../kernel/base/errors.ts";
import type { Env } from "../../../kernel/state/types.ts";
import type { StorageView } from "../../logical/types.ts";
import { storedValues } from "./tables.ts";

/** The largest value; the platform's keys and permission sets are far below. */
const VALUE_BYTES = 512 * 1024;
/** Keys have to fit into an index entry together with the mount's uuid. */
const KEY_BYTES = 1_000;
/** Keys that a list reads in one turn of the event loop. */
const LIST_KEYS = 1_000;
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
    async list(prefix, { after, limit } = { after: "", limit: Number.POSITIVE_INFINITY }) {
      const names: string[] = [];
      let start = after === "" ? prefix : behind(prefix + after);
      for (;;) {
        const run = namesFrom(env, uuid, { prefix, start, limit: limit - names.length });
        names.push(...run.names);
        if (run.next === undefined || names.length >= limit) return names;
        start = run.next;
        await nextTurn();
      }
    },
  };
}

/**
 * The next names of a list from a key on, in key order, which is bytewise; `next` is the key to go
 * on with, undefined at the end of the list.
 */
function namesFrom(
  env: Env,
  uuid: string,
  {
    prefix,
    start,
    limit,
  }: { readonly prefix: string; readonly start: string; readonly limit: number },
): { readonly names: readonly string[]; readonly next: string | undefined } {
  return env.read((snapshot) => {
    const names: string[] = [];
    let keys = 0;
    for (const [, key] of snapshot.keys(storedValues, { prefix: [uuid], start: [uuid, start] })) {
      if (!key.startsWith(prefix)) break;
      const last = names.at(-1);
      if (keys === LIST_KEYS) return { names, next: behind(prefix + (last ?? "")) };
      keys += 1;
      const name = nameIn(key.slice(prefix.length));
      if (name !== last && names.push(name) >= limit) break;
    }
    return { names, next: undefined };
  });
}

/** The name directly below the prefix that a key has behind it. */
function nameIn(rest: string): string {
  const slash = rest.indexOf("/");
  return slash < 0 ? rest : rest.slice(0, slash + 1);
}

/** The first key that could follow all keys of a name: `0` is the character after `/`. */
function behind(name: string): string {
  return name.endsWith("/") ? `${name.slice(0, -1)}0` : `${name}\0`;
}

/** Deletes all of a mount's values, in bounded changes. */
export async function clearStorage(env: Env, uuid: string): Promise<void> {
  for (;;) {
    const more = await env.write((tx) => {
      const keys = [...tx.keys(storedValues, { prefix: [uuid], limit: DELETE_ROWS })];
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
    for (const [uuid] of snapshot.keys(storedValues, { start: [start], limit: 1 })) return uuid;
    return undefined;
  });
}
