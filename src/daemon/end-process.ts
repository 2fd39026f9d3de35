/**
 * How the process ends: after what is being stored and what was printed, whatever else still runs.
 */
import { StewardError } from "../kernel/base/errors.ts";
import type { Log } from "../kernel/base/log.ts";
import { haltWrites } from "../kernel/state/last-write.ts";

/**
 * A change that is being stored, and output that nobody reads, are waited for no longer than this.
 */
const LAST_WRITE_MS = 2_000;
const LAST_OUTPUT_MS = 1_000;

/** Ends the process with a code. */
export type EndProcess = (code: number) => Promise<never>;

/**
 * Ends the process with this code. When the disk does not take the last change in time it is killed
 * instead, since an exit under LMDB may never come to its end; what was acknowledged is stored
 * either way.
 */
export async function endProcess(code: number, exit: (code: number) => never): Promise<never> {
  const isQuiet = await haltWrites(LAST_WRITE_MS);
  if (!isQuiet)
    process.stderr.write(
      "steward: a write was still in progress; the process kills itself, and the next start recovers as after a power failure\n",
    );
  await Promise.race([
    Promise.all([flushed(process.stdout), flushed(process.stderr)]),
    waited(LAST_OUTPUT_MS),
  ]);
  if (isQuiet) exit(code);
  process.kill(process.pid, "SIGKILL");
  return await new Promise<never>(() => {}); // the signal is on its way
}

/**
 * From now on an error that nobody caught is logged and ends the process with 1. Node's own
 * handling may hang under LMDB.
 */
export function heedUncaught(log: Log, end: EndProcess): void {
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
 * What may be told of an error that nobody expected. Its text may quote what it failed on, e.g. a
 * body or a header with a secret, so only our own errors and slips of the language are quoted; of
 * others the kind and the places remain.
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
  const places = thrown.stack
    ?.split("\n")
    .filter((line) => /^ {4}at /.test(line))
    .join("\n");
  return {
    kind: thrown.name,
    text: thrown instanceof StewardError || isSlip ? thrown.message : undefined,
    stack: places,
  };
}

/** Resolves when all that was written has left, or nobody reads it any more. */
function flushed(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    stream.write("", () => resolve());
  });
}

function waited(timeoutMs: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, timeoutMs);
  });
}
