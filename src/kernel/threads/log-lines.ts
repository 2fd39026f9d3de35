/**
 * The lines of a thread's log on their way to the log of the process, which alone writes, exports
 * and conceals.
 */
import { createLog, type Log, type LogLevel, type RootLog } from "../base/log.ts";

/**
 * So many characters of lines may be under way; a thread that logs faster than they are written
 * leaves out what is above it.
 */
export const MAX_CHARACTERS = 1_048_576;

/** What the thread's log is made with. */
export interface LogBoot {
  readonly level: LogLevel;
  /** One number that both threads see: the characters under way. */
  readonly underWay: Int32Array;
}

/**
 * From the service's thread: a line as JSON, or how many were left out since this was last said.
 */
export type LogMessage =
  | { readonly kind: "line"; readonly line: string }
  | { readonly kind: "left_out"; readonly lines: number };

/** The log of a thread. */
export interface SentLog {
  readonly log: Log;
  /** Says how many lines were left out, when some were. */
  readonly tell: () => void;
}

/**
 * In the thread. Each line is posted at once: what was posted arrives even when the thread dies.
 */
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
  // The log of the process leaves out what repeats; it also knows what a thread before this one
  // wrote.
  return { log: createLog({ level, format: "json", write, now, limitRepeats: false }), tell };
}

/** On the main thread. */
export interface RelayedLog {
  readonly boot: LogBoot;
  readonly receive: (message: LogMessage) => void;
}

/** Hears the lines of one start of a thread, in their order. */
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
