/**
 * When a backup is due: once a day at a time of the machine's own clock, and later when that was
 * slept through.
 */

/** A time of the day where the machine stands. */
export interface TimeOfDay {
  readonly hour: number;
  readonly minute: number;
}

/** A start is not burdened with what was missed while the machine was off. */
const SETTLED_MS = 10 * 60_000;
/** A backup from further ahead was dated by a wrong clock. */
const AHEAD_MS = 24 * 3_600_000;

/** Reads `03:30`; undefined for anything else. */
export function parseTimeOfDay(text: string): TimeOfDay | undefined {
  const [, hour, minute] = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(text) ?? [];
  return hour === undefined || minute === undefined
    ? undefined
    : { hour: Number(hour), minute: Number(minute) };
}

/** Whether a backup was dated by a clock that was wrong: then or now. */
export function isDatedAhead(madeAtMs: number, nowMs: number): boolean {
  return madeAtMs > nowMs + AHEAD_MS;
}

/** What the decision needs; times in milliseconds since 1970. */
export interface DueFacts {
  readonly nowMs: number;
  readonly at: TimeOfDay;
  /** Of the newest complete backup that is not dated ahead. */
  readonly newestMs: number | undefined;
  /** How long the process runs. */
  readonly upMs: number;
}

/** Whether a backup is to be made now: none is from after the last such time of day. */
export function isBackupDue({ nowMs, at, newestMs, upMs }: DueFacts): boolean {
  const moment = new Date(nowMs);
  moment.setHours(at.hour, at.minute, 0, 0);
  if (moment.getTime() > nowMs) moment.setDate(moment.getDate() - 1);
  const lastMs = moment.getTime();
  const isCovered = newestMs !== undefined && newestMs >= lastMs && !isDatedAhead(newestMs, nowMs);
  return !isCovered && (upMs >= SETTLED_MS || lastMs >= nowMs - upMs);
}
