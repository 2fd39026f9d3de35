/** The names directly below a prefix of lease ids, found by seeking: a level is left as soon as its name is known. */
import type { Snapshot } from "../../../kernel/state/types.ts";
import { leaseIds } from "./tables.ts";

/** Leases that lie side by side are read in runs of this. */
const RUN = 512;

/** What comes after every id below a prefix that ends in a slash; undefined for the empty prefix, that holds all. */
export function endOfPrefix(prefix: string): string | undefined {
  return prefix === "" ? undefined : `${prefix.slice(0, -1)}0`; // "0" follows "/"
}

/** Sorted; levels below end in a slash. `prefix` is empty or ends in a slash. */
export function namesBelow(snapshot: Snapshot, prefix: string): string[] {
  const names: string[] = [];
  const end = endOfPrefix(prefix);
  let start: string | undefined = prefix;
  for (let limit = 1; start !== undefined; ) {
    const from: string = start;
    start = undefined;
    let seen = 0;
    for (const [id] of snapshot.range(leaseIds, { start: [from], ...(end === undefined ? {} : { end: [end] }), limit })) {
      seen += 1;
      const rest = id.slice(prefix.length);
      const slash = rest.indexOf("/");
      if (slash < 0) {
        names.push(rest);
        if (seen === limit) start = `${id}\0`;
        continue;
      }
      names.push(rest.slice(0, slash + 1));
      start = `${prefix}${rest.slice(0, slash)}0`;
      break;
    }
    limit = names.at(-1)?.endsWith("/") === true ? 1 : RUN;
  }
  return names;
}
