/**
 * The names directly below a prefix of lease ids, found by seeking: a level is left as soon as its
 * name is known.
 */
import type { Env, Snapshot } from "../../../kernel/state/types.ts";
import { leaseIds } from "./tables.ts";
import { nextTurn } from "../../../kernel/async/turns.ts";

/** Leases that lie side by side are read in runs of this. */
const RUN = 256;
/** Rows of one stretch; about five milliseconds. */
const SLICE_ROWS = 2_048;

/**
 * What comes after every id below a prefix that ends in a slash; undefined for the empty prefix,
 * that holds all.
 */
export function endOfPrefix(prefix: string): string | undefined {
  return prefix === "" ? undefined : `${prefix.slice(0, -1)}0`; // "0" follows "/"
}

/**
 * Sorted; levels below end in a slash. `prefix` is empty or ends in a slash. Yields between slices,
 * each a read of its own: names created or deleted meanwhile may be included or not.
 */
export async function namesBelow(env: Env, prefix: string): Promise<string[]> {
  const names: string[] = [];
  let start: string | undefined = prefix;
  while (start !== undefined) {
    const from: string = start;
    start = env.read((snapshot) =>
      readSlice(snapshot, { prefix, from, end: endOfPrefix(prefix) }, names),
    );
    if (start !== undefined) await nextTurn();
  }
  return names;
}

interface Level {
  readonly prefix: string;
  readonly from: string;
  readonly end: string | undefined;
}

/** Adds some names; gives where to go on. */
function readSlice(
  snapshot: Snapshot,
  { prefix, from, end }: Level,
  names: string[],
): string | undefined {
  let start = from;
  let limit = 1;
  for (let rows = 0; rows < SLICE_ROWS;) {
    let next: string | undefined;
    for (const [id] of snapshot.range(leaseIds, {
      start: [start],
      ...(end === undefined ? {} : { end: [end] }),
      limit,
    })) {
      rows += 1;
      const rest = id.slice(prefix.length);
      const slash = rest.indexOf("/");
      names.push(slash < 0 ? rest : rest.slice(0, slash + 1));
      next = slash < 0 ? `${id}\0` : `${prefix}${rest.slice(0, slash)}0`;
      if (slash >= 0) break;
    }
    if (next === undefined) return undefined;
    start = next;
    limit = names.at(-1)?.endsWith("/") === true ? 1 : RUN;
  }
  return start;
}
