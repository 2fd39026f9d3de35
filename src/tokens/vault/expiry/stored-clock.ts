/**
 * The expiry clock of an environment: resumes from its stored mark, logs how the start set it, and
 * updates the mark.
 */
import { create } from "@bufbuild/protobuf";
import {
  LeaseClockRowSchema,
  WallLeadRowSchema,
  type LeaseClockRow,
} from "../../../gen/steward/state/v1/tokens_leases_pb.ts";
import { systemBoot, type Boot } from "../../../kernel/base/system/boot.ts";
import type { Clock } from "../../../kernel/base/clock.ts";
import { toStewardError } from "../../../kernel/base/errors.ts";
import type { Log } from "../../../kernel/base/log.ts";
import type { Env, Tx } from "../../../kernel/state/types.ts";
import {
  createExpiryClock,
  resumeFrom,
  type ClockMark,
  type ClockPosition,
  type ExpiryClock,
  type Resumption,
} from "./expiry-clock.ts";
import { earlierLeaseMark, expiryMark } from "./tables.ts";

/** The clocks are compared this often. */
const LOOK_EVERY_MS = 10_000;
/**
 * A mark older than this is written with the next change that issues something, so a crash loses no
 * more of the clock.
 */
const MARK_WITH_CHANGE_MS = 10_000;
/** A mark older than this is written without a change. */
const MARK_EVERY_MS = 60_000;
/** A step of the wall clock that is worth a mark, and one that is worth a log line. */
const MARKED_STEP_MS = 1_000;
const LOGGED_STEP_MS = 60_000;

/** The environment holds `expiryTables` and is unsealed. */
export interface StoredClockDeps {
  readonly env: Env;
  readonly clock: Clock;
  readonly log: Log;
  /** The machine's by default. */
  readonly boot?: Boot;
}

/** The expiry clock with its mark. */
export interface StoredClock extends ExpiryClock {
  /**
   * Writes the mark into a change that issues or renews something, when the stored one is too old
   * for that.
   */
  markIn(tx: Tx): void;
  /** Starts to compare the clocks and to keep the mark current. */
  start(): void;
  /** Writes a last mark. Works without `start`, and twice. */
  stop(): Promise<void>;
}

/**
 * Opens the clock. A mark that cannot be written is logged: the clock holds for this process all
 * the same.
 */
export async function openExpiryClock({
  env,
  clock,
  log,
  boot = systemBoot,
}: StoredClockDeps): Promise<StoredClock> {
  const at = { wallMs: clock.now(), bootId: boot.id, uptimeMs: boot.uptimeMs() };
  const stored = env
    .read((snapshot) => [snapshot.get(expiryMark, ""), snapshot.get(earlierLeaseMark, "")])
    .flatMap((row) => (row === undefined ? [] : [markOf(row)]));
  const [resumed] = stored
    .map((mark) => ({ mark, ...resumeFrom(mark, at) }))
    .toSorted((left, right) => right.expiryMs - left.expiryMs);
  if (resumed !== undefined) logResumption(log, { ...resumed, wallMs: at.wallMs });
  const expiry = createExpiryClock(
    { clock, boot },
    { expiryMs: resumed?.expiryMs ?? at.wallMs, leads: resumed?.mark.leads ?? [] },
  );
  let marked: ClockMark | undefined;
  let timer: Disposable | undefined;
  let loggedOffsetMs = offsetOf(expiry.mark());

  const isMarkDue = (fresh: ClockPosition, everyMs: number): boolean =>
    marked === undefined ||
    fresh.expiryMs >= marked.expiryMs + everyMs ||
    fresh.leads !== marked.leads ||
    Math.abs(offsetOf(fresh) - offsetOf(marked)) >= MARKED_STEP_MS;
  const put = (tx: Tx, fresh: ClockMark): void => {
    tx.put(expiryMark, "", rowOf(fresh));
    tx.delete(earlierLeaseMark, "");
    tx.after(() => (marked = fresh));
  };
  const write = async (): Promise<void> => {
    await env
      .write((tx) => put(tx, expiry.mark()), { urgent: true })
      .catch((thrown: unknown) => {
        log.warn(
          "cannot write the mark of the expiry clock; after a crash, tokens may live longer by the age of the stored mark",
          { error: toStewardError(thrown) },
        );
      });
  };
  const look = (): void => {
    expiry.syncUptime();
    const fresh = expiry.mark();
    if (Math.abs(offsetOf(fresh) - loggedOffsetMs) >= LOGGED_STEP_MS) {
      log.warn(
        "the wall clock was set; tokens and leases expire by elapsed time, and those expired by a wall clock set ahead are refused",
        { ...shownTimes(fresh), stepped_ms: Math.round(offsetOf(fresh) - loggedOffsetMs) },
      );
      loggedOffsetMs = offsetOf(fresh);
    }
    if (isMarkDue(fresh, MARK_EVERY_MS)) void write();
  };
  const lookLater = (): void => {
    timer = clock.timer(clock.monotonic() + LOOK_EVERY_MS, () => {
      lookLater();
      look();
    });
  };

  await write();
  return {
    ...expiry,
    markIn(tx) {
      if (isMarkDue(expiry.position(), MARK_WITH_CHANGE_MS)) put(tx, expiry.mark());
    },
    start() {
      timer?.[Symbol.dispose]();
      lookLater();
    },
    async stop() {
      timer?.[Symbol.dispose]();
      timer = undefined;
      await write();
    },
  };
}

