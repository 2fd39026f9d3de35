/**
 * Every call to the file system fails once: the Nth, for every N. What fails is told, nothing is
 * lost, and the next try works.
 */
import { readdirSync } from "node:fs";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { systemClock } from "../../../src/kernel/base/clock.ts";
import { toStewardError } from "../../../src/kernel/base/errors.ts";
import { createStateFactory } from "../../../src/kernel/state/state-factory.ts";
import type { Env } from "../../../src/kernel/state/types.ts";
import { contents, fillStore } from "../../kernel/state/fixtures/damage.ts";
import {
  allTables,
  openEnv,
  quietLog,
  temporaryFolder,
} from "../../kernel/state/fixtures/tables.ts";
import { isLongRun } from "../../support/long-run.ts";

const injected = vi.hoisted(() => {
  const state = { failAt: 0, calls: 0, code: "EIO" };
  const step = (name: string): void => {
    state.calls += 1;
    if (state.calls === state.failAt)
      throw Object.assign(new Error(`${state.code}: injected into ${name}`), { code: state.code });
  };
  /** The same functions, each of which counts and may fail before it does anything. */
  const wrap = <M extends Record<string, unknown>>(module: M, names: readonly string[]): M => {
    const wrapped: Record<string, unknown> = { ...module };
    for (const name of names) {
      const inner = module[name] as (...args: unknown[]) => unknown;
      wrapped[name] =
        name === "open" ||
        name === "stat" ||
        name === "rename" ||
        name === "writeFile" ||
        name === "chmod"
          ? async (...args: unknown[]) => (step(name), await inner(...args))
          : (...args: unknown[]) => (step(name), inner(...args));
    }
    return wrapped as M;
  };
  return { state, wrap };
});

vi.mock("node:fs", async (original) =>
  injected.wrap(await original<Record<string, unknown>>(), [
    "openSync",
    "readSync",
    "fsyncSync",
    "renameSync",
    "mkdirSync",
    "writeFileSync",
  ]),
);
vi.mock("node:fs/promises", async (original) =>
  injected.wrap(await original<Record<string, unknown>>(), [
    "open",
    "rename",
    "stat",
    "writeFile",
    "chmod",
  ]),
);

const CODES = isLongRun ? ["EIO", "EACCES", "ENOSPC", "EMFILE"] : ["EIO", "EACCES"];
/** Error codes by what the system says to opening a file. */
const TOLD: Readonly<Record<string, string>> = {
  EACCES: "denied",
  ENOSPC: "disk_full",
  EMFILE: "exhausted",
};
const never = new AbortController().signal;

function open(directory: string): Promise<Env> {
  return createStateFactory({
    directory,
    clock: systemClock,
    log: quietLog,
    reserveBytes: 4_096,
  }).open({ name: "test", tables: allTables, schema: 1, derived: false, maxBytes: 2 ** 30 });
}

beforeEach(() => {
  Object.assign(injected.state, { failAt: 0, calls: 0 });
});

/**
 * Fails the Nth call of an attempt for every N until an attempt gets through without one; gives how
 * many failed.
 */
async function failEach(
  code: string,
  attempt: () => Promise<void>,
  after: (failure: unknown) => Promise<void>,
): Promise<number> {
  for (let at = 1; at < 2_000; at += 1) {
    Object.assign(injected.state, { failAt: at, calls: 0, code });
    const failure = await attempt().then(
      () => undefined,
      (error: unknown) => error,
    );
    const reached = injected.state.calls >= at;
    Object.assign(injected.state, { failAt: 0, calls: 0 });
    if (failure !== undefined) expect(toStewardError(failure).message).not.toContain("assertion");
    await after(failure);
    if (!reached) return at - 1;
  }
  throw new Error("it never ends");
}

function expectTold(code: string, failure: unknown): void {
  const told = TOLD[code];
  if (failure !== undefined && told !== undefined) expect(toStewardError(failure).code).toBe(told);
}

describe.each(CODES)("%s", (code) => {
  it("while a store is made: there is none or a whole one afterwards", async () => {
    let directory = temporaryFolder();
    const failures = await failEach(
      code,
      async () => {
        directory = temporaryFolder();
        await (await open(directory)).close();
      },
      async (failure) => {
        expectTold(code, failure);
        const env = await open(directory);
        expect(env.status()).toMatchObject({ healthy: true, rows: { people: 0 } });
        await env.close();
      },
    );
    expect(failures).toBeGreaterThan(5);
  });

  it("while a store is opened: it is refused or opened, and whole at the next try", async () => {
    const directory = temporaryFolder();
    const filled = await openEnv(directory);
    await fillStore(filled);
    const before = contents(filled);
    await filled.close();
    const failures = await failEach(
      code,
      async () => {
        await (await open(directory)).close();
      },
      async (failure) => {
        expectTold(code, failure);
        const env = await open(directory);
        expect(contents(env)).toBe(before);
        await env.close();
      },
    );
    expect(failures).toBeGreaterThan(20);
  });

  it("while a backup is made: it is complete or leaves nothing", async () => {
    const env = await openEnv(temporaryFolder());
    await fillStore(env);
    let target = temporaryFolder();
    const failures = await failEach(
      code,
      async () => {
        target = temporaryFolder();
        await env.backup(target, never);
      },
      (failure) => {
        expect(readdirSync(target)).toEqual(
          failure === undefined ? ["test.mdb", "test.mdb.json"] : [],
        );
        return Promise.resolve();
      },
    );
    expect(failures).toBeGreaterThan(10);
    expect(env.status().healthy).toBe(true);
  });
});
