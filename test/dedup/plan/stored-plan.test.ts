/** The delete plan of accepted groups: how much of the store it reads for it. */
import { expect, it } from "vitest";
import { defaultParameters } from "../../../src/dedup/analysis/parameters.ts";
import { acceptGroup } from "../../../src/dedup/groups/review.ts";
import { makeStoredPlan } from "../../../src/dedup/plan/stored-plan.ts";
import { groups } from "../../../src/dedup/tables.ts";
import type { Env, Snapshot } from "../../../src/kernel/state/types.ts";
import { openBench, prose } from "../groups/bench.ts";

/** The environment, and the rows of groups that were read in it. */
function counting(env: Env): { readonly env: Env; readonly read: { groups: number } } {
  const read = { groups: 0 };
  const counted = (snapshot: Snapshot): Snapshot => ({
    get(table, key) {
      if ((table as unknown) === groups) read.groups += 1;
      return snapshot.get(table, key);
    },
    range: (table, bounds) => snapshot.range(table, bounds),
    keys: (table, bounds) => snapshot.keys(table, bounds),
    find: (table, index, parts) => snapshot.find(table, index, parts),
    count: (table) => snapshot.count(table),
  });
  return { read, env: { ...env, read: (view) => env.read((one) => view(counted(one))) } };
}

/** Rows of groups read for the plan of one accepted group of equal documents. */
async function rowsRead(members: number): Promise<number> {
  const bench = await openBench();
  for (let docNo = 1; docNo <= members; docNo += 1) await bench.put(docNo, prose(1));
  await bench.analyse();
  const [group] = bench.groups();
  await bench.env.write((tx) => acceptGroup(tx, bench.index, group?.row.id ?? "", 1));
  const { env, read } = counting(bench.env);
  const deps = { ...bench, env, parameters: () => defaultParameters };
  const plan = await makeStoredPlan(deps, new AbortController().signal);
  expect(plan.go.size).toBe(members - 1);
  await bench.close();
  return read.groups;
}

it("reads a group as often as a small one, however many members it has", async () => {
  expect(await rowsRead(60)).toBe(await rowsRead(3));
});
