/** Parses booleans, integers and durations as Go does, since clients rely on those forms. */

/** Invalid text; the message is Go's. */
export class GoValueError extends Error {
  override readonly name = "GoValueError";
}

/** Longer than any number, duration or boolean, shorter than a token or key entered by mistake. */
const MAX_VALUE_LENGTH = 24;

/** Text in Go's `%q` form; of a longer one only the length is shown, since it may be a secret. */
export function quoted(text: string, longest: number = MAX_VALUE_LENGTH): string {
  return text.length > longest ? `a text of ${text.length} characters` : JSON.stringify(text);
}

const TRUE = new Set(["1", "t", "T", "TRUE", "true", "True"]);
const FALSE = new Set(["0", "f", "F", "FALSE", "false", "False"]);

/** `strconv.ParseBool`. */
export function parseGoBool(text: string): boolean {
  if (TRUE.has(text)) return true;
  if (FALSE.has(text)) return false;
  throw new GoValueError(`strconv.ParseBool: parsing ${quoted(text)}: invalid syntax`);
}

// Underscores may separate digits and follow a base prefix; a leading zero means octal.
const INTEGER =
  /^([+-]?)(?:(0[xX])((?:_?[\da-fA-F])+)|(0[bB])((?:_?[01])+)|(0[oO])((?:_?[0-7])+)|(0)((?:_?[0-7])+)|(0|[1-9](?:_?\d)*))$/;

/** `strconv.ParseInt(text, 0, 64)`, limited to safe integers. */
export function parseGoInt(text: string): number {
  const found = text.length > 256 ? null : INTEGER.exec(text);
  if (found === null)
    throw new GoValueError(`strconv.ParseInt: parsing ${quoted(text)}: invalid syntax`);
  const [, sign, , hex, , binary, , octal, , oldOctal, decimal] = found;
  const digits = (hex ?? binary ?? octal ?? oldOctal ?? decimal ?? "").replaceAll("_", "");
  const prefix =
    hex !== undefined
      ? "0x"
      : binary !== undefined
        ? "0b"
        : octal !== undefined || oldOctal !== undefined
          ? "0o"
          : "";
  const size = BigInt(prefix + digits);
  if (size > BigInt(Number.MAX_SAFE_INTEGER))
    throw new GoValueError(`strconv.ParseInt: parsing ${quoted(text)}: value out of range`);
  return size === 0n ? 0 : Number(sign === "-" ? -size : size);
}

const UNIT_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
};

/** Go's longest duration: 2^63 ns. */
const MAX_DURATION_MS = 9_223_372_036_854;

/**
 * `parseutil.ParseDurationSecond`: seconds (`60`), days (`7d`) or Go's units (`1h30m`). Whole
 * milliseconds, never negative; 0 only for zero.
 */
export function parseGoDurationMs(text: string): number {
  const trimmed = text.trim();
  if (trimmed === "") return 0;
  const days = /^([+-]?\d{1,15})d$/.exec(trimmed)?.[1];
  if (days !== undefined) return checkedDuration(Number(days) * 86_400_000);
  if (/^[+-]?\d{1,17}$/.test(trimmed)) return checkedDuration(Number(trimmed) * 1_000);
  return checkedDuration(unitsMs(trimmed));
}

/** Checks that a duration is within Go's range. */
export function checkedDuration(ms: number): number {
  if (ms < 0) throw new GoValueError("cannot provide negative value");
  if (!(ms <= MAX_DURATION_MS)) throw new GoValueError("the duration is longer than 292 years");
  // A positive duration stays positive: zero would mean "default" or "not wrapped".
  return ms > 0 ? Math.max(1, Math.floor(ms)) : 0;
}

function unitsMs(text: string): number {
  const body = text.replace(/^[+-]/, "");
  const parts =
    text.length > 256 ? [] : [...body.matchAll(/(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)/g)];
  if (parts.length === 0 || parts.map(([part]) => part).join("") !== body)
    throw new GoValueError(`time: invalid duration ${quoted(text)}`);
  const ms = parts.reduce(
    (sum, [, amount, unit]) => sum + Number(amount) * (UNIT_MS[unit ?? ""] ?? 0),
    0,
  );
  // Sums of binary fractions may end just below an integer: 0.29 s is 290 ms.
  const exact = Math.abs(ms - Math.round(ms)) < 1e-6 ? Math.round(ms) : ms;
  return text.startsWith("-") ? -exact : exact;
}
