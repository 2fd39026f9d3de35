/**
 * Decides when a backup is due: once a day at a local time, or later when the machine was off or
 * asleep then.
 */

/** Local time of day. */
export interface TimeOfDay {
  readonly hour: number;
  readonly minute: number;
}

/** A missed backup waits until the process has run this long. */
const SETTLED_MS = 10 * 60_000;
/** A backup dated further ahead than this was made with a wrong clock. */
const AHEAD_MS = 24 * 3_600_000;

/** Parses `03:30`; undefined for anything else. */
export function parseTimeOfDay(text: string): TimeOfDay | undefined {
  const [, hour, minute] = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(text) ?? [];
  return hour === undefined || minute === undefined
    ? undefined
    : { hour: Number(hour), minute: Number(minute) };
}

/** Whether the clock was wrong when the backup was made, or is wrong now. */
export function isDatedAhead(madeAtMs: number, nowMs: number): boolean {
  return madeAtMs > nowMs + AHEAD_MS;
}

/** Times in milliseconds since 1970. */
export interface DueFacts {
  readonly nowMs: number;
  readonly at: TimeOfDay;
  /** Of the newest complete backup that is not dated ahead. */
  readonly newestMs: number | undefined;
  /** Uptime of the process. */
  readonly upMs: number;
}

/** Whether a backup is due: none was made since the last such time of day. */
export function isBackupDue({ nowMs, at, newestMs, upMs }: DueFacts): boolean {
  const moment = new Date(nowMs);
  moment.setHours(at.hour, at.minute, 0, 0);
  if (moment.getTime() > nowMs) moment.setDate(moment.getDate() - 1);
  const lastMs = moment.getTime();
  const isCovered = newestMs !== undefined && newestMs >= lastMs && !isDatedAhead(newestMs, nowMs);
  return !isCovered && (upMs >= SETTLED_MS || lastMs >= nowMs - upMs);
}
