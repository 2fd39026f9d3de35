/** Matching of suggested names to those that exist, so that no near-copies are created. */

/** Finds the existing name that a suggestion means. */
export interface NameMatcher {
  /** The existing name, undefined when there is none. */
  find(name: string): string | undefined;
}

/** Legal forms say nothing about who a correspondent is. */
const LEGAL_FORM =
  /\s+(gmbh(\s+(und|and)\s+co\s+kg)?|ag|kg|se|ltd|limited|llc|inc|incorporated|corp|corporation|plc|sa|sarl|srl|bv|nv|ab|oy|aps)$/;
/** Shorter names differ from each other by one letter too often. */
const NEAR_FROM = 8;
/** Comparing letters costs time for each existing name. */
const MAX_NEAR = 20_000;

/** Of equal names the first counts. */
export function createNameMatcher(existing: Iterable<string>): NameMatcher {
  const exact = new Map<string, string>();
  const loose = new Map<string, string>();
  for (const name of existing) {
    const folded = name.toLowerCase().trim();
    if (!exact.has(folded)) exact.set(folded, name);
    const key = looseKey(name);
    if (key !== "" && !loose.has(key)) loose.set(key, name);
  }
  return {
    find(name) {
      const key = looseKey(name);
      return exact.get(name.toLowerCase().trim()) ?? loose.get(key) ?? near(key);
    },
  };

  /** The only name that differs by a slip of the pen; two candidates are none. */
  function near(key: string): string | undefined {
    if (key.length < NEAR_FROM || loose.size > MAX_NEAR) return undefined;
    let found: string | undefined;
    for (const [candidate, name] of loose) {
      if (candidate.length < NEAR_FROM || digitsOf(candidate) !== digitsOf(key)) continue;
      if (!isOneEdit(candidate, key)) continue;
      if (found !== undefined) return undefined;
      found = name;
    }
    return found;
  }
}

/** Without case, accents, punctuation and legal form. */
function looseKey(name: string): string {
  const words = name
    .normalize("NFKD")
    .replaceAll(/\p{M}/gu, "")
    .toLowerCase()
    .replaceAll("&", " and ")
    .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
  const short = words.replace(LEGAL_FORM, "");
  return short === "" ? words : short;
}

function digitsOf(text: string): string {
  return text.replaceAll(/\P{N}+/gu, "");
}

/** Whether one letter was added, left out or replaced. */
function isOneEdit(left: string, right: string): boolean {
  const [short, long] = left.length <= right.length ? [left, right] : [right, left];
  if (long.length - short.length > 1) return false;
  let at = 0;
  while (at < short.length && short[at] === long[at]) at += 1;
  return short.slice(short.length === long.length ? at + 1 : at) === long.slice(at + 1);
}
