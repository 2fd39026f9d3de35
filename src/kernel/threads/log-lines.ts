/** Relays log lines of a thread to the process's log, which alone writes, exports and conceals. */
import { createLog, type Log, type LogLevel, type RootLog } from "../base/log.ts";

/** Maximum number of characters in transit; above it the thread drops lines and counts them. */
export const MAX_CHARACTERS = 1_048_576;

export interface LogBoot {
  readonly level: LogLevel;
  /** Shared counter of the characters in transit. */
  readonly underWay: Int32Array;
}

/**
 * From the service's thread: a line as JSON, or the number of lines dropped since the last such
 * message.
 */
export type LogMessage =
  | { readonly kind: "line"; readonly line: string }
  | { readonly kind: "left_out"; readonly lines: number };

export interface SentLog {
  readonly log: Log;
  /** Reports the number of dropped lines, if any. */
  readonly tell: () => void;
}

/** In the thread. Each line is posted at once: posted lines arrive even when the thread dies. */
export function createSentLog(
  { level, underWay }: LogBoot,
  post: (message: LogMessage) => void,
  now: () => number,
): SentLog {
  let leftOut = 0;
  const tell = (): void => {
    if (leftOut > 0) post({ kind: "left_out", lines: leftOut });
    leftOut = 0;
  };
  const write = (line: string): void => {
    if (Atomics.load(underWay, 0) >= MAX_CHARACTERS) {
      leftOut += 1;
      return;
    }
    tell();
    Atomics.add(underWay, 0, line.length);
    post({ kind: "line", line });
  };
  // The process's log suppresses repeats; it also knows the lines of earlier threads.
  return { log: createLog({ level, format: "json", write, now, limitRepeats: false }), tell };
}

/** On the main thread. */
export interface RelayedLog {
  readonly boot: LogBoot;
  readonly receive: (message: LogMessage) => void;
}

/** Receives the lines of one start of a thread, in order. */
export function createRelayedLog(log: RootLog, thread: string): RelayedLog {
  const underWay = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  return {
    boot: { level: log.level, underWay },
    receive(message) {
      if (message.kind === "left_out")
        return log
          .child(thread)
          .warn(
            `${message.lines} log lines were dropped: the thread logged faster than they could be written`,
          );
      Atomics.sub(underWay, 0, message.line.length);
      log.relay(message.line);
    },
  };
}
