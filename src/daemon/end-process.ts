/** Ends the process after pending writes and printed output, whatever else still runs. */
import { StewardError } from "../kernel/base/errors.ts";
import type { Log } from "../kernel/base/log.ts";
import { haltWrites } from "../kernel/state/file/last-write.ts";
import { keepAlive, waitFor } from "../kernel/async/wait.ts";
import { systemClock } from "../kernel/base/clock.ts";

/** Longest wait for a pending write, and for output that nobody reads. */
const LAST_WRITE_MS = 2_000;
const LAST_OUTPUT_MS = 1_000;

/** Never resolves. */
export type EndProcess = (code: number) => Promise<never>;

/**
 * Ends the process with this code. If the disk does not take the last write in time, the process
 * kills itself, since `exit` can hang while LMDB writes; acknowledged data is durable either way.
 */
export async function endProcess(code: number, exit: (code: number) => never): Promise<never> {
  using _alive = keepAlive();
  const isQuiet = await haltWrites(LAST_WRITE_MS);
  if (!isQuiet)
    process.stderr.write(
      "steward: a write was still in progress; the process kills itself, and the next start recovers as after a power failure\n",
    );
  const printed = Promise.all([flushed(process.stdout), flushed(process.stderr)]);
  await waitFor(printed, { clock: systemClock, timeoutMs: LAST_OUTPUT_MS });
  if (isQuiet) exit(code);
  process.kill(process.pid, "SIGKILL");
  return await new Promise<never>(() => {}); // the signal is on its way
}

/** Logs an uncaught error and exits with 1. Node's own handling may hang while LMDB writes. */
export function exitOnUncaught(log: Log, end: EndProcess): void {
  let ends = false;
  process.on("uncaughtException", (thrown: unknown, origin) => {
    if (ends) return;
    ends = true;
    try {
      log.error("uncaught error; the process exits", { origin, ...describeUncaught(thrown) });
    } finally {
      void end(1);
    }
  });
}

/**
 * Describes an unexpected error without secrets: its message may quote a body or a header, so only
 * our own errors and built-in error kinds are quoted. Of others the kind and the stack locations
 * remain.
 */
export function describeUncaught(thrown: unknown): {
  readonly kind: string;
  readonly text: string | undefined;
  readonly stack: string | undefined;
} {
  if (!(thrown instanceof Error)) return { kind: typeof thrown, text: undefined, stack: undefined };
  const isSlip =
    (thrown instanceof TypeError ||
      thrown instanceof ReferenceError ||
      thrown instanceof RangeError) &&
    !("code" in thrown);
  const locations = thrown.stack
    ?.split("\n")
    .filter((line) => /^ {4}at /.test(line))
    .join("\n");
  return {
    kind: thrown.name,
    text: thrown instanceof StewardError || isSlip ? thrown.message : undefined,
    stack: locations,
  };
}

/** Resolves when everything written has been flushed, or the reader is gone. */
function flushed(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    stream.write("", () => resolve());
  });
}
