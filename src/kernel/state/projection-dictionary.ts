/** The names of a column of a list: each has a code, and codes have an order. */
import { assert } from "../base/errors.ts";
import { wantedOf } from "./projection-conditions.ts";
import type { Condition } from "./projection-conditions.ts";

/** Names by their code. */
export interface Dictionary {
  /** From 1 up, the same for the same name. */
  code(name: string): number;
  /** By code: 1 where the name meets the condition. Nothing (code 0) meets none. */
  matching(condition: Condition): Uint8Array;
  /** By code: the place of the name among all, ignoring case first; nothing has none. */
  ranks(): Float64Array;
  /** The order of two codes by those places; nothing comes last. */
  compare(left: number, right: number): number;
}

/** An empty dictionary. Names that no row has any more stay: it is as large as what its column ever held, until the next start. */
export function createDictionary(): Dictionary {
  const codes = new Map<string, number>();
  const names: string[] = [""];
  const folded: string[] = [""];
  let ranks = Float64Array.of(Number.NaN);
  const compare = (left: number, right: number): number => {
    if (left === right) return 0;
    if (left === 0 || right === 0) return left === 0 ? 1 : -1;
    return compareText(folded[left] ?? "", folded[right] ?? "") || compareText(names[left] ?? "", names[right] ?? "");
  };
  return {
    compare,
    code(name) {
      const known = codes.get(name);
      if (known !== undefined) return known;
      codes.set(name, names.length);
      folded.push(name.toLowerCase());
      return names.push(name) - 1;
    },
    matching(condition) {
      const wanted = wantedOf(condition);
      const found = new Uint8Array(names.length);
      if (wanted !== undefined) for (const name of wanted) found[codes.get(String(name)) ?? 0] = 1;
      else {
        assert("contains" in condition, "a column of names has no bounds");
        const part = condition.contains.toLowerCase();
        for (const [code, name] of folded.entries()) found[code] = name.includes(part) ? 1 : 0;
      }
      found[0] = 0;
      return found;
    },
    ranks() {
      if (ranks.length === names.length) return ranks;
      ranks = new Float64Array(names.length).fill(Number.NaN);
      const sorted = Array.from({ length: names.length - 1 }, (_, at) => at + 1).sort(compare);
      for (const [rank, code] of sorted.entries()) ranks[code] = rank;
      return ranks;
    },
  };
}

/** Order by UTF-16 units. */
export function compareText(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
