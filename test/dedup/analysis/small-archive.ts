/** A small archive to analyse, and what tests of analyses ask of its groups. */
import { setStatus } from "../../../src/dedup/groups/review.ts";
import type { GroupStatus } from "../../../src/gen/steward/dedup/v1/groups_pb.ts";
import type { Bench } from "../groups/bench.ts";
import { edited, openBench, prose } from "../groups/bench.ts";

export const one: string = prose(1);
export const two: string = prose(2);

/** Three near-duplicates, of which two are equal, and three texts that are in no group. */
export async function small(options: Parameters<typeof openBench>[0] = {}): Promise<Bench> {
  const bench = await openBench(options);
  await bench.put(1, one);
  await bench.put(2, edited(one, 30, "other"));
  await bench.put(3, one);
  await bench.put(4, two);
  await bench.put(5, "");
  await bench.put(6, "too few words");
  return bench;
}

export function members(bench: Bench): number[][] {
  return bench.groups().map(({ row }) => row.members);
}

export async function decide(bench: Bench, id: string, status: GroupStatus): Promise<void> {
  await bench.env.write((tx) =>
    setStatus(tx, bench.index, { id, status, nowMs: bench.clock.now() }),
  );
}
