import { describe, expect, it } from "vitest";
import { create } from "@bufbuild/protobuf";
import { LeaseClockRowSchema } from "../../../../src/gen/steward/state/v1/tokens_leases_pb.ts";
import { createLog } from "../../../../src/kernel/base/log.ts";
import type { Env } from "../../../../src/kernel/state/types.ts";
import {
  openExpiryClock,
  type StoredClock,
} from "../../../../src/tokens/vault/expiry/stored-clock.ts";
import {
  earlierLeaseMark,
  expiryMark,
  expiryTables,
} from "../../../../src/tokens/vault/expiry/tables.ts";
import { createManualClock, type ManualClock } from "../../../kernel/supervisor/manual-clock.ts";
import { openUnsealed } from "../fixtures/environment.ts";
import { bootOf } from "../fixtures/expiry.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

interface Start {
  readonly env: Env;
  readonly clock: ManualClock;
  readonly expiry: StoredClock;
  readonly lines: Record<string, unknown>[];
  /** Another process: `stepMs` is what the wall clock was set by meanwhile. */
  readonly again: (options: {
    readonly stepMs?: number;
    readonly boot?: string;
    readonly crash?: boolean;
  }) => Promise<Start>;
}

async function start(known?: {
  readonly env: Env;
  readonly wallMs?: number;
  readonly boot?: string;
}): Promise<Start> {
  const env = known?.env ?? (await openUnsealed(expiryTables)).env;
  const manual = createManualClock();
  const stepMs = known?.wallMs === undefined ? 0 : known.wallMs - manual.now();
  const clock = { ...manual, now: () => manual.now() + stepMs };
  const lines: Record<string, unknown>[] = [];
  const log = createLog({
    level: "debug",
    format: "json",
    write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>),
    now: () => 0,
  });
  const expiry = await openExpiryClock({
    env,
    clock,
    log,
    boot: bootOf(clock, known?.boot ?? "first"),
  });
  expiry.start();
  return {
    env,
    clock,
    expiry,
    lines,
    async again({ stepMs: setMs = 0, boot = "second", crash = false }) {
      if (!crash) await expiry.stop();
      return await start({ env, wallMs: clock.now() + setMs, boot });
    },
  };
}

function messages(lines: readonly Record<string, unknown>[]): unknown[] {
  return lines.map(({ level, msg }) => `${String(level)} ${String(msg)}`);
}

