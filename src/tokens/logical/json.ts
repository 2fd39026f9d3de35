/**
 * JSON parser that keeps exact numbers: those that a double would round or reformat are kept as
 * source text. Size and depth are checked before anything is built. Errors never quote the text,
 * since bodies hold secrets.
 */
import { StewardError } from "../../kernel/base/errors.ts";
import { parseTree } from "../../kernel/json/tree.ts";

/** A number as written, e.g. above 2^53. `JSON.stringify` writes it back unchanged. */
export interface RawNumber {
  readonly rawJSON: string;
}

export interface ExactLimits {
  /** UTF-8 bytes; for a string input UTF-16 units. */
  readonly bytes: number;
  /** Nesting of objects and arrays, the outermost included. */
  readonly depth: number;
  /**
   * Array elements and object members in total. Many values cost more than long ones: ten million
   * take seconds.
   */
  readonly values: number;
  /** Members of one object; default: `values`. */
  readonly members?: number;
}

/** Default limits, e.g. for platform responses: 500 repositories have about 60,000 values. */
const usualLimits: ExactLimits = { bytes: 32 * 1024 * 1024, depth: 128, values: 1_000_000 };

/** Limits of client requests. Vault's default for members of one object is the same. */
export const requestLimits: Required<ExactLimits> = {
  ...usualLimits,
  values: 100_000,
  members: 10_000,
};

/** Bytes of one member name, as written. */
const MAX_NAME_BYTES = 1024 * 1024;

/** Characters of one number, parsed in one step: about 8 ms at this length. */
const MAX_NUMBER_LENGTH = 1024 * 1024;

type Reviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown;
const exactJson = JSON as unknown as {
  parse(text: string, reviver?: Reviver): unknown;
  rawJSON(text: string): RawNumber;
  isRawJSON(value: unknown): value is RawNumber;
};

// A number stands at the start or after `:`, `[` or `,`. A string may look the same, which only
// costs time.
const MAY_LOSE_DIGITS = /\d{16}|(?:^|[:[,])\s*-?\d+[.eE]/;

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Throws `invalid` (rule `json`) for invalid JSON, `too_large` (rule `bytes`, `depth` or `values`)
 * beyond a limit.
 */
export function parseExact(input: string | Uint8Array, limits: ExactLimits = usualLimits): unknown {
  if (input.length > limits.bytes)
    throw new StewardError("too_large", `JSON input has more than ${limits.bytes} bytes`, {
      rule: "bytes",
    });
  const text = typeof input === "string" ? input : decode(input);
  assertWithin(text, limits);
  try {
    return MAY_LOSE_DIGITS.test(text) ? exactJson.parse(text, keepDigits) : exactJson.parse(text);
  } catch (error) {
    throw error instanceof StewardError ? error : broken(positionIn(error));
  }
}

/** Larger texts are parsed in several turns of the event loop. */
const AT_ONCE_BYTES = 64 * 1024;

/** Like `parseExact`, but yields to the event loop for large texts. */
export async function parseExactInTurns(
  bytes: Uint8Array,
  limits: ExactLimits = usualLimits,
): Promise<unknown> {
  if (bytes.length <= AT_ONCE_BYTES || bytes.length > limits.bytes)
    return parseExact(bytes, limits);
  try {
    return await parseTree(bytes, {
      limits: {
        depth: limits.depth,
        values: limits.values,
        members: limits.members ?? limits.values,
        numberLength: MAX_NUMBER_LENGTH,
        nameBytes: MAX_NAME_BYTES,
      },
      number: exactNumber,
    });
  } catch (error) {
    if (error instanceof StewardError && error.code === "invalid")
      throw broken((error.facts as { readonly offset?: number } | undefined)?.offset);
    throw error;
  }
}

/** Serializes a value that may contain exact numbers. */
export function writeExact(value: unknown): string {
  return JSON.stringify(value);
}

/** Whether the serialized value surely exceeds a length, without serializing it. */
export function isLongerThan(value: unknown, bytes: number): boolean {
  return lengthWithin(value, bytes) < 0;
}

/** Remaining budget after a value; negative as soon as it is exceeded. */
function lengthWithin(value: unknown, room: number): number {
  if (typeof value === "string") return room - value.length - 2;
  if (isRawNumber(value)) return room - value.rawJSON.length;
  if (typeof value !== "object" || value === null) return room - 1;
  let left = room - 1;
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length && left >= 0; at++) left = lengthWithin(value[at], left - 1);
    return left;
  }
  const members = value as Readonly<Record<string, unknown>>;
  for (const name in members) {
    if (left < 0) return left;
    left = lengthWithin(members[name], left - name.length - 4);
  }
  return left;
}

