/** The surroundings of a filter: threads, Ctrl-C, sources and standard output. */
import type { JsonlOptions } from "../../dedup/archives/jsonl.ts";
import { systemClock } from "../../kernel/base/clock.ts";
import { StewardError } from "../../kernel/base/errors.ts";
import { createLog } from "../../kernel/base/log.ts";
import { createPool } from "../../kernel/pool/pool.ts";
import type { Pool } from "../../kernel/pool/types.ts";
import type { Pieces } from "../report/output.ts";
import { writeAll } from "../report/output.ts";
import type { FilterArguments } from "./arguments.ts";

const INTERRUPTED = 130;

export interface FilterDeps {
  readonly pool: Pool;
  /** Fires on SIGINT and SIGTERM, and when nobody reads the output any more. */
  readonly signal: AbortSignal;
  readonly sources: readonly Pick<JsonlOptions, "name" | "source">[];
}

/**
 * Writes what `filter` gives to standard output as fast as it is read. Resolves to false when the
 * reader left before the end, which is no failure, and to 130 after Ctrl-C.
 */
export async function runFilter(
  { files, workers }: FilterArguments,
  filter: (deps: FilterDeps) => Pieces,
): Promise<"done" | "reader left" | typeof INTERRUPTED> {
  const interrupt = new AbortController();
  const readerLeft = new AbortController();
  const onSignal = (): void => interrupt.abort(new StewardError("cancelled", "interrupted"));
  process.once("SIGINT", onSignal).once("SIGTERM", onSignal);
  const onClose = (): void => readerLeft.abort(new StewardError("cancelled", "the reader left"));
  // The failure itself is reported by who writes.
  const onError = (error: NodeJS.ErrnoException): void => {
    if (error.code === "EPIPE") onClose();
  };
  process.stdout.once("close", onClose).on("error", onError);
  const log = createLog({
    level: "warn",
    format: "text",
    write: (line) => process.stderr.write(line),
    now: () => systemClock.now(),
  });
  const pool = createPool({
    clock: systemClock,
    log,
    ...(workers === undefined ? {} : { threads: workers }),
  });
  const signal = AbortSignal.any([interrupt.signal, readerLeft.signal]);
  try {
    const written = await writeAll(
      filter({ pool, signal, sources: files.map(sourceOf) }),
      process.stdout,
      signal,
    );
    return written ? "done" : "reader left";
  } catch (error) {
    if (interrupt.signal.aborted) return INTERRUPTED;
    if (readerLeft.signal.aborted) return "reader left";
    throw error;
  } finally {
    process.stdout.off("close", onClose).off("error", onError);
    await pool.close();
  }
}

function sourceOf(file: string): FilterDeps["sources"][number] {
  return file === "-"
    ? { name: "standard input", source: { stream: process.stdin } }
    : { name: file, source: { path: file } };
}
