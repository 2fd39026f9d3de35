/** Relays log lines of a thread to the process's log, which alone writes, exports and conceals. */
import { createLog, type Log, type LogLevel, type RootLog } from "../base/log.ts";

/** Maximum number of characters in transit; above it the thread drops lines and counts them. */
export const MAX_CHARACTERS = 1_048_576;

export interface LogBoot {
  readonly level: LogLevel;
  /** Shared counter of the characters in transit. */
  readonly inTransit: Int32Array;
}

/**
 * From the service's thread: a line as JSON, or the number of lines dropped since the last such
 * message.
 */
export type LogMessage =
  | { readonly kind: "line"; readonly line: string }
  | { readonly kind: "dropped"; readonly lines: number };

export interface ThreadLog {
  readonly log: Log;
  /** Reports the number of dropped lines, if any. */
  readonly reportDropped: () => void;
}

/** In the thread. Each line is posted at once: posted lines arrive even when the thread dies. */
export function createThreadLog(
  { level, inTransit }: LogBoot,
  post: (message: LogMessage) => void,
  now: () => number,
): ThreadLog {
  let dropped = 0;
  const reportDropped = (): void => {
    if (dropped > 0) post({ kind: "dropped", lines: dropped });
    dropped = 0;
  };
  const write = (line: string): void => {
    if (Atomics.load(inTransit, 0) >= MAX_CHARACTERS) {
      dropped += 1;
      return;
    }
    reportDropped();
    Atomics.add(inTransit, 0, line.length);
    post({ kind: "line", line });
  };
  // The process's log suppresses repeats; it also knows the lines of earlier threads.
  return {
    log: createLog({ level, format: "json", write, now, limitRepeats: false }),
    reportDropped,
  };
}

/** On the main thread. */
export interface RelayedLog {
  readonly boot: LogBoot;
  readonly receive: (message: LogMessage) => void;
}

/** Receives the lines of one start of a thread, in order. */
export function createRelayedLog(log: RootLog, thread: string): RelayedLog {
  const inTransit = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  return {
    boot: { level: log.level, inTransit },
    receive(message) {
      if (message.kind === "dropped")
        return log
          .child(thread)
          .warn(
            `${message.lines} log lines were dropped: the thread logged faster than they could be written`,
          );
      Atomics.sub(inTransit, 0, message.line.length);
      log.relay(message.line);
    },
  };
}