export function isRawNumber(value: unknown): value is RawNumber {
  return typeof value === "object" && value !== null && exactJson.isRawJSON(value);
}

/** Throws SyntaxError unless the digits are a JSON number. */
export function rawNumber(digits: string): RawNumber {
  if (!/^-?\d/.test(digits)) throw new SyntaxError("not a JSON number");
  return exactJson.rawJSON(digits);
}

/** Digits of a number of either kind; undefined for anything else. */
export function numberText(value: unknown): string | undefined {
  if (typeof value === "number")
    return Number.isInteger(value) ? BigInt(value).toString() : String(value);
  return isRawNumber(value) ? value.rawJSON : undefined;
}

function keepDigits(_key: string, value: unknown, context: { readonly source?: string }): unknown {
  if (typeof value !== "number" || context.source === undefined || String(value) === context.source)
    return value;
  if (context.source.length > MAX_NUMBER_LENGTH)
    throw new StewardError(
      "too_large",
      `JSON input has more than ${MAX_NUMBER_LENGTH} characters in one number`,
      { rule: "number" },
    );
  return exactJson.rawJSON(context.source);
}

function exactNumber(digits: string): unknown {
  const value = Number(digits);
  return String(value) === digits ? value : exactJson.rawJSON(digits);
}

function decode(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw broken(undefined);
  }
}

// The native parser's message quotes the text, so it is dropped, even as a cause.
function broken(position: number | undefined): StewardError {
  const where = position === undefined ? "" : ` at position ${position}`;
  return new StewardError("invalid", `failed to decode JSON input: it is not valid JSON${where}`, {
    rule: "json",
    remedy: "send one JSON value in UTF-8",
  });
}

function positionIn(error: unknown): number | undefined {
  const found = error instanceof Error ? / at position (\d+)/.exec(error.message)?.[1] : undefined;
  return found === undefined ? undefined : Number(found);
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_ARRAY = 0x5b;
const OPEN_OBJECT = 0x7b;
const CLOSE_ARRAY = 0x5d;
const CLOSE_OBJECT = 0x7d;

function assertWithin(text: string, { depth, values, members = values }: ExactLimits): void {
  let open = 0;
  let seen = 0;
  /** Commas by nesting level; not counted in arrays. */
  const commas: number[] = [];
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === QUOTE) at = endOfString(text, at);
    else if (unit === COMMA || unit === OPEN_ARRAY || unit === OPEN_OBJECT) {
      seen += 1;
      if (seen > values)
        throw new StewardError("too_large", `JSON input has more than ${values} values`, {
          rule: "values",
        });
      if (unit !== COMMA) commas[open++] = unit === OPEN_OBJECT ? 1 : Number.NEGATIVE_INFINITY;
      else if (open > 0 && (commas[open - 1] = (commas[open - 1] ?? 0) + 1) > members)
        throw new StewardError(
          "too_large",
          `JSON input has more than ${members} members in one object`,
          { rule: "members" },
        );
      if (open > depth)
        throw new StewardError("too_large", `JSON input has more than ${depth} levels of nesting`, {
          rule: "depth",
        });
    } else if (unit === CLOSE_ARRAY || unit === CLOSE_OBJECT) open = Math.max(0, open - 1);
  }
}

// Searches quote by quote, so that long strings are skipped natively.
function endOfString(text: string, from: number): number {
  for (let at = text.indexOf('"', from + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let slashes = 0;
    while (text.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return at;
  }
  return text.length;
}
