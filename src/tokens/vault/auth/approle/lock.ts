/** One at a time for each name: reading and writing what is stored elsewhere in several steps. */

/** Runs work; work under the same name waits for the work before it. */
export type NamedLock = <T>(name: string, work: () => Promise<T>) => Promise<T>;

/** Keeps no entry for idle names. The gateway's admission bounds the waiters. */
export function createNamedLock(): NamedLock {
  const tails = new Map<string, Promise<unknown>>();
  return async (name, work) => {
    const before = tails.get(name) ?? Promise.resolve();
    const mine = before.then(work, work);
    tails.set(name, mine);
    try {
      return await mine;
    } finally {
      if (tails.get(name) === mine) tails.delete(name);
    }
  };
}
