import { expect, it } from "vitest";
import { StewardError } from "../../../src/kernel/base/errors.ts";
import { createStateFactory } from "../../../src/kernel/state/state-factory.ts";
import type { Env } from "../../../src/kernel/state/types.ts";
import { createManualClock } from "../supervisor/manual-clock.ts";
import { memoryLog } from "../telemetry/fixtures.ts";
import { allTables, numbers, openEnv, temporaryFolder } from "./fixtures/tables.ts";

/** A folder with a store of so many pages that its check yields to other work. */
async function largeStore(): Promise<string> {
  const directory = temporaryFolder();
  const env = await openEnv(directory);
  for (let from = 0; from < 2_000; from += 500)
    await env.write((tx) => {
      for (let row = from; row < from + 500; row += 1) tx.put(numbers, row, new Uint8Array(1_500));
    });
  await env.close();
  return directory;
}

const opening = (directory: string, signal?: AbortSignal) => {
  const clock = createManualClock();
  const log = memoryLog();
  const env: Promise<Env> = createStateFactory({ directory, clock, log }).open(
    { name: "test", tables: allTables, schema: 1, derived: true, maxBytes: 2 ** 30 },
    signal,
  );
  return { clock, log, env };
};

it("a check before the opening that takes long says so, with the size of the store", async () => {
  const { clock, log, env } = opening(await largeStore());
  await clock.advance(10_000);
  await (await env).close();
  expect(log.lines.filter((line) => line.includes("is checked before it opens"))).toEqual([
    expect.stringMatching(/"bytes":\d{7}/),
  ]);
});

it("a check that is not long says nothing", async () => {
  const { log, env } = opening(await largeStore());
  await (await env).close();
  expect(log.lines).toEqual([]);
});

it("a stop in the middle of the check ends it, and a store that can be rebuilt is not taken for damaged", async () => {
  const directory = await largeStore();
  const stop = new AbortController();
  const { log, env } = opening(directory, stop.signal);
  stop.abort(new StewardError("cancelled", "the process is stopping"));
  await expect(env).rejects.toMatchObject({ code: "cancelled" });
  expect(log.lines).toEqual([]);
  const again = opening(directory);
  expect((await again.env).status().rows["numbers"]).toBe(2_000);
  await (await again.env).close();
});
