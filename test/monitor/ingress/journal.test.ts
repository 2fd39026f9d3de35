import fc from "fast-check";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { systemClock } from "../../../src/kernel/base/clock.ts";
import { createLog } from "../../../src/kernel/base/log.ts";
import { createStateFactory } from "../../../src/kernel/state/state-factory.ts";
import type { Env } from "../../../src/kernel/state/types.ts";
import { Journal, type Received } from "../../../src/monitor/ingress/journal.ts";
import { bodies, ingressStore } from "../../../src/monitor/ingress/tables.ts";

const MIB = 2 ** 20;
const LIMITS = { maxBytes: 64 * MIB, maxEntries: 100 };
const SIGNAL = new AbortController().signal;
const folders: string[] = [];
const envs: Env[] = [];
afterEach(async () => {
  for (const env of envs.splice(0)) await env.close();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

const log = createLog({ level: "error", format: "text", write: () => undefined, now: () => 0 });
async function openEnv(directory?: string): Promise<{ env: Env; directory: string }> {
  const folder = directory ?? mkdtempSync(join(tmpdir(), "steward-journal-"));
  if (directory === undefined) folders.push(folder);
  const factory = createStateFactory({ directory: folder, clock: systemClock, log });
  const env = await factory.open(ingressStore(64 * MIB));
  envs.push(env);
  return { env, directory: folder };
}
async function reopened(env: Env, directory: string): Promise<Env> {
  envs.splice(envs.indexOf(env), 1);
  await env.close();
  return (await openEnv(directory)).env;
}

const received = (body: string | Buffer, network = "a"): Received => ({
  network,
  source: "stream",
  body: Buffer.from(body),
  acceptedMs: 1_700_000_000_000,
});
const numbers = (journal: Journal): number[] => [...journal.entries()].map((entry) => entry.number);

describe("the journal", () => {
  it("keeps bodies of any size over a restart, in the order of acceptance", async () => {
    const { env, directory } = await openEnv();
    const journal = await Journal.open(env, LIMITS, SIGNAL);
    const large = Buffer.alloc(3 * MIB + 7, "x");
    await journal.append(received("first"));
    await journal.append(received(large));
    await journal.append(received(""));
    const again = await Journal.open(await reopened(env, directory), LIMITS, SIGNAL);
    expect(numbers(again)).toEqual([0, 1, 2]);
    expect(again.body(0).toString()).toBe("first");
    expect(again.body(1).equals(large)).toBe(true);
    expect(again.body(2).length).toBe(0);
    expect(again.size()).toEqual({
      entries: 3,
      bytes: 5 + large.length,
      orphans: 0,
      orphanBytes: 0,
    });
    expect((await again.append(received("later")))?.number).toBe(3);
  });

  it("takes an equal body of one network and source once, until it was removed", async () => {
    const { env, directory } = await openEnv();
    const journal = await Journal.open(env, LIMITS, SIGNAL);
    const both = await Promise.all([journal.append(received("x")), journal.append(received("x"))]);
    expect(both.filter((entry) => entry !== undefined)).toHaveLength(1);
    expect(await journal.append(received("x", "b"))).toBeDefined();
    expect(await journal.append({ ...received("x"), source: "webhook" })).toBeDefined();
    const again = await Journal.open(await reopened(env, directory), LIMITS, SIGNAL);
    expect(await again.append(received("x"))).toBeUndefined();
    await again.remove([0]);
    expect(await again.append(received("x"))).toBeDefined();
  });

  it("refuses what does not fit, bodies under way included", async () => {
    const { env } = await openEnv();
    const journal = await Journal.open(env, { maxBytes: 10, maxEntries: 3 }, SIGNAL);
    const results = await Promise.allSettled([
      journal.append(received("12345")),
      journal.append(received("123456")),
      journal.append(received("1234")),
    ]);
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    await expect(journal.append(received("a"))).resolves.toBeDefined();
    await expect(journal.append(received(""))).rejects.toMatchObject({
      code: "exhausted",
      remedy: expect.stringContaining("ingress_wal.max_bytes") as string,
    });
    await journal.remove(numbers(journal));
    expect(journal.size()).toMatchObject({ entries: 0, bytes: 0 });
    await expect(journal.append(received("1234567890"))).resolves.toBeDefined();
  });

  it("finds and sweeps what an interrupted append left, and counts it until then", async () => {
    const { env, directory } = await openEnv();
    await env.write((tx) => {
      tx.put(bodies, [4, 0], Buffer.from("orphan"));
      tx.put(bodies, [4, 1], Buffer.from("ed"));
    });
    const journal = await Journal.open(env, LIMITS, SIGNAL);
    expect(journal.size()).toEqual({ entries: 0, bytes: 0, orphans: 1, orphanBytes: 8 });
    expect((await journal.append(received("next")))?.number).toBe(0);
    await journal.sweep();
    expect(journal.size()).toEqual({ entries: 1, bytes: 4, orphans: 0, orphanBytes: 0 });
    const again = await Journal.open(await reopened(env, directory), LIMITS, SIGNAL);
    expect(again.size()).toMatchObject({ entries: 1, orphans: 0 });
    expect(again.body(0).toString()).toBe("next");
  });

  it("makes no entry of a body whose write fails", async () => {
    const { env } = await openEnv();
    let left = 2;
    const failing: Pick<Env, "read" | "write" | "scan"> = {
      read: (view) => env.read(view),
      scan: (table, each, options) => env.scan(table, each, options),
      write: (change, options) =>
        (left -= 1) < 0 ? Promise.reject(new Error("the disk failed")) : env.write(change, options),
    };
    const journal = await Journal.open(failing, LIMITS, SIGNAL);
    await expect(journal.append(received(Buffer.alloc(2 * MIB)))).rejects.toThrow(
      "the disk failed",
    );
    expect(journal.size()).toMatchObject({ entries: 0, orphans: 1, orphanBytes: 2 * MIB });
    left = 100;
    await journal.sweep();
    expect(journal.size()).toMatchObject({ orphans: 0, orphanBytes: 0 });
    await expect(journal.append(received(Buffer.alloc(2 * MIB)))).resolves.toBeDefined();
  });

  it("refuses a file in which a part of a body is missing", async () => {
    const { env, directory } = await openEnv();
    const journal = await Journal.open(env, LIMITS, SIGNAL);
    await journal.append(received(Buffer.alloc(2 * MIB)));
    await env.write((tx) => tx.delete(bodies, [0, 1]));
    await expect(
      Journal.open(await reopened(env, directory), LIMITS, SIGNAL),
    ).rejects.toMatchObject({ code: "corrupt" });
  });

  it("is after any steps and restarts what a list would be", async () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant("append" as const), body: fc.string({ maxLength: 20 }) }),
      fc.record({ kind: fc.constant("remove" as const), count: fc.integer({ min: 1, max: 3 }) }),
      fc.record({ kind: fc.constant("restart" as const) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        let { env, directory } = await openEnv();
        let journal = await Journal.open(env, LIMITS, SIGNAL);
        const model: string[] = [];
        for (const one of steps) {
          if (one.kind === "restart") {
            env = await reopened(env, directory);
            journal = await Journal.open(env, LIMITS, SIGNAL);
          } else if (one.kind === "remove") {
            await journal.remove(numbers(journal).slice(0, one.count));
            model.splice(0, one.count);
          } else {
            const isNew = !model.includes(one.body);
            expect((await journal.append(received(one.body))) !== undefined).toBe(isNew);
            if (isNew) model.push(one.body);
          }
          expect(numbers(journal).map((number) => journal.body(number).toString())).toEqual(model);
        }
      }),
      { numRuns: 15 },
    );
  });
});
