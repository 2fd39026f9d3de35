/**
 * The clock that tokens, secret ids and leases expire by. It counts time that passed, so setting
 * the wall clock back lengthens no life, and setting it ahead removes nothing. See
 * `docs/decisions/tokens-expiry-clock.md`.
 *
 * `now` advances with the monotonic clock, and across restarts with the uptime of the machine. Only
 * a start after another boot has to believe the wall clock about the time in between, and does so
 * for `MAX_WALL_ADVANCE_MS` at most. Whatever the wall clock is ahead beyond that is its lead: what
 * was issued before the lead began is refused as if the lead were time that passed, but is not
 * removed, and is good again when the lead turns out to be wrong.
 */
import type { Boot } from "../../../kernel/base/system/boot.ts";
import { UNKNOWN_BOOT } from "../../../kernel/base/system/boot.ts";
import type { Clock } from "../../../kernel/base/clock.ts";

/** How far a start may advance on the word of the wall clock alone. */
export const MAX_WALL_ADVANCE_MS = 24 * 3_600_000;
/** Differences below this are rounding and slewing of the system's clocks. */
const TOLERANCE_MS = 1_000;
/**
 * Leads remembered. Of more, the two oldest become one with the smaller lead, which refuses
 * earlier.
 */
const MAX_LEADS = 64;

/** From a time of the expiry clock on, the wall clock was so far ahead of it. */
export interface WallLead {
  readonly fromMs: number;
  readonly leadMs: number;
}

/** Position of the expiry clock, with the machine's clocks at that time. */
export interface ClockMark {
  readonly expiryMs: number;
  readonly wallMs: number;
  /** Undefined in marks of earlier versions, which may be older than what was issued after them. */
  readonly boot: { readonly id: string; readonly uptimeMs: number } | undefined;
  readonly leads: readonly WallLead[];
}

/**
 * Determines whether a mark is due, without the machine's uptime, which takes three system calls.
 */
export type ClockPosition = Omit<ClockMark, "boot">;

/** The machine's clocks at one moment. */
export interface ClockReading {
  readonly wallMs: number;
  readonly bootId: string;
  readonly uptimeMs: number;
}

/** What a start made of a mark. */
export interface Resumption {
  readonly expiryMs: number;
  /** Milliseconds the process was down, if the uptime is conclusive. */
  readonly downMs: number | undefined;
  readonly outcome: "elapsed" | "wall clock" | "wall clock behind" | "wall clock ahead";
}

/** The time at which the clock resumes from a mark; never before the mark. */
export function resumeFrom(mark: ClockMark, at: ClockReading): Resumption {
  const byWallMs = at.wallMs + (mark.expiryMs - mark.wallMs);
  if (mark.boot === undefined) {
    const expiryMs = Math.max(mark.expiryMs, at.wallMs, byWallMs);
    return {
      expiryMs,
      downMs: undefined,
      outcome: byWallMs < mark.expiryMs ? "wall clock behind" : "wall clock",
    };
  }
  if (
    mark.boot.id === at.bootId &&
    at.bootId !== UNKNOWN_BOOT &&
    at.uptimeMs >= mark.boot.uptimeMs
  ) {
    const downMs = at.uptimeMs - mark.boot.uptimeMs;
    const differenceMs = byWallMs - mark.expiryMs - downMs;
    const outcome =
      differenceMs < -TOLERANCE_MS
        ? "wall clock behind"
        : differenceMs > TOLERANCE_MS
          ? "wall clock ahead"
          : "elapsed";
    return { expiryMs: mark.expiryMs + downMs, downMs, outcome };
  }
  if (byWallMs < mark.expiryMs)
    return { expiryMs: mark.expiryMs, downMs: undefined, outcome: "wall clock behind" };
  const limitMs = mark.expiryMs + MAX_WALL_ADVANCE_MS;
  return {
    expiryMs: Math.min(byWallMs, limitMs),
    downMs: undefined,
    outcome: byWallMs > limitMs ? "wall clock ahead" : "wall clock",
  };
}

