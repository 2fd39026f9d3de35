/** Sizes for people. */

/** Bytes as mebibytes with one digit, e.g. `12.3 MiB`. */
export function mebibytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}
