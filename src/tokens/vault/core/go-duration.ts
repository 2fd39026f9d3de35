/** Formats durations as Go does, for Vault's texts. */

/**
 * E.g. `1h0m0s`, or `1m30s` for 90 s; whole seconds, rounded up so that a positive duration never
 * shows as zero.
 */
export function goDurationText(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  return `${hours > 0 ? `${hours}h` : ""}${hours > 0 || minutes > 0 ? `${minutes}m` : ""}${seconds % 60}s`;
}
