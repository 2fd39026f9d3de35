/**
 * Durations and sizes for people. The standard form of a duration is the kernel's `formatDuration`.
 */

const MINUTE_S = 60;
const HOUR_S = 3_600;
const DAY_S = 86_400;
const STEP = 1_024;
const UNITS = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"] as const;

/** Rounded to seconds, two units: `45s`, `5m3s`, `3h12m`, `2d4h`; negative values give `0s`. */
export function humanDuration(ms: number): string {
  const seconds = Math.round(Math.max(0, ms) / 1_000);
  if (seconds < MINUTE_S) return `${seconds}s`;
  if (seconds < HOUR_S) return `${Math.floor(seconds / MINUTE_S)}m${seconds % MINUTE_S}s`;
  if (seconds < DAY_S)
    return `${Math.floor(seconds / HOUR_S)}h${Math.floor((seconds % HOUR_S) / MINUTE_S)}m`;
  return `${Math.floor(seconds / DAY_S)}d${Math.floor((seconds % DAY_S) / HOUR_S)}h`;
}

/** `512 B`, `1.5 MiB`: one decimal and binary units from 1,024 on. */
export function humanBytes(bytes: number): string {
  if (bytes < STEP) return `${Math.max(0, Math.floor(bytes))} B`;
  let size = bytes / STEP;
  let unit = 0;
  // 1024.0 of a unit is shown as 1.0 of the next.
  for (; unit < UNITS.length - 1 && Number(size.toFixed(1)) >= STEP; unit += 1) size /= STEP;
  return `${size.toFixed(1)} ${UNITS[unit] ?? "EiB"}`;
}

/** Truncated to whole seconds, never negative. */
export function wholeSeconds(ms: number): number {
  return Math.floor(Math.max(0, ms) / 1_000);
}