/** What the clock needs from the system. */
export interface ExpiryClockDeps {
  readonly clock: Clock;
  readonly boot: Boot;
}

/** A clock whose `now` never steps; it is not the wall clock's, see `toWall`. */
export interface ExpiryClock extends Clock {
  /**
   * Whether something is over that was issued (or renewed) and ends at these times of this clock.
   * Undefined never ends.
   */
  isOver(endMs: number | undefined, issuedAtMs: number): boolean;
  /** Age of something issued, by this clock or the wall clock, whichever is larger. */
  ageMs(issuedAtMs: number): number;
  /** A time of this clock, of something issued at `issuedAtMs`, as the wall clock shows it. */
  toWall(atMs: number, issuedAtMs: number): number;
  /** The later of this clock and the wall clock, for ends that are given as wall times. */
  latest(): number;
}

/** The clock with what its owner persists. */
export interface MarkedClock extends ExpiryClock {
  /**
   * Takes suspension into account, which the monotonic clock leaves out. To be called every few
   * seconds.
   */
  syncUptime(): void;
  position(): ClockPosition;
  mark(): ClockMark;
}

/** A clock that resumes at a time of its own, with the leads of its mark. */
export function createExpiryClock(
  { clock, boot }: ExpiryClockDeps,
  from: { readonly expiryMs: number; readonly leads: readonly WallLead[] },
): MarkedClock {
  let expiryMs = from.expiryMs;
  let seenMs = clock.monotonic();
  let leads = from.leads;
  const anchor = { expiryMs, uptimeMs: boot.uptimeMs() };

  const precise = (): number => {
    const monotonicMs = clock.monotonic();
    expiryMs += Math.max(0, monotonicMs - seenMs);
    seenMs = monotonicMs;
    return expiryMs;
  };
  const now = (): number => Math.floor(precise());
  const leadAt = (issuedAtMs: number): number =>
    leads.findLast(({ fromMs }) => fromMs <= issuedAtMs)?.leadMs ?? 0;
  const lead = (): number => {
    const leadMs = Math.max(0, clock.now() - precise());
    const rounded = leadMs < TOLERANCE_MS ? 0 : leadMs;
    if (Math.abs(rounded - (leads.at(-1)?.leadMs ?? 0)) >= TOLERANCE_MS)
      leads = appended(leads, { fromMs: now(), leadMs: rounded });
    return rounded;
  };
  /** Wall time since the issue in excess of this clock's time. */
  const excess = (issuedAtMs: number): number => {
    const excessMs = lead() - leadAt(issuedAtMs);
    return excessMs < TOLERANCE_MS ? 0 : excessMs;
  };

  const position = (): ClockPosition => {
    lead();
    return { expiryMs: precise(), wallMs: clock.now(), leads };
  };

  lead();
  return {
    now,
    monotonic: () => clock.monotonic(),
    timer: (atMonotonicMs, run) => clock.timer(atMonotonicMs, run),
    ageMs: (issuedAtMs) => now() - issuedAtMs + Math.floor(excess(issuedAtMs)),
    isOver: (endMs, issuedAtMs) => endMs !== undefined && now() + excess(issuedAtMs) >= endMs,
    toWall: (atMs, issuedAtMs) =>
      Math.floor(clock.now()) + atMs - now() - Math.floor(excess(issuedAtMs)),
    latest: () => Math.max(now(), clock.now()),
    syncUptime() {
      expiryMs = Math.max(precise(), anchor.expiryMs + boot.uptimeMs() - anchor.uptimeMs);
    },
    position,
    mark: () => ({ ...position(), boot: { id: boot.id, uptimeMs: boot.uptimeMs() } }),
  };
}

function appended(leads: readonly WallLead[], next: WallLead): readonly WallLead[] {
  const all = [...leads, next];
  const [first, second, ...rest] = all;
  if (all.length <= MAX_LEADS || first === undefined || second === undefined) return all;
  return [{ fromMs: second.fromMs, leadMs: Math.min(first.leadMs, second.leadMs) }, ...rest];
}
