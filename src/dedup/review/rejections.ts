/** Pairs of documents that a person decided to be no duplicates. */

/** Whether two documents stand in one of the sets. */
export function createRejections(
  sets: readonly (readonly number[])[],
): (a: number, b: number) => boolean {
  const setsOf = new Map<number, Set<number>>();
  for (const [index, documents] of sets.entries())
    for (const document of documents)
      setsOf.set(document, (setsOf.get(document) ?? new Set()).add(index));
  return (a, b) => {
    const others = setsOf.get(b);
    return others !== undefined && [...(setsOf.get(a) ?? [])].some((set) => others.has(set));
  };
}
