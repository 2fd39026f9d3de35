import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Boot } from "../../../../src/kernel/base/system/boot.ts";
import type { Clock } from "../../../../src/kernel/base/clock.ts";
import {
  createExpiryClock,
  resumeFrom,
  MAX_WALL_ADVANCE_MS,
  type MarkedClock,
} from "../../../../src/tokens/vault/expiry/expiry-clock.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const YEAR_2099 = 73 * 365 * DAY;
/**
 * Differences below a second are not told from slewing; times are cut to milliseconds at each
 * restart.
 */
const SLACK_MS = 1_000;

/** A machine whose real time the test knows and Steward does not. */
class Machine {
  realMs = 1_800_000_000_000;
  wallStepMs = 0;
  bootedAtMs = this.realMs - HOUR;
  bootNumber = 1;
  startedAtMs = this.realMs;
  boots = 0;
  readonly clock: Clock = {
    now: () => Math.floor(this.realMs + this.wallStepMs),
    monotonic: () => this.realMs - this.startedAtMs,
    timer: () => ({ [Symbol.dispose]: () => undefined }),
  };
  expiry: MarkedClock = createExpiryClock(
    { clock: this.clock, boot: this.boot() },
    { expiryMs: this.realMs, leads: [] },
  );

  boot(): Boot {
    return { id: `boot-${this.bootNumber}`, uptimeMs: () => this.realMs - this.bootedAtMs };
  }

  restart({
    downMs = 0,
    stepMs = 0,
    reboot = false,
  }: { readonly downMs?: number; readonly stepMs?: number; readonly reboot?: boolean } = {}): void {
    const mark = this.expiry.mark();
    this.realMs += downMs;
    this.wallStepMs += stepMs;
    if (reboot) {
      this.bootNumber += 1;
      this.boots += 1;
      this.bootedAtMs = this.realMs - 5_000;
    }
    this.startedAtMs = this.realMs;
    const boot = this.boot();
    const { expiryMs } = resumeFrom(mark, {
      wallMs: this.clock.now(),
      bootId: boot.id,
      uptimeMs: boot.uptimeMs(),
    });
    this.expiry = createExpiryClock({ clock: this.clock, boot }, { expiryMs, leads: mark.leads });
  }
}

type Event =
  | { readonly passMs: number }
  | { readonly stepMs: number }
  | { readonly downMs: number; readonly reboot: boolean; readonly stepMs: number };

const passes = fc.record({ passMs: fc.nat(3 * DAY) });
const steps = fc.record({
  stepMs: fc.oneof(
    fc.integer({ min: -DAY, max: DAY }),
    fc.integer({ min: -YEAR_2099, max: YEAR_2099 }),
  ),
});
const restarts = (
  reboot: fc.Arbitrary<boolean>,
  stepMs: fc.Arbitrary<number>,
): fc.Arbitrary<Event> => fc.record({ downMs: fc.nat(40 * DAY), reboot, stepMs });
const anyStep = fc.oneof(fc.constant(0), fc.integer({ min: -YEAR_2099, max: YEAR_2099 }));

function play(machine: Machine, event: Event): void {
  if ("passMs" in event) machine.realMs += event.passMs;
  else if ("downMs" in event) machine.restart(event);
  else machine.wallStepMs += event.stepMs;
}

/** Issues something before the events and gives the bounds of its age after each of them. */
function ages(
  events: readonly Event[],
  check: (facts: {
    readonly machine: Machine;
    readonly realAgeMs: number;
    readonly unvouchedMs: number;
    readonly over: (ttlMs: number) => boolean;
    readonly spent: (ttlMs: number) => boolean;
  }) => void,
): void {
  const machine = new Machine();
  const [issuedAtMs, issuedRealMs] = [machine.expiry.now(), machine.realMs];
  let unvouchedMs = 0;
  for (const event of events) {
    play(machine, event);
    if ("downMs" in event && event.reboot) unvouchedMs += event.downMs;
    check({
      machine,
      realAgeMs: machine.realMs - issuedRealMs,
      unvouchedMs,
      over: (ttlMs) => machine.expiry.isOver(issuedAtMs + ttlMs, issuedAtMs),
      spent: (ttlMs) => machine.expiry.now() >= issuedAtMs + ttlMs,
    });
  }
}

describe("whatever happens to the wall clock", () => {
  it("something ends when its time has passed, over restarts within one boot, to the second", () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(passes, steps, restarts(fc.constant(false), anyStep)), { maxLength: 30 }),
        (events) => {
          ages(events, ({ realAgeMs, spent }) => expect(spent(realAgeMs - SLACK_MS)).toBe(true));
        },
      ),
    );
  });

  it("over boots it ends no later than by the time that Steward can count: only what the machine was off may be missing", () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(passes, steps, restarts(fc.boolean(), anyStep)), { maxLength: 30 }),
        (events) => {
          ages(events, ({ realAgeMs, unvouchedMs, spent }) =>
            expect(spent(realAgeMs - unvouchedMs - SLACK_MS)).toBe(true),
          );
        },
      ),
    );
  });

  it("nothing is over for good before its time but for a day with each boot", () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(passes, steps, restarts(fc.boolean(), anyStep)), { maxLength: 30 }),
        (events) => {
          ages(events, ({ machine, realAgeMs, spent }) =>
            expect(spent(realAgeMs + machine.boots * MAX_WALL_ADVANCE_MS + SLACK_MS)).toBe(false),
          );
        },
      ),
    );
  });

  it("what was issued under a wall clock far ahead ends after its own time, too", () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(passes, steps, restarts(fc.boolean(), anyStep)), {
          minLength: 1,
          maxLength: 10,
        }),
        fc.nat(10 * DAY),
        (events, ttlMs) => {
          const machine = new Machine();
          for (const event of events) play(machine, event);
          const issuedAtMs = machine.expiry.now();
          machine.wallStepMs = 0;
          machine.realMs += ttlMs + SLACK_MS;
          expect(machine.expiry.isOver(issuedAtMs + ttlMs, issuedAtMs)).toBe(true);
        },
      ),
    );
  });
});

