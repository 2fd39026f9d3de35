/**
 * Durable commits per second of a state environment: `bin/node bench/kernel-state.ts [SECONDS]`. 1,
 * 16 and 64 callers that each wait for their commit, alone and beside a bulk writer in the same and
 * in another environment, with the time a caller waits and the share of the commits alone. The disk
 * of a shared machine changes from second to second, so each is told beside its own. In the same
 * run the baselines: bare lmdb `put` awaited, and a plain append followed by fsync.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { open as openFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { open } from "lmdb";
import { systemClock } from "../src/kernel/base/clock.ts";
import { createLog } from "../src/kernel/base/log.ts";
import { numberKey } from "../src/kernel/state/keys.ts";
import { createStateFactory } from "../src/kernel/state/state-factory.ts";
import { defineTable } from "../src/kernel/state/table.ts";
import type { Env, StateFactory, Table } from "../src/kernel/state/types.ts";
import { bytesCodec } from "../src/kernel/state/values.ts";

const CALLERS = [1, 16, 64];
const VALUE_BYTES = 200;
const WARM_UP_MS = 200;
/**
 * A bulk change is about 1 MiB, as large as a change may be; some wait in line so that the writer
 * never rests.
 */
const BULK_ROWS = 500;
const BULK_ROW_BYTES = 2_048;
const BULK_IN_LINE = 2;

const runMs = Number(process.argv[2] ?? 2) * 1_000;
const rows: Table<number, Uint8Array> = defineTable({
  name: "rows",
  key: numberKey,
  value: bytesCodec,
  limit: { rows: 100_000_000 },
});
const bulk: Table<number, Uint8Array> = defineTable({
  name: "bulk",
  key: numberKey,
  value: bytesCodec,
  limit: { rows: 100_000_000 },
});
const value = new Uint8Array(VALUE_BYTES).fill(7);

interface Figures {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly longestMs: number;
  readonly bulkMiBPerSecond: number | undefined;
}

/** `callers` loops, each waiting for its commit before the next. */
async function measure(
  callers: number,
  commit: (number: number) => Promise<unknown>,
  beside?: BulkWriter,
): Promise<Figures> {
  const waits: number[] = [];
  let number = 0;
  const begin = performance.now() + WARM_UP_MS;
  const end = begin + runMs;
  const loop = async (): Promise<void> => {
    for (let now = performance.now(); now < end;) {
      await commit(number++);
      const after = performance.now();
      if (now >= begin) waits.push(after - now);
      now = after;
    }
  };
  const bulkBefore = beside?.bytes() ?? 0;
  const began = performance.now();
  await Promise.all(Array.from({ length: callers }, loop));
  const tookMs = performance.now() - began;
  const bulkBytes = (beside?.bytes() ?? 0) - bulkBefore;
  waits.sort((a, b) => a - b);
  const at = (share: number): number =>
    waits[Math.min(waits.length - 1, Math.floor(waits.length * share))] ?? Number.NaN;
  return {
    perSecond: (waits.length / (performance.now() - begin)) * 1_000,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    longestMs: at(1),
    bulkMiBPerSecond: beside === undefined ? undefined : (bulkBytes / 2 ** 20 / tookMs) * 1_000,
  };
}

interface BulkWriter {
  bytes(): number;
  stop(): Promise<void>;
}

/**
 * Stores changes of about 1 MiB for as long as it is left to; overwrites after a while, so that the
 * file stays bounded.
 */
function startBulkWriter(env: Env): BulkWriter {
  const row = new Uint8Array(BULK_ROW_BYTES).fill(3);
  const stop = new AbortController();
  let bytes = 0;
  let next = 0;
  const loop = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      const first = next;
      next = (next + BULK_ROWS) % 100_000;
      await env.write((tx) => {
        for (let number = first; number < first + BULK_ROWS; number++) tx.put(bulk, number, row);
      });
      bytes += BULK_ROWS * BULK_ROW_BYTES;
    }
  };
  const over = Promise.all(Array.from({ length: BULK_IN_LINE }, loop));
  return {
    bytes: () => bytes,
    async stop() {
      stop.abort();
      await over;
    },
  };
}

