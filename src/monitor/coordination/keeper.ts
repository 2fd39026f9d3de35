/** Writes the newest of many texts: one write at a time, at most one a second. */
import { delay, type Clock } from "../../kernel/base/clock.ts";
import type { Log } from "../../kernel/base/log.ts";

const PAUSE_MS = 1_000;

export interface Keeper {
  keep(text: string): void;
  /** Writes what is still to be written. Never rejects. */
  flush(): Promise<void>;
}

/** `write` must end by itself; what it rejects is logged, and tried again with the next text. */
export function createKeeper(
  { clock, log }: { readonly clock: Clock; readonly log: Log },
  write: (text: string) => Promise<unknown>,
): Keeper {
  const flushing = new AbortController();
  let latest: string | undefined;
  let working: Promise<void> | undefined;

  async function writeLatest(): Promise<void> {
    const text = latest;
    if (text === undefined) return;
    latest = undefined;
    try {
      await write(text);
    } catch (error) {
      latest ??= text;
      log.warn("the read positions could not be kept for the next holder of the lease", { error });
    }
  }

  async function work(): Promise<void> {
    while (latest !== undefined && !flushing.signal.aborted) {
      await writeLatest();
      await delay(clock, PAUSE_MS, flushing.signal).catch(() => undefined);
    }
    working = undefined;
  }

  return {
    keep(text) {
      latest = text;
      working ??= work();
    },
    async flush() {
      flushing.abort();
      await working;
      await writeLatest();
    },
  };
}
