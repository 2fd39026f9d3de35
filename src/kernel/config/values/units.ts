/** Durations and sizes in human notation: `1m30s`, `64MiB`. */

const UNIT_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};
const UNIT_BYTES: Readonly<Record<string, number>> = {
  "": 1,
  B: 1,
  KB: 1e3,
  MB: 1e6,
  GB: 1e9,
  TB: 1e12,
  KiB: 2 ** 10,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
  TiB: 2 ** 40,
};

/**
 * Milliseconds of `30s`, `1m30s`, `1.5h`, `250ms`, `0`; undefined when it is not a duration or not
 * a safe integer of ms. Anything above zero is at least 1.
 */
export function parseDuration(text: string): number | undefined {
  if (text === "0") return 0;
  if (!/^(?:\d+(?:\.\d+)?(?:ns|us|µs|ms|s|m|h|d))+$/.test(text)) return undefined;
  let totalMs = 0;
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h|d)/g))
    totalMs += Number(amount) * (UNIT_MS[unit ?? ""] ?? 0);
  const wholeMs = totalMs > 0 ? Math.max(1, Math.round(totalMs)) : 0;
  return Number.isSafeInteger(wholeMs) ? wholeMs : undefined;
}

/** Standard form: `0s`, `500ms`, `1.5s`, `1m30s`, `168h0m0s`. Inverse of `parseDuration`. */
export function formatDuration(ms: number): string {
  if (ms > 0 && ms < 1000) return `${ms}ms`;
  const hours = Math.floor(ms / 3_600_000);
  const minutes = Math.floor((ms % 3_600_000) / 60_000);
  const seconds = `${(ms % 60_000) / 1000}s`;
  if (hours > 0) return `${hours}h${minutes}m${seconds}`;
  return minutes > 0 ? `${minutes}m${seconds}` : seconds;
}

/** Bytes of `512`, `64MiB`, `1.5 GB`; undefined when it is not a size or not a safe integer. */
export function parseBytes(text: string): number | undefined {
  const match = /^(\d+(?:\.\d+)?) ?([A-Za-z]*)$/.exec(text);
  const unit = Object.keys(UNIT_BYTES).find(
    (name) => name.toLowerCase() === match?.[2]?.toLowerCase(),
  );
  if (match === null || unit === undefined) return undefined;
  const bytes = Math.round(Number(match[1]) * (UNIT_BYTES[unit] ?? 1));
  return Number.isSafeInteger(bytes) ? bytes : undefined;
}

/** In the largest binary unit that divides the size, else plain bytes. */
export function formatBytes(bytes: number): string {
  for (const unit of ["TiB", "GiB", "MiB", "KiB"]) {
    const size = UNIT_BYTES[unit] ?? 1;
    if (bytes > 0 && bytes % size === 0) return `${bytes / size}${unit}`;
  }
  return String(bytes);
}
