import { describe, expect, it, onTestFinished, vi } from "vitest";
import { nextTurn } from "../../../src/kernel/async/turns.ts";
import type {
  Backend,
  Data,
  LogicalResponse,
  Operation,
} from "../../../src/tokens/logical/types.ts";
import type { HostRequest } from "../../../src/tokens/vault/auth/context.ts";
import { createCubbyhole } from "../../../src/tokens/vault/cubbyhole.ts";
import { cubbyholes, mountTables } from "../../../src/tokens/vault/mounts/tables.ts";
import type { CreatedToken } from "../../../src/tokens/vault/types.ts";
import { createTokenBench, specOf, type TokenBench } from "./fixtures/tokens.ts";

interface Bench extends TokenBench {
  readonly cubbyhole: Backend;
  readonly rows: () => number;
  readonly ask: (
    token: CreatedToken,
    operation: Operation,
    path: string,
    data?: Data,
  ) => Promise<LogicalResponse | undefined>;
}

async function createBench(): Promise<Bench> {
  const bench = await createTokenBench({ tables: mountTables });
  const cubbyhole = createCubbyhole(bench);
  return {
    ...bench,
    cubbyhole,
    rows: () => bench.env.read((snapshot) => snapshot.count(cubbyholes)),
    ask(token, operation, path, data = {}) {
      const request: HostRequest = {
        id: "request",
        operation,
        path,
        data,
        mountPoint: "cubbyhole/",
        signal: new AbortController().signal,
        token,
      };
      return cubbyhole.handle(request);
    },
  };
}

const DENIED = { code: "denied", message: "permission denied" };

describe("a cubbyhole", () => {
  it("is seen by its token alone, and ends with it", async () => {
    const { tokens, ask, rows } = await createBench();
    const [one, other] = [await tokens.create(specOf()), await tokens.create(specOf())];
    await ask(one, "update", "a/b", { v: 1 });
    expect((await ask(one, "list", "a/"))?.data).toEqual({ keys: ["b"] });
    expect(await ask(other, "read", "a/b")).toBeUndefined();
    await ask(other, "update", "a/b", { v: 2 });
    await tokens.revoke(one.entry.key);
    expect([rows(), (await ask(other, "read", "a/b"))?.data?.["v"]]).toEqual([1, 2]);
  });

  it("keeps nothing that is written beside the end of its token", async () => {
    const { tokens, ask, rows } = await createBench();
    for (let turns = 0; turns < 4; turns += 1) {
      const token = await tokens.create(specOf());
      const ended = tokens.revoke(token.entry.key);
      for (let given = 0; given < turns; given += 1) await nextTurn();
      await expect(ask(token, "update", "a", { v: 1 })).rejects.toMatchObject(DENIED);
      await ended;
    }
    expect(rows()).toBe(0);
  });

  it("takes nothing more while the children of its token are still ending", async () => {
    const { tokens, ask, rows } = await createBench();
    const token = await tokens.create(specOf());
    await tokens.create(specOf({ parent: token.entry.key }));
    // Its first change marks the token; the second removes it, once the first is on disk.
    const ended = tokens.revoke(token.entry.key);
    await expect(ask(token, "update", "a", { v: 1 })).rejects.toMatchObject(DENIED);
    await ended;
    expect(rows()).toBe(0);
  });

  it("may be written with the last use of its token", async () => {
    const { tokens, ask, rows } = await createBench();
    const token = await tokens.create(specOf({ numUses: 1 }));
    const entry = await tokens.use(token.entry);
    if (entry === undefined) throw new Error("it had a use");
    await ask({ ...token, entry }, "update", "a", { v: 1 });
    expect(rows()).toBe(1);
    await tokens.revoke(token.entry.key);
    expect(rows()).toBe(0);
  });

  it("is deleted without opening its values", async () => {
    const { tokens, ask, env } = await createBench();
    const [one, other] = [await tokens.create(specOf()), await tokens.create(specOf())];
    for (const token of [one, other])
      for (const path of ["a", "b/c"]) await ask(token, "update", path, { v: 1 });
    const opened = vi.spyOn(cubbyholes.value, "read");
    onTestFinished(() => opened.mockRestore());
    await tokens.revoke(one.entry.key);
    expect(env.read((snapshot) => [...snapshot.keys(cubbyholes)])).toEqual([
      [other.entry.key, "a"],
      [other.entry.key, "b/c"],
    ]);
    expect(opened).not.toHaveBeenCalled();
  });
});
