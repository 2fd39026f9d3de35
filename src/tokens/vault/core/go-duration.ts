/** Durations as Go prints them, for the texts that clients know. */

/**
 * E.g. `1h0m0s`, `90s` as `1m30s`; whole seconds, rounded up so that nothing shows as zero that is
 * not.
 */
export function goDurationText(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  return `${hours > 0 ? `${hours}h` : ""}${hours > 0 || minutes > 0 ? `${minutes}m` : ""}${seconds % 60}s`;
}
