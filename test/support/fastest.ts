/**
 * Runs a measurement until it stays below a bound, at most `rounds` times, and returns the least
 * milliseconds. Other work on the machine only ever adds to a time, so one round within the bound
 * shows that the code under test keeps it.
 */
export async function fastest(
  boundMs: number,
  measure: () => Promise<number>,
  rounds = 5,
): Promise<number> {
  let leastMs = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds && leastMs >= boundMs; round++)
    leastMs = Math.min(leastMs, await measure());
  return leastMs;
}