describe("a start", () => {
  it("of a new store begins at the wall clock and says nothing", async () => {
    const { clock, expiry, lines } = await start();
    expect([expiry.now(), lines]).toEqual([clock.now(), []]);
  });

  it("after the wall clock was set back goes on from the mark, and logs what the clocks say and what is used", async () => {
    const first = await start();
    await first.clock.advance(HOUR);
    const markMs = first.expiry.now();
    const { clock, expiry, lines } = await first.again({ stepMs: -3_000 * DAY });
    expect(expiry.now()).toBe(markMs);
    expect(messages(lines)).toEqual([
      expect.stringMatching(
        /^warn the wall clock was set back while Steward was down; .* check the machine's clock$/,
      ),
    ]);
    expect(lines[0]).toMatchObject({
      wall_clock: new Date(clock.now()).toISOString(),
      mark: new Date(markMs).toISOString(),
      expiry_clock: new Date(markMs).toISOString(),
    });
  });

  it("after the wall clock was set to 2099 advances by a day, logs that, and is where it was but for that day when it is undone", async () => {
    const first = await start();
    const markMs = first.expiry.now();
    const future = await first.again({ stepMs: 73 * 365 * DAY });
    expect(future.expiry.now()).toBe(markMs + DAY);
    expect(messages(future.lines)).toEqual([
      expect.stringMatching(
        /^warn the wall clock is further ahead than the time that can have passed; .* refused but kept;/,
      ),
    ]);
    const undone = await future.again({ stepMs: -73 * 365 * DAY, boot: "third" });
    expect(undone.expiry.now()).toBe(markMs + DAY);
    expect(undone.expiry.isOver(markMs + 2 * DAY, markMs)).toBe(false);
  });

  it("within the same boot counts by the uptime, and logs no trouble when the wall clock agrees", async () => {
    const first = await start();
    await first.clock.advance(HOUR);
    const { expiry, lines } = await first.again({ boot: "first" });
    // The uptime of the test's boot began anew, as in a container that was made again: then the
    // wall clock is believed.
    expect(expiry.now()).toBe(first.expiry.now());
    expect(messages(lines)).toEqual(["info the expiry clock resumes from its mark"]);
  });

  it("loses no more than a minute of the clock by a crash", async () => {
    const first = await start();
    for (let minutes = 0; minutes < 10; minutes += 1) {
      await first.clock.advance(60_000);
      await first.env.write(() => undefined);
    }
    const { expiry } = await first.again({ stepMs: -DAY, crash: true });
    expect(first.expiry.now() - expiry.now()).toBeLessThanOrEqual(60_000);
  });

  it("with the marks of an earlier version takes the later one and keeps one mark from then on", async () => {
    const { env } = await openUnsealed(expiryTables);
    const wallMs = 1_700_000_000_000;
    await env.write((tx) => {
      tx.put(expiryMark, "", create(LeaseClockRowSchema, { steadyMs: wallMs, wallMs }));
      tx.put(
        earlierLeaseMark,
        "",
        create(LeaseClockRowSchema, { steadyMs: wallMs + HOUR, wallMs }),
      );
    });
    const { expiry } = await start({ env, wallMs: wallMs + 90 * DAY });
    expect(expiry.now()).toBe(wallMs + 90 * DAY + HOUR);
    expect(
      env.read((snapshot) => [
        snapshot.get(expiryMark, "")?.bootId,
        snapshot.get(earlierLeaseMark, ""),
      ]),
    ).toEqual(["first", undefined]);
  });
});

it("a wall clock that is set while it runs is logged once", async () => {
  const { env } = await openUnsealed(expiryTables);
  const manual = createManualClock();
  let stepMs = 0;
  const lines: string[] = [];
  const clock = { ...manual, now: () => manual.now() + stepMs };
  const expiry = await openExpiryClock({
    env,
    clock,
    log: createLog({
      level: "warn",
      format: "text",
      write: (line) => void lines.push(line),
      now: () => 0,
    }),
    boot: bootOf(clock),
  });
  expiry.start();
  stepMs = -2 * HOUR;
  for (let looks = 0; looks < 5; looks += 1) await manual.advance(10_000);
  expect(lines.filter((line) => line.includes("the wall clock was set;"))).toHaveLength(1);
  await expiry.stop();
});

it("a change that issues something brings the mark along when the stored one is ten seconds old", async () => {
  const { clock, env, expiry } = await start();
  const stored = (): number => env.read((snapshot) => snapshot.get(expiryMark, "")?.steadyMs ?? 0);
  await env.write((tx) => expiry.markIn(tx));
  const before = stored();
  await clock.advance(9_000);
  await env.write((tx) => expiry.markIn(tx));
  expect(stored()).toBe(before);
  await clock.advance(1_000);
  await env.write((tx) => expiry.markIn(tx));
  expect(stored()).toBe(before + 10_000);
});

it("a change that issues something reads the machine's uptime only when it brings the mark along", async () => {
  const { env } = await openUnsealed(expiryTables);
  const clock = createManualClock();
  let reads = 0;
  const boot = { id: "first", uptimeMs: () => ((reads += 1), clock.monotonic()) };
  const log = createLog({ level: "warn", format: "text", write: () => undefined, now: () => 0 });
  const expiry = await openExpiryClock({ env, clock, log, boot });
  const before = reads;
  for (let changes = 0; changes < 100; changes += 1) await env.write((tx) => expiry.markIn(tx));
  expect(reads).toBe(before);
  await clock.advance(10_000);
  await env.write((tx) => expiry.markIn(tx));
  expect(reads).toBe(before + 1);
});
