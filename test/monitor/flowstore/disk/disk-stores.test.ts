import { copyFileSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { systemClock } from "../../../../src/kernel/base/clock.ts";
import { createStateFactory } from "../../../../src/kernel/state/state-factory.ts";
import { openDiskStores } from "../../../../src/monitor/flowstore/disk/disk-stores.ts";
import { flowStoreName, legacyFileName } from "../../../../src/monitor/flowstore/disk/names.ts";
import { flowStoreSpec } from "../../../../src/monitor/flowstore/disk/tables.ts";
import { silent } from "../../../demo/control-plane/support.ts";
import { temporaryFolder } from "../../../kernel/state/fixtures/tables.ts";
import { sampleFlow, shownPrivacy } from "../sample-flow.ts";
import { diskOptions } from "./open-store.ts";

const deps = { clock: systemClock, log: silent, version: "0.1.0" };
const open = (directory: string, ...names: string[]) =>
  openDiskStores(deps, { options: diskOptions(directory), privacy: shownPrivacy, names });
const fileOf = (directory: string, network: string): string =>
  join(directory, `${flowStoreName(network)}.mdb`);

describe("The files of flows", () => {
  it("have names that tell networks apart, whatever they are called", () => {
    const networks = ["a.b", "a-b", "A-B", "-", "", "ä", "x".repeat(300), `${"x".repeat(300)}y`];
    const names = networks.map(flowStoreName);
    expect(new Set(names).size).toBe(networks.length);
    for (const name of names) expect(name).toMatch(/^flows-[a-z0-9][a-z0-9-]{0,99}-[0-9a-f]{16}$/);
    expect(flowStoreName("-")).toMatch(/^flows-default-/);
    expect(["a.b", "", "-x-", "A_b"].map(legacyFileName)).toEqual([
      "flows-a-b.db",
      "flows-default.db",
      "flows-x.db",
      "flows-A_b.db",
    ]);
  });

  it("number arrivals on over all networks after a restart", async () => {
    const directory = temporaryFolder();
    const first = await open(directory, "a", "b");
    for (const store of first.all) store.record(sampleFlow({ timeMs: Date.now() }));
    await first.close();
    const second = await open(directory, "a", "b");
    second.of("a")?.record(sampleFlow({ timeMs: Date.now() }));
    const query = {
      startMs: 0,
      endMs: Number.MAX_SAFE_INTEGER,
      limit: 9,
      before: undefined,
      filter: { device: "", addr: "", service: "", identity: "", type: "", verdict: "", path: "" },
    };
    const { rows = [] } = (await second.of("a")?.select(query, new AbortController().signal)) ?? {};
    expect(rows.map(({ seq }) => seq)).toEqual([3, 1]);
    expect([second.health(), second.status().errors]).toEqual([{ ok: true }, []]);
    await second.close();
  });

  it.each<[string, (directory: string) => Promise<void>, RegExp]>([
    [
      "of a newer Steward",
      async (directory) => {
        const newer = { ...flowStoreSpec(flowStoreName("bad"), 10_000), schema: 99 };
        const env = await createStateFactory({ directory, ...deps, version: "9.9.9" }).open(newer);
        await env.close();
      },
      /9\.9\.9/,
    ],
    [
      "of another network",
      async (directory) => {
        await (await open(directory, "other")).close();
        copyFileSync(fileOf(directory, "other"), fileOf(directory, "bad"));
      },
      /is not the store flows-bad-/,
    ],
    [
      "that is no store",
      (directory) => Promise.resolve(writeFileSync(fileOf(directory, "bad"), "x".repeat(20_000))),
      /flows-bad-/,
    ],
    [
      "of the predecessor that was not adopted",
      (directory) =>
        Promise.resolve(writeFileSync(join(directory, legacyFileName("bad")), "SQLite")),
      /flows-bad\.db has not been adopted/,
    ],
  ])(
    "%s take the flows of their network alone away, and stay as they are",
    async (_, prepare, reason) => {
      const directory = temporaryFolder();
      await prepare(directory);
      const stores = await open(directory, "bad", "good");
      expect([stores.of("bad"), stores.all.map(({ network }) => network)]).toEqual([
        undefined,
        ["good"],
      ]);
      expect(stores.health()).toMatchObject({ ok: false, reason: expect.stringMatching(reason) });
      expect(stores.status()).toMatchObject({ errors: [expect.stringMatching(reason)] });
      stores.of("good")?.record(sampleFlow({ timeMs: Date.now() }));
      await stores.close();
      expect(existsSync(fileOf(directory, "good"))).toBe(true);
    },
  );

  it("in a folder that another has are left alone, and its networks have no store", async () => {
    const directory = temporaryFolder();
    const first = await open(directory, "a");
    const second = await open(directory, "a");
    expect([second.all, second.health().ok]).toEqual([[], false]);
    await second.close();
    expect(first.of("a")?.record(sampleFlow({ timeMs: Date.now() }))).toBeUndefined();
    await first.close();
  });
});
