/** The attribute of a recovery's log line that says how long the failure lasted. */
import { formatDuration } from "../../config/values/units.ts";
import type { Clock } from "../clock.ts";

const SECOND_MS = 1_000;

/** `sinceMs`: monotonic time of the first failure. Rounded to seconds. */
export function failedFor(clock: Clock, sinceMs: number): { readonly failed_for: string } {
  const seconds = Math.round((clock.monotonic() - sinceMs) / SECOND_MS);
  return { failed_for: formatDuration(seconds * SECOND_MS) };
}
