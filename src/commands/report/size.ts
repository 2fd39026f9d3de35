/** Sizes for people. */

/** Bytes as mebibytes with one digit, e.g. `12.3 MiB`. */
export function mebibytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}

const UNITS = ["KiB", "MiB", "GiB", "TiB"] as const;

/** `850 bytes`, `12.3 KiB`, `1.2 GiB`. */
export function formatSize(bytes: number): string {
  if (bytes < 1024) return bytes === 1 ? "1 byte" : `${bytes} bytes`;
  const power = Math.min(UNITS.length, Math.floor(Math.log2(bytes) / 10));
  return `${(bytes / 1024 ** power).toFixed(1)} ${UNITS[power - 1] ?? ""}`;
}