function offsetOf({ wallMs, expiryMs }: ClockPosition): number {
  return wallMs - expiryMs;
}

function markOf({ steadyMs, wallMs, bootId, uptimeMs, leads }: LeaseClockRow): ClockMark {
  return {
    expiryMs: steadyMs,
    wallMs,
    boot: bootId === "" ? undefined : { id: bootId, uptimeMs },
    leads: leads.map(({ fromMs, leadMs }) => ({ fromMs, leadMs })),
  };
}

function rowOf({ expiryMs, wallMs, boot, leads }: ClockMark): LeaseClockRow {
  return create(LeaseClockRowSchema, {
    steadyMs: expiryMs,
    wallMs,
    bootId: boot?.id ?? "",
    uptimeMs: boot?.uptimeMs ?? 0,
    leads: leads.map((lead) => create(WallLeadRowSchema, lead)),
  });
}

function shownTimes({ expiryMs, wallMs }: Pick<ClockMark, "expiryMs" | "wallMs">): {
  readonly wall_clock: string;
  readonly expiry_clock: string;
} {
  return { wall_clock: rfc3339(wallMs), expiry_clock: rfc3339(expiryMs) };
}

function rfc3339(atMs: number): string {
  const date = new Date(atMs);
  return Number.isNaN(date.getTime()) ? String(atMs) : date.toISOString();
}

function logResumption(
  log: Log,
  {
    mark,
    expiryMs,
    wallMs,
    downMs,
    outcome,
  }: Resumption & { readonly mark: ClockMark; readonly wallMs: number },
): void {
  const fields = {
    ...shownTimes({ expiryMs, wallMs }),
    mark: rfc3339(mark.expiryMs),
    wall_clock_at_mark: rfc3339(mark.wallMs),
    ...(downMs === undefined ? {} : { down_ms: Math.round(downMs) }),
  };
  if (outcome === "wall clock behind") {
    log.warn(
      "the wall clock was set back while Steward was down; tokens and leases expire by the stored mark, not by the wall clock; check the machine's clock",
      fields,
    );
  } else if (outcome === "wall clock ahead") {
    log.warn(
      "the wall clock is further ahead than the time that can have passed; tokens expired by it are refused but kept; check the machine's clock",
      fields,
    );
  } else log.info("the expiry clock resumes from its mark", fields);
}
