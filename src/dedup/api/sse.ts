/** Server-sent events: frames, and comments that keep a quiet connection open. */
import type { JsonValue } from "@bufbuild/protobuf";
import type { Clock } from "../../kernel/base/clock.ts";

const KEEP_ALIVE_MS = 15_000;

/** One frame with one line of data. */
export function eventFrame(event: string, data: JsonValue): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}

/**
 * The frames of `source` with a comment every 15 s by the clock. Ends with the source; the signal
 * given to it fires when `signal` does or the reader leaves.
 */
export async function* withKeepAlive(
  source: (signal: AbortSignal) => AsyncIterable<string>,
  clock: Clock,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const left = new AbortController();
  const frames = source(AbortSignal.any([signal, left.signal]))[Symbol.asyncIterator]();
  const beat = createBeat(clock);
  let next = frames.next();
  try {
    for (;;) {
      const first = await Promise.race([next, beat.due()]);
      if (first === "due") {
        yield ":keepalive\n\n";
        continue;
      }
      if (first.done === true) return;
      next = frames.next();
      yield first.value;
    }
  } finally {
    beat[Symbol.dispose]();
    left.abort();
    // The source may end by throwing the abort, which nobody awaits.
    next.catch(() => undefined);
    await frames.return?.().catch(() => undefined);
  }
}

interface Beat extends Disposable {
  /** Resolves once for each 15 s that have passed. */
  due(): Promise<"due">;
}

function createBeat(clock: Clock): Beat {
  let timer: Disposable | undefined;
  let pending: Promise<"due"> | undefined;
  const arm = (): Promise<"due"> =>
    new Promise((resolve) => {
      timer = clock.timer(clock.monotonic() + KEEP_ALIVE_MS, () => {
        pending = undefined;
        resolve("due");
      });
    });
  return {
    due: () => (pending ??= arm()),
    [Symbol.dispose]: () => timer?.[Symbol.dispose](),
  };
}
