/** Numbers, sizes and times as people read them, the same on the server and in the browser. */

/** By their decimals. Made when one is used: the first takes as long as a tenth of a start. */
const formats: Intl.NumberFormat[] = [];
const BINARY = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"] as const;

function rounded(value: number, decimals: number): string {
  formats[decimals] ??= new Intl.NumberFormat("en-GB", { maximumFractionDigits: decimals });
  return formats[decimals].format(value);
}

/** A whole number with thousands apart: `12,345`. */
export function formatCount(count: number): string {
  return rounded(count, 0);
}

/** Shown for an unknown figure, which must not read as zero. */
export const UNKNOWN = "–";

/** A count, or `–` where it is not known. */
export function formatKnown(count: number | undefined): string {
  return count === undefined ? UNKNOWN : formatCount(count);
}

/** A count with what is counted, in the right number: `1 worker`, `3 workers`. */
export function formatSome(count: number, one: string, many: string = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}

/** A number with at most two decimals. */
export function formatNumber(value: number): string {
  return rounded(value, 2);
}

/** A share of one in whole percent, never rounded up to all of it: `96 %`. */
export function formatPercent(share: number): string {
  return `${Math.floor(share * 100 + 1e-9)} %`;
}

/** Bytes with a binary prefix: `512 B`, `1.5 MiB`. */
export function formatBytes(bytes: number): string {
  let value = Math.max(0, bytes);
  let unit = 0;
  while (value >= 1024 && unit < BINARY.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${BINARY[unit] ?? ""}`;
}

/** Milliseconds: `0.25 ms`, `12.5 ms`, `840 ms`, `2.5 s`, `3 min 5 s`. */
export function formatMilliseconds(value: number): string {
  if (value < 999.5) return `${rounded(value, value < 10 ? 2 : value < 100 ? 1 : 0)} ms`;
  return value < 60_000 ? `${rounded(value / 1000, 1)} s` : formatSeconds(value / 1000);
}

/**
 * A length of time in its two largest units: `45 s`, `3 min 5 s`, `2 d 4 h`. Below zero is zero.
 */
export function formatSeconds(value: number): string {
  const seconds = Math.max(0, Math.round(value));
  const steps = [
    ["d", 86_400],
    ["h", 3600],
    ["min", 60],
    ["s", 1],
  ] as const;
  const first = steps.findIndex(([, size]) => seconds >= size);
  if (first < 0) return "0 s";
  const [unit, size] = steps[first] ?? ["s", 1];
  const [finer, finerSize] = steps[first + 1] ?? ["", 0];
  const rest = finerSize === 0 ? 0 : Math.floor((seconds % size) / finerSize);
  return `${Math.floor(seconds / size)} ${unit}${rest === 0 ? "" : ` ${rest} ${finer}`}`;
}

const WORD_SECONDS: Readonly<Record<string, number>> = {
  d: 86_400,
  h: 3600,
  m: 60,
  s: 1,
  ms: 0.001,
};

/**
 * A length of time as the API words it (`1h6m`, `45s`), as all pages show it; other text as it is.
 */
export function formatWords(words: string): string {
  if (!/^(\d+(\.\d+)?(d|h|ms|m|s))+$/.test(words)) return words;
  const parts = words.matchAll(/(\d+(?:\.\d+)?)(d|h|ms|m|s)/g);
  return formatSeconds(
    [...parts].reduce(
      (sum, [, count, unit]) => sum + Number(count) * (WORD_SECONDS[unit ?? ""] ?? 0),
      0,
    ),
  );
}

/** How long ago, or how soon: `3 min 5 s ago`, `in 2 d 4 h`, `now`. */
export function formatAge(timeMs: number, nowMs: number): string {
  const seconds = Math.round((nowMs - timeMs) / 1000);
  if (Math.abs(seconds) < 1) return "now";
  return seconds > 0 ? `${formatSeconds(seconds)} ago` : `in ${formatSeconds(-seconds)}`;
}

const exact = new Map<string, Intl.DateTimeFormat>();

/** A moment in full, in a time zone; in the reader's own where none is given. */
export function formatMoment(timeMs: number, zone: string | undefined): string {
  let format = exact.get(zone ?? "");
  if (format === undefined) {
    format = new Intl.DateTimeFormat("en-GB", {
      dateStyle: "full",
      timeStyle: "long",
      ...(zone === undefined ? {} : { timeZone: zone }),
    });
    exact.set(zone ?? "", format);
  }
  return format.format(timeMs);
}

/** A word of the API as a person writes it: `transient_failure` → `transient failure`. */
export function formatWord(word: string): string {
  return word.replaceAll("_", " ");
}

const UNITS: Readonly<Record<string, string>> = {
  "": "no unit",
  1: "no unit",
  s: "seconds",
  ms: "milliseconds",
  By: "bytes",
  d: "days",
  "%": "percent",
};

/** A UCUM unit of a metric in words: `By` → `bytes`, `{file_descriptor}` → `file descriptor`. */
export function formatUnit(unit: string): string {
  return UNITS[unit] ?? formatWord(unit.replaceAll(/[{}]/g, ""));
}

const AUTH: Readonly<Record<string, string>> = {
  "": "none configured",
  apikey: "API key",
  oauth: "OAuth client",
};

/** How a network is signed in to, in words. */
export function formatAuth(method: string): string {
  return AUTH[method] ?? formatWord(method);
}
