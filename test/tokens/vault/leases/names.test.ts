import fc from "fast-check";
import { expect, it, vi } from "vitest";
import { openEnv, temporaryFolder } from "../../../kernel/state/fixtures/tables.ts";
import { namesBelow } from "../../../../src/tokens/vault/leases/names.ts";
import { leaseIds } from "../../../../src/tokens/vault/leases/tables.ts";

const segment = fc.stringMatching(/^[a-c.0~-]{1,2}$/);
const id = fc.array(segment, { minLength: 1, maxLength: 4 }).map((parts) => parts.join("/"));

it("lists what lies directly below any prefix, as a walk over all ids would", async () => {
  const env = await openEnv(temporaryFolder(), { tables: [leaseIds] });
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(id, { maxLength: 60 }), async (ids) => {
      await env.write((tx) => {
        for (const [old] of tx.range(leaseIds)) tx.delete(leaseIds, old);
        ids.forEach((one, seq) => tx.put(leaseIds, one, seq));
      });
      for (const prefix of new Set([
        "",
        "a/",
        "b/b/",
        ...ids.map((one) => one.slice(0, one.lastIndexOf("/") + 1)),
      ])) {
        const below = ids
          .filter((one) => one.startsWith(prefix))
          .map((one) => one.slice(prefix.length))
          .map((rest) => (rest.includes("/") ? rest.slice(0, rest.indexOf("/") + 1) : rest));
        expect(await namesBelow(env, prefix)).toEqual([...new Set(below)].sort());
      }
    }),
    { numRuns: 60 },
  );
});

it("skips what lies deeper: a few names over many leases take a few seeks", async () => {
  const env = await openEnv(temporaryFolder(), { tables: [leaseIds] });
  for (let from = 0; from < 50_000; from += 1_000)
    await env.write((tx) =>
      Array.from({ length: 1_000 }, (_, at) =>
        tx.put(leaseIds, `m${(from + at) % 5}/token/${from + at}`, from + at),
      ),
    );
  const slices = vi.spyOn(env, "read");
  expect(await namesBelow(env, "")).toEqual(["m0/", "m1/", "m2/", "m3/", "m4/"]);
  expect(slices).toHaveBeenCalledTimes(1);
  slices.mockClear();
  let turns = 0;
  let turning = setImmediate(function turn() {
    turns += 1;
    turning = setImmediate(turn);
  });
  expect((await namesBelow(env, "m3/token/")).length).toBe(10_000);
  clearImmediate(turning);
  expect(slices.mock.calls.length).toBeGreaterThan(3);
  expect(turns).toBeGreaterThan(3);
});
