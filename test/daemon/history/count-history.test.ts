import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import {
  createCountHistory,
  type CountHistory,
  type Counts,
} from "../../../src/daemon/history/count-history.ts";
import { createLog } from "../../../src/kernel/base/log.ts";
import { createStateFactory } from "../../../src/kernel/state/state-factory.ts";
import { createManualClock } from "../../kernel/supervisor/manual-clock.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const folders: string[] = [];
const running: CountHistory[] = [];
afterEach(async () => {
  for (const one of running.splice(0)) await one.component.stop(1_000);
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});
const folder = (): string => {
  const made = mkdtempSync(join(tmpdir(), "steward-history-"));
  folders.push(made);
  return made;
};

const lines: string[] = [];
const log = createLog({
  level: "info",
  format: "text",
  write: (line) => lines.push(line),
  now: () => 0,
});

async function start(
  directory: string,
  clock: ReturnType<typeof createManualClock>,
  counts: () => Counts,
): Promise<CountHistory> {
  const history = createCountHistory({
    clock,
    log,
    state: createStateFactory({ directory, clock, log }),
    counts: () => Promise.resolve(counts()),
    needs: [],
  });
  running.push(history);
  await history.component.start(new AbortController().signal, () => undefined);
  return history;
}

describe("the history of counts", () => {
  it("has a count for each hour and day, of what is on, and keeps them over a restart", async () => {
    const directory = folder();
    const clock = createManualClock();
    const midnight = clock.now() - (clock.now() % DAY);
    let now: Counts = { documents: 10, groups: 2, leases: undefined };
    const first = await start(directory, clock, () => now);
    await vi.waitFor(() => expect(first.view().hours).toHaveLength(1), { timeout: 60_000 });
    now = { documents: 12, groups: 2, leases: 4 };
    // A sample is left out while the one before is still being stored.
    await vi.waitFor(
      async () => {
        await clock.advance(60_000);
        expect(first.view().hours.at(-1)?.documents).toBe(12);
      },
      { timeout: 60_000 },
    );
    await clock.advance(DAY);
    await vi.waitFor(
      async () => {
        await clock.advance(60_000);
        expect(first.view().days).toHaveLength(2);
      },
      { timeout: 60_000 },
    );
    const seen = first.view();
    expect(seen.days).toEqual([
      { atMs: midnight, documents: 12, groups: 2, leases: 4 },
      { atMs: midnight + DAY, documents: 12, groups: 2, leases: 4 },
    ]);
    await first.component.stop(1_000);
    const again = await start(directory, clock, () => now);
    expect(again.view().days).toEqual(seen.days);
  });

  it("forgets days after a month", async () => {
    const clock = createManualClock();
    const history = await start(folder(), clock, () => ({
      documents: 1,
      groups: undefined,
      leases: undefined,
    }));
    await vi.waitFor(() => expect(history.view().days).toHaveLength(1), { timeout: 60_000 });
    for (let day = 0; day < 35; day += 1) {
      const [last] = history.view().days.slice(-1);
      await clock.advance(DAY);
      await vi.waitFor(
        async () => {
          await clock.advance(60_000);
          expect(history.view().days.at(-1)).not.toEqual(last);
        },
        { timeout: 60_000 },
      );
    }
    expect(history.view().days).toHaveLength(31);
  });

  it("goes on in memory when its store is damaged, and says so", async () => {
    const directory = folder();
    writeFileSync(join(directory, "history.mdb"), "no store");
    const history = await start(directory, createManualClock(), () => ({
      documents: 3,
      groups: 1,
      leases: 0,
    }));
    await vi.waitFor(() => expect(history.view().hours).toHaveLength(1), { timeout: 60_000 });
    expect(lines.join("")).toContain("are kept in memory only");
  });
});
