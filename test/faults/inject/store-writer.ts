/**
 * A process that writes rows one after the other, several at a time, until its input ends. Then it
 * closes the store, opens it again, and prints whether what was acknowledged is there and whether
 * memory agreed with the file.
 */
import { setTimeout } from "node:timers/promises";
import { systemClock } from "../../../src/kernel/base/clock.ts";
import { logConsole } from "../../../src/kernel/base/log/console-log.ts";
import { createLog } from "../../../src/kernel/base/log.ts";
import { toStewardError } from "../../../src/kernel/base/errors.ts";
import { createStateFactory } from "../../../src/kernel/state/state-factory.ts";
import type { Env } from "../../../src/kernel/state/types.ts";
import { numberedTable } from "../../kernel/state/fixtures/numbered.ts";

/** What the process prints at its end. */
export interface StoreWriterReport {
  readonly acknowledged: number;
  /** Refused writes, by error code. */
  readonly refused: Readonly<Record<string, number>>;
  /** Acknowledged rows that are not in the store. */
  readonly lost: number;
  /** Rows that are in the store and whose effect did not run, or the other way round. */
  readonly disagreeing: number;
  /** Effects that ran twice. */
  readonly doubled: number;
  /** Reads that failed, by error code. */
  readonly unread: Readonly<Record<string, number>>;
}

const WRITERS = 4;

const directory = process.argv[2] ?? "";
const log = createLog({
  level: "info",
  format: "json",
  write: (line) => process.stderr.write(line),
  now: () => systemClock.now(),
});
logConsole(log);
const open = (): Promise<Env> =>
  createStateFactory({ directory, clock: systemClock, log }).open({
    name: "rows",
    tables: [numberedTable],
    schema: 1,
    derived: false,
    maxBytes: 2 ** 30,
  });
const acknowledged = new Set<number>();
const effects = new Map<number, number>();
const refused: Record<string, number> = {};
const unread: Record<string, number> = {};
const ended = new AbortController();
let next = 0;

const count = (counts: Record<string, number>, thrown: unknown): void => {
  const { code } = toStewardError(thrown);
  counts[code] = (counts[code] ?? 0) + 1;
};

async function write(env: Env): Promise<void> {
  while (!ended.signal.aborted) {
    const number = next++;
    try {
      await env.write((tx) => {
        tx.put(numberedTable, number, new Uint8Array(2_000));
        tx.after(() => effects.set(number, (effects.get(number) ?? 0) + 1));
      });
      acknowledged.add(number);
    } catch (error) {
      count(refused, error);
      await setTimeout(5);
    }
    try {
      env.read((snapshot) => snapshot.get(numberedTable, number));
    } catch (error) {
      count(unread, error);
    }
  }
}

const env = await open();
process.stdin.on("end", () => ended.abort()).resume();
const health = setInterval(
  () =>
    process.stdout.write(
      `${JSON.stringify({ healthy: env.status().healthy, reason: env.status().reason, acknowledged: acknowledged.size })}\n`,
    ),
  50,
);
await Promise.all(Array.from({ length: WRITERS }, () => write(env)));
clearInterval(health);
await env.close();
const again = await open();
const stored = new Set<number>();
again.read((snapshot) => {
  for (const [number] of snapshot.range(numberedTable)) stored.add(number);
});
await again.close();
const report: StoreWriterReport = {
  acknowledged: acknowledged.size,
  refused,
  unread,
  lost: [...acknowledged].filter((number) => !stored.has(number)).length,
  disagreeing:
    [...stored].filter((number) => !effects.has(number)).length +
    [...effects.keys()].filter((number) => !stored.has(number)).length,
  doubled: [...effects.values()].filter((times) => times > 1).length,
};
process.stdout.write(`${JSON.stringify({ report })}\n`);
