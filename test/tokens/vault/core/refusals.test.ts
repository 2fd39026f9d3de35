import { describe, expect, it } from "vitest";
import { createLog } from "../../../../src/kernel/base/log.ts";
import { createRefusals, type Refusals } from "../../../../src/tokens/vault/core/refusals.ts";
import type { AuditSummary } from "../../../../src/tokens/vault/types.ts";
import { createManualClock, type ManualClock } from "../../../kernel/supervisor/manual-clock.ts";

interface Bench {
  readonly refusals: Refusals;
  readonly clock: ManualClock;
  readonly sums: AuditSummary[];
  readonly lines: string[];
  failing: boolean;
}

function start(): Bench {
  const clock = createManualClock();
  const bench: Omit<Bench, "refusals"> = { clock, sums: [], lines: [], failing: false };
  const log = createLog({
    level: "warn",
    format: "text",
    write: (line) => bench.lines.push(line),
    now: () => 0,
  });
  const write = (sum: AuditSummary): Promise<void> =>
    bench.failing
      ? Promise.reject(new Error("the disk is full"))
      : (bench.sums.push(sum), Promise.resolve());
  return Object.assign(bench, { refusals: createRefusals({ clock, log, write }) });
}

/** One failure: with a record of its own, or as part of a sum. */
function fail(refusals: Refusals, address: string | undefined): boolean {
  const own = refusals.enter(address);
  if (!own) refusals.add(address);
  return own;
}

const times = (count: number, run: () => boolean): number =>
  Array.from({ length: count }, run).filter(Boolean).length;

describe("failures without a live token", () => {
  it("have ten records of their own in a minute of an address; the rest is one sum with its times when the minute is over", async () => {
    const { refusals, clock, sums } = start();
    expect(times(12, () => fail(refusals, "192.0.2.1"))).toBe(10);
    const firstMs = clock.now();
    await clock.advance(20_000);
    expect(times(988, () => fail(refusals, "::ffff:192.0.2.1"))).toBe(0);
    expect(fail(refusals, "192.0.2.2")).toBe(true);
    await clock.advance(39_000);
    expect(sums).toEqual([]);
    await clock.advance(2_000);
    expect(sums).toEqual([{ address: "192.0.2.1", count: 990, firstMs, lastMs: firstMs + 20_000 }]);
    expect(fail(refusals, "192.0.2.1")).toBe(true);
    await clock.advance(120_000);
    expect([sums.length, clock.timers()]).toEqual([1, 0]);
  });

  it("are summed up at the end", async () => {
    const { refusals, clock, sums } = start();
    times(15, () => fail(refusals, "2001:db8::1"));
    times(11, () => fail(refusals, undefined));
    await refusals.close();
    expect(sums.map(({ address, count }) => [address, count])).toEqual([
      ["2001:db8:0:0::/64", 5],
      [undefined, 1],
    ]);
    expect(clock.timers()).toBe(0);
  });

  it("do not count when they succeed", () => {
    const { refusals, clock } = start();
    for (let index = 0; index < 100; index++) {
      expect(refusals.enter("192.0.2.1")).toBe(true);
      refusals.leave("192.0.2.1");
    }
    expect(times(12, () => fail(refusals, "192.0.2.1"))).toBe(10);
    expect(clock.timers()).toBe(1);
  });

  it("of more than ten thousand addresses share one window, whose sum names none", async () => {
    const { refusals, sums } = start();
    for (let n = 0; n < 10_000; n++) fail(refusals, `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`);
    expect(times(5_000, () => fail(refusals, "198.51.100.7"))).toBe(10);
    expect(times(100, () => fail(refusals, "198.51.100.8"))).toBe(0);
    await refusals.close();
    expect(sums.map(({ address, count }) => [address, count])).toEqual([[undefined, 5_090]]);
  });

  it("whose sum could not be written are in the next one; at the end they are logged", async () => {
    const bench = start();
    times(15, () => fail(bench.refusals, "192.0.2.1"));
    bench.failing = true;
    await bench.clock.advance(60_000);
    bench.failing = false;
    bench.refusals.add("192.0.2.1");
    await bench.clock.advance(60_000);
    expect(bench.sums.map(({ count }) => count)).toEqual([6]);
    times(15, () => fail(bench.refusals, "192.0.2.1"));
    bench.failing = true;
    await bench.refusals.close();
    expect(bench.lines).toEqual([expect.stringContaining("is lost")]);
  });
});

describe("requests that prove no credential", () => {
  const served = (refusals: Refusals, address: string | undefined, count: number): number =>
    times(count, () => refusals.serve(address) === undefined);

  it("are limited by address and minute, those of a scraper every second and of loopback far below", async () => {
    const { refusals, clock, lines } = start();
    expect(served(refusals, "192.0.2.1", 700)).toBe(600);
    expect(refusals.serve("192.0.2.1")).toMatchObject({
      code: "exhausted",
      retryAfterMs: 60_000,
    });
    expect(lines).toEqual([expect.stringContaining("exceed the limit")]);
    expect(served(refusals, "192.0.2.2", 60)).toBe(60);
    expect(served(refusals, "127.0.0.1", 6_001)).toBe(6_000);
    expect(served(refusals, undefined, 7_000)).toBe(7_000);
    await clock.advance(60_000);
    expect(served(refusals, "192.0.2.1", 700)).toBe(600);
  });

  it("stay counted while others of the address succeed, and leave no sum", async () => {
    const { refusals, clock, sums } = start();
    for (let index = 0; index < 600; index++) {
      refusals.enter("192.0.2.1");
      refusals.serve("192.0.2.1");
      refusals.leave("192.0.2.1");
    }
    expect(served(refusals, "192.0.2.1", 10)).toBe(0);
    await clock.advance(120_000);
    expect([sums, clock.timers()]).toEqual([[], 0]);
  });

  it("share one larger limit where an address has no window of its own", () => {
    const { refusals } = start();
    for (let n = 0; n < 10_000; n++) fail(refusals, `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`);
    expect(served(refusals, "198.51.100.7", 6_500)).toBe(6_000);
  });
});
