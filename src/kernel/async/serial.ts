/** Work one at a time: several steps that read and write what is stored elsewhere. */

/** Runs work after all work given before; its failure does not affect later work. */
export type Serial = <T>(work: () => Promise<T>) => Promise<T>;

/** The caller bounds how much waits. */
export function createSerial(): Serial {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const run = last.then(work);
    last = run.catch(() => undefined);
    return run;
  };
}

/** Runs work under a name after the work given before under the same name. */
export type NamedSerial = <T>(name: string, work: () => Promise<T>) => Promise<T>;

/** Keeps nothing for a name without work. The caller bounds how much waits. */
export function createNamedSerial(): NamedSerial {
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