describe("a wall clock that nobody touches", () => {
  it("is followed to the second, however long the machine was off", () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(passes, restarts(fc.boolean(), fc.constant(0))), { maxLength: 30 }),
        (events) => {
          ages(events, ({ realAgeMs, over }) => {
            expect(over(realAgeMs - SLACK_MS)).toBe(true);
            expect(over(realAgeMs + SLACK_MS + 1)).toBe(false);
          });
        },
      ),
    );
  });

  it("shows the times of what was issued as they were", () => {
    const machine = new Machine();
    const [issuedAtMs, issuedRealMs] = [machine.expiry.now(), machine.realMs];
    machine.restart({ downMs: 40 * DAY, reboot: true });
    expect(machine.expiry.toWall(issuedAtMs, issuedAtMs)).toBe(issuedRealMs);
    expect(machine.expiry.ageMs(issuedAtMs)).toBe(40 * DAY);
    expect(machine.expiry.toWall(machine.expiry.now(), machine.expiry.now())).toBe(
      machine.clock.now(),
    );
  });
});

describe("a wall clock set to 2099", () => {
  it.each([{ reboot: false }, { reboot: true }])(
    "over a restart (%o) refuses what has an end, and gives it back when it is undone",
    ({ reboot }) => {
      const machine = new Machine();
      const issuedAtMs = machine.expiry.now();
      const isOver = (): boolean => machine.expiry.isOver(issuedAtMs + 10 * DAY, issuedAtMs);
      machine.restart({ stepMs: YEAR_2099, reboot, downMs: 1 });
      expect(isOver()).toBe(true);
      const meanwhileMs = machine.expiry.now();
      expect(machine.expiry.isOver(meanwhileMs + HOUR, meanwhileMs)).toBe(false);
      expect(machine.expiry.toWall(meanwhileMs + HOUR, meanwhileMs)).toBe(
        machine.clock.now() + HOUR,
      );
      machine.restart({ stepMs: -YEAR_2099, reboot });
      expect(isOver()).toBe(false);
      machine.realMs += HOUR;
      expect(machine.expiry.isOver(meanwhileMs + HOUR, meanwhileMs)).toBe(true);
      machine.realMs += 10 * DAY;
      expect(isOver()).toBe(true);
    },
  );

  it("again and again within one boot ends nothing for good: the uptime tells that no time has passed", () => {
    const machine = new Machine();
    const issuedAtMs = machine.expiry.now();
    for (let round = 0; round < 100; round += 1) {
      machine.restart({ stepMs: YEAR_2099 });
      machine.restart({ stepMs: -YEAR_2099 });
    }
    expect(machine.expiry.isOver(issuedAtMs + HOUR, issuedAtMs)).toBe(false);
  });
});

it("counts suspension, which the monotonic clock leaves out", () => {
  let [monotonicMs, uptimeMs] = [0, 0];
  const clock: Clock = {
    now: () => 1_800_000_000_000,
    monotonic: () => monotonicMs,
    timer: () => ({ [Symbol.dispose]: () => undefined }),
  };
  const expiry = createExpiryClock(
    { clock, boot: { id: "boot", uptimeMs: () => uptimeMs } },
    { expiryMs: clock.now(), leads: [] },
  );
  const issuedAtMs = expiry.now();
  monotonicMs += 1_000;
  uptimeMs += 8 * HOUR;
  expiry.syncUptime();
  expect(expiry.isOver(issuedAtMs + 8 * HOUR, issuedAtMs)).toBe(true);
  expect(expiry.isOver(issuedAtMs + 8 * HOUR + 1, issuedAtMs)).toBe(false);
});

it("remembers at most 64 leads of the wall clock, and forgets the oldest to the safe side", () => {
  const machine = new Machine();
  const issuedAtMs = machine.expiry.now();
  for (let step = 1; step <= 200; step += 1) {
    machine.wallStepMs = step * 2_000;
    machine.realMs += 10;
    machine.expiry.mark();
  }
  expect(machine.expiry.mark().leads.length).toBe(64);
  expect(machine.expiry.isOver(issuedAtMs + 400_000, issuedAtMs)).toBe(true);
});

describe("a mark of an earlier version", () => {
  it("may be older than what was issued after it, so the wall clock is believed, and never below the mark", () => {
    fc.assert(
      fc.property(
        fc.nat(1_000_000_000),
        fc.nat(1_000_000_000),
        fc.integer({ min: -1_000_000_000, max: 1_000_000_000 }),
        (aheadMs, downMs, stepMs) => {
          const wallMs = 1_700_000_000_000;
          const { expiryMs } = resumeFrom(
            { expiryMs: wallMs + aheadMs, wallMs, boot: undefined, leads: [] },
            { wallMs: wallMs + downMs + stepMs, bootId: "boot", uptimeMs: 0 },
          );
          expect(expiryMs).toBe(Math.max(wallMs + aheadMs, wallMs + downMs + stepMs + aheadMs));
        },
      ),
    );
  });
});
