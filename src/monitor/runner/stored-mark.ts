/** Stores how far a collector has read. */
import { overlapMark, type Marks } from "../checkpoints/types.ts";

/** The clocks of replicas that share marks may differ by this much. */
const MAX_SKEW_MS = 300_000;

/**
 * A stored mark that is further ahead of the clock was stored under a wrong one. It is replaced,
 * because no mark would be stored before that time, and returned.
 */
export async function storeMark(
  marks: Marks,
  name: string,
  { markMs, nowMs }: { readonly markMs: number; readonly nowMs: number },
): Promise<number | undefined> {
  const isAhead = (storedMs: number | undefined): storedMs is number =>
    storedMs !== undefined && storedMs > nowMs + MAX_SKEW_MS;
  if (isAhead(marks.get(overlapMark(name)))) await marks.replace(overlapMark(name), markMs);
  const storedMs = marks.get(name);
  if (!isAhead(storedMs)) {
    await marks.set(name, markMs);
    return undefined;
  }
  await marks.replace(name, markMs);
  return storedMs;
}