function print(name: string, callers: number, figures: Figures, alone?: Figures): void {
  const { perSecond, p50Ms, p99Ms, longestMs, bulkMiBPerSecond } = figures;
  const beside = bulkMiBPerSecond === undefined ? "" : bulkMiBPerSecond.toFixed(1);
  const share =
    alone === undefined ? "" : `${((figures.perSecond / alone.perSecond) * 100).toFixed(0)} %`;
  process.stdout.write(
    `${name.padEnd(38)}${String(callers).padStart(8)}${perSecond.toFixed(0).padStart(12)}${p50Ms.toFixed(2).padStart(10)}${p99Ms.toFixed(2).padStart(10)}${longestMs.toFixed(1).padStart(10)}${beside.padStart(12)}${share.padStart(12)}\n`,
  );
}

async function benchFile(folder: string): Promise<void> {
  const file = await openFile(join(folder, "append"), "a");
  print(
    "append + fsync",
    1,
    await measure(1, async () => {
      await file.write(value);
      await file.sync();
    }),
  );
  await file.close();
}

// Both ways of lmdb: its default may resolve before the disk has everything; the state layer asks
// for the other.
async function benchLmdb(folder: string): Promise<void> {
  for (const [name, overlappingSync] of [
    ["lmdb put, flushed when resolved", false],
    ["lmdb put, overlapping sync", true],
  ] as const) {
    const db = open<Buffer, number>({
      path: join(folder, `bare-${overlappingSync}.mdb`),
      noSubdir: true,
      overlappingSync,
      encoding: "binary",
    });
    const bytes = Buffer.from(value);
    for (const callers of CALLERS)
      print(name, callers, await measure(callers, (number) => db.put(number, bytes)));
    await db.close();
  }
}

async function benchState(factory: StateFactory): Promise<void> {
  const spec = { tables: [rows, bulk], schema: 1, derived: false, maxBytes: 2 ** 33 };
  const env = await factory.open({ name: "bench", ...spec });
  const other = await factory.open({ name: "other", ...spec });
  const commit = (number: number): Promise<void> => env.write((tx) => tx.put(rows, number, value));
  for (const callers of CALLERS) {
    const alone = await measure(callers, commit);
    print("state write", callers, alone);
    for (const [name, busy] of [
      ["state write, bulk in another env", other],
      ["state write, bulk in the same env", env],
    ] as const) {
      const writer = startBulkWriter(busy);
      print(name, callers, await measure(callers, commit, writer), alone);
      await writer.stop();
    }
  }
  await env.close();
  await other.close();
}

const folder = mkdtempSync(join(tmpdir(), "steward-bench-"));
try {
  process.stdout.write(
    `durable commits of ${VALUE_BYTES} bytes, ${runMs / 1_000} s each; bulk: changes of ${((BULK_ROWS * BULK_ROW_BYTES) / 2 ** 20).toFixed(2)} MiB, ${BULK_IN_LINE} in line\n`,
  );
  process.stdout.write(
    `${"".padEnd(38)}${"callers".padStart(8)}${"commits/s".padStart(12)}${"p50 ms".padStart(10)}${"p99 ms".padStart(10)}${"max ms".padStart(10)}${"bulk MiB/s".padStart(12)}${"of alone".padStart(12)}\n`,
  );
  await benchFile(folder);
  await benchLmdb(folder);
  const log = createLog({
    level: "warn",
    format: "text",
    write: (line) => process.stderr.write(line),
    now: () => systemClock.now(),
  });
  await benchState(
    createStateFactory({ directory: join(folder, "state"), clock: systemClock, log }),
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}
