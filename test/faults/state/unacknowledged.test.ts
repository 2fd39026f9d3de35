/**
 * What has no answer over the network that waits for its write: the monitor's memory and settings.
 * A store that keeps back the word that a write is stored shows that nobody goes on before it.
 * (Answers over the network: `../flush.test.ts`.) Checked by breaking it: each `await env.write` of
 * `src/monitor/checkpoints/env-store.ts` and of `src/kernel/settings/settings.ts` left out turns a
 * test red.
 */
import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { defineKey, defineSchema } from "../../../src/kernel/config/key.ts";
import { loadConfig } from "../../../src/kernel/config/load.ts";
import { integer } from "../../../src/kernel/config/values/types.ts";
import { createSettings } from "../../../src/kernel/settings/settings.ts";
import { settingsTable } from "../../../src/kernel/settings/table.ts";
import type { AnyTable, Env } from "../../../src/kernel/state/types.ts";
import { createEnvStore } from "../../../src/monitor/checkpoints/env-store.ts";
import { checkpointStore } from "../../../src/monitor/checkpoints/tables.ts";
import { openEnv, quietLog, temporaryFolder } from "../../kernel/state/fixtures/tables.ts";

/** An environment whose writes are stored and do not resolve before `release`. */
async function heldEnv(
  tables: readonly AnyTable[],
): Promise<{ readonly env: Env; readonly release: () => void }> {
  const real = await openEnv(temporaryFolder(), { tables });
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const write: Env["write"] = async (change, options) => {
    const value = await real.write(change, options);
    await released;
    return value;
  };
  const env = new Proxy(real, {
    get(target, name) {
      if (name === "write") return write;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
  return { env, release };
}

/** Whether a promise waits for the release, and resolves after it. */
async function waits(
  promise: Promise<unknown>,
  { env, release }: { readonly env: Env; readonly release: () => void },
  meanwhile: () => void,
): Promise<void> {
  let settled = false;
  void promise.finally(() => (settled = true));
  // The write itself is through when one behind it could be read.
  await expect.poll(() => env.status().lastCommitAtMs).toBeDefined();
  for (let turn = 0; turn < 20; turn += 1) await setImmediate();
  expect(settled).toBe(false);
  meanwhile();
  release();
  await promise;
}

describe("nobody goes on before it is stored:", () => {
  const memory = async () => {
    const held = await heldEnv(checkpointStore.tables);
    return {
      ...held,
      network: createEnvStore({ env: held.env, clock: { now: () => 0 }, log: quietLog })("a"),
    };
  };

  it("a mark of the monitor", async () => {
    const { network, ...held } = await memory();
    await waits(network.marks.set("flowlogs", 50), held, () =>
      expect(network.marks.get("flowlogs")).toBeUndefined(),
    );
    expect(network.marks.get("flowlogs")).toBe(50);
  });

  it("what the monitor has seen", async () => {
    const { network, ...held } = await memory();
    const seen = network.seen("flowlogs", 10);
    // It was counted, so it is known at once: a write that fails must not make it new.
    await waits(seen.add(["one"], 1_000), held, () => expect(seen.has("one")).toBe(true));
  });

  it("evidence of the monitor", async () => {
    const { network, ...held } = await memory();
    await waits(network.evidence.change(new Map([["feed/1", 1]])), held, () => undefined);
  });

  it("a change of settings", async () => {
    const held = await heldEnv([settingsTable] as readonly unknown[] as readonly AnyTable[]);
    const schema = defineSchema([
      defineKey({
        path: "dedup.retain",
        type: integer(0, 100),
        default: 60,
        owner: "runtime",
        help: "A key.",
      }),
    ]);
    const { config } = loadConfig({ environment: {}, schema, readFile: () => "" });
    if (config === undefined) throw new Error("the test's configuration is sound");
    const settings = createSettings({ env: held.env, config, log: quietLog }, { schema });
    await waits(settings.change("dedup", { retain: 5 }), held, () => undefined);
  });
});
