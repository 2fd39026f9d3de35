import { expect, it } from "vitest";
import { createKeeper } from "../../../src/monitor/coordination/keeper.ts";
import { memoryLog } from "../../kernel/telemetry/fixtures.ts";
import { createManualClock } from "../../kernel/supervisor/manual-clock.ts";

function setUp() {
  const clock = createManualClock();
  const log = memoryLog();
  const written: string[] = [];
  let failure: Error | undefined;
  const keeper = createKeeper({ clock, log }, (text) => {
    if (failure !== undefined) return Promise.reject(failure);
    written.push(text);
    return Promise.resolve();
  });
  return { clock, log, written, keeper, fail: (error?: Error) => void (failure = error) };
}

it("writes the newest text, at most once a second, and nothing twice", async () => {
  const { clock, written, keeper } = setUp();
  for (const text of ["1", "2", "3"]) keeper.keep(text);
  await clock.advance(0);
  keeper.keep("4");
  keeper.keep("5");
  await clock.advance(999);
  expect(written).toEqual(["1"]);
  await clock.advance(1);
  expect(written).toEqual(["1", "5"]);
  await clock.advance(10_000);
  await keeper.flush();
  expect(written).toEqual(["1", "5"]);
});

it("writes at the flush what waits, without the pause", async () => {
  const { clock, written, keeper } = setUp();
  keeper.keep("1");
  await clock.advance(0);
  keeper.keep("2");
  await keeper.flush();
  expect(written).toEqual(["1", "2"]);
});

it("tries again what could not be written, says so, and never rejects", async () => {
  const { clock, log, written, keeper, fail } = setUp();
  fail(new Error("no answer"));
  keeper.keep("1");
  await clock.advance(0);
  expect(log.lines.length).toBe(1);
  fail();
  await clock.advance(1_000);
  expect(written).toEqual(["1"]);
  fail(new Error("no answer"));
  keeper.keep("2");
  await keeper.flush();
  expect(log.lines.length).toBeGreaterThan(1);
});
