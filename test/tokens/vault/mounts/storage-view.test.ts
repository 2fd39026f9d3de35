import * as fc from "fast-check";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { Env } from "../../../../src/kernel/state/types.ts";
import type { StorageView } from "../../../../src/tokens/logical/types.ts";
import {
  clearStorage,
  clearUnowned,
  createStorageView,
} from "../../../../src/tokens/vault/mounts/storage-view.ts";
import { mountTables, storedValues } from "../../../../src/tokens/vault/mounts/tables.ts";
import { countTurns } from "../../support/turns.ts";
import { openUnsealed } from "../fixtures/environment.ts";

const VALUE = Uint8Array.of(1);

async function openView(): Promise<{ readonly env: Env; readonly view: StorageView }> {
  const { env } = await openUnsealed(mountTables);
  return { env, view: createStorageView(env, "own") };
}

/** Puts rows of one mount in a few changes. */
async function fill(env: Env, keys: readonly string[], uuid = "own"): Promise<void> {
  for (let from = 0; from < keys.length; from += 500)
    await env.write((tx) => {
      for (const key of keys.slice(from, from + 500)) tx.put(storedValues, [uuid, key], VALUE);
    });
}

/** Values that were decrypted until now. */
function watchOpened(): () => number {
  const spy = vi.spyOn(storedValues.value, "read");
  onTestFinished(() => spy.mockRestore());
  return () => spy.mock.calls.length;
}

function bytewise(left: string, right: string): number {
  return Buffer.compare(Buffer.from(left), Buffer.from(right));
}

describe("a list of a mount's storage", () => {
  it("opens no value", async () => {
    const { env, view } = await openView();
    await fill(env, ["set/a", "set/b", "set/deep/x", "used/1"]);
    const opened = watchOpened();
    expect(await view.list("set/")).toEqual(["a", "b", "deep/"]);
    expect(await view.list("set/", { after: "a", limit: 1 })).toEqual(["b"]);
    expect(opened()).toBe(0);
  });

  it("gives the loop turns when it is long, and is complete and sorted", async () => {
    const { env, view } = await openView();
    const names = Array.from({ length: 3_500 }, (_, at) => `n${String(at).padStart(5, "0")}`);
    await fill(
      env,
      names.map((name) => `set/${name}`),
    );
    const turns = countTurns();
    expect(await view.list("set/")).toEqual(names);
    expect(turns()).toBeGreaterThanOrEqual(3);
    expect(await view.list("set/", { after: "n00009", limit: 2_500 })).toEqual(
      names.slice(10, 2_510),
    );
  });

  it("goes on behind a deeper level of many keys, also when it was changed between two turns", async () => {
    const { env, view } = await openView();
    const deep = Array.from({ length: 2_500 }, (_, at) => `deep/${at}`);
    await fill(env, ["a", ...deep, "deep.er", "deep0", "e"]);
    const listed = view.list("");
    await env.write((tx) => tx.delete(storedValues, ["own", "deep/0"]));
    expect(await listed).toEqual(["a", "deep.er", "deep/", "deep0", "e"]);
  });

  it("has the names of a naive list, in pages and at once", async () => {
    const { env, view } = await openView();
    await env.write((tx) => {
      tx.put(storedValues, ["owm", "a/z"], VALUE);
      tx.put(storedValues, ["own\0", "a/z"], VALUE);
    });
    const part = fc.constantFrom("", "a", "a-", "a0", "b", "\0", "ü", "\uffff", "\u{1f600}", "/");
    const key = fc.array(part, { minLength: 1, maxLength: 5 }).map((parts) => parts.join(""));
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(key, { maxLength: 20 }),
        fc.constantFrom("", "a/", "b/a/"),
        fc.integer({ min: 1, max: 4 }),
        async (keys, prefix, limit) => {
          await clearStorage(env, "own");
          await fill(env, keys);
          const names = keys
            .filter((each) => each.startsWith(prefix))
            .map((each) => each.slice(prefix.length).replace(/(?<=\/)[^]*$/, ""));
          const all = [...new Set(names)].toSorted(bytewise);
          expect(await view.list(prefix)).toEqual(all);
          const paged: string[] = [];
          // No page can begin behind the empty name, which a key that equals the prefix has.
          if (all[0] === "") return;
          for (let page = ["?"]; page.length > 0;) {
            page = [...(await view.list(prefix, { after: paged.at(-1) ?? "", limit }))];
            paged.push(...page);
          }
          expect(paged).toEqual(all);
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe("clearing a mount's storage", () => {
  it("deletes what is its own without opening a value", async () => {
    const { env, view } = await openView();
    await fill(env, ["a", "b"]);
    await fill(env, ["c"], "other");
    await fill(env, ["d"], "gone");
    const opened = watchOpened();
    await clearStorage(env, "own");
    expect(await clearUnowned(env, new Set(["own", "other"]))).toBe(1);
    expect(await view.list("")).toEqual([]);
    expect(env.read((snapshot) => [...snapshot.keys(storedValues)])).toEqual([["other", "c"]]);
    expect(opened()).toBe(0);
  });
});
