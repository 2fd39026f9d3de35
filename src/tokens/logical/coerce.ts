/**
 * Weakly typed coercion of single field values, as Vault's framework does it, with its error texts.
 */
import { StewardError } from "../../kernel/base/errors.ts";
import {
  checkedDuration,
  GoValueError,
  parseGoBool,
  parseGoDurationMs,
  parseGoInt,
  quoted,
} from "./go-values.ts";
import { isRawNumber, numberText, parseExact, requestLimits } from "./json.ts";

/** Target kind of a field. */
export type Kind =
  | "text"
  | "integer"
  | "boolean"
  | "duration"
  | "texts"
  | "comma_texts"
  | "integers"
  | "comma_integers"
  | "pairs"
  | "any";

export type Coerced =
  | string
  | number
  | boolean
  | readonly string[]
  | readonly number[]
  | ReadonlyMap<string, string>;

/** Items of a list or members of a map. Vault's default for either. */
const MAX_ITEMS = 10_000;

/** Invalid items after which coercion stops. */
const MAX_ERRORS = 100;

/**
 * Characters of a list or a map, names included, and of a JSON text that holds one. What follows
 * sorts, records and answers a whole list in one turn of the event loop.
 */
const MAX_CHARACTERS = 1024 * 1024;

/** A permission name with its level, or an attempt at one. */
const MAX_PAIR_LENGTH = 64;

/** Throws GoValueError; its text never quotes values that may be secret. */
export function coerce(value: unknown, kind: Exclude<Kind, "any">): Coerced {
  return coercions[kind](value, "");
}

const coercions: Readonly<Record<Exclude<Kind, "any">, (value: unknown, at: string) => Coerced>> = {
  text: toText,
  integer: toInteger,
  boolean: toBoolean,
  duration: toDurationMs,
  texts: (value) => items(value, toText, false),
  comma_texts: (value) =>
    items(value, toText, true)
      .map((item) => item.trim())
      .filter((item) => item !== ""),
  integers: (value) => items(value, toInteger, false),
  comma_integers: (value) => items(value, toInteger, true),
  pairs: toPairs,
};

function toText(value: unknown, at: string): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "string") return value;
  if (typeof value === "boolean") return value ? "1" : "0";
  return numberText(value) ?? unconvertible("string", value, at);
}

function toInteger(value: unknown, at: string): number {
  if (value === null || value === undefined || value === "") return 0;
  if (typeof value === "boolean") return value ? 1 : 0;
  if (typeof value === "string") return named(at, "int", () => parseGoInt(value));
  const digits = numberText(value);
  if (digits === undefined) return unconvertible("int", value, at);
  const number = Math.trunc(Number(digits));
  if (!Number.isSafeInteger(number))
    throw new GoValueError(
      `cannot parse '${at}' as int: strconv.ParseInt: parsing ${quoted(digits)}: value out of range`,
    );
  return number + 0;
}

function toBoolean(value: unknown, at: string): boolean {
  if (value === null || value === undefined || value === "") return false;
  if (typeof value === "boolean") return value;
  if (typeof value === "string") return named(at, "bool", () => parseGoBool(value));
  const digits = numberText(value);
  return digits === undefined ? unconvertible("bool", value, at) : Number(digits) !== 0;
}

function toDurationMs(value: unknown, at: string): number {
  if (value === null || value === undefined) return 0;
  if (typeof value === "string") return parseGoDurationMs(value);
  const digits = numberText(value);
  return digits === undefined
    ? unconvertible("duration", value, at)
    : checkedDuration(Math.trunc(Number(digits)) * 1_000);
}

// A single value is a list of one; an empty text or object is an empty list.
function items<T>(value: unknown, item: (value: unknown, at: string) => T, commas: boolean): T[] {
  const list = itemsOf(value, commas);
  if (list.length > MAX_ITEMS) throw new GoValueError(`a list has more than ${MAX_ITEMS} items`);
  checkCharacters(
    "list",
    list.reduce<number>((sum, one) => sum + charactersOf(one), 0),
  );
  const out: T[] = [];
  const wrong: string[] = [];
  for (const [index, one] of list.entries()) {
    try {
      out.push(item(one, `[${index}]`));
    } catch (error) {
      if (!(error instanceof GoValueError)) throw error;
      wrong.push(error.message);
      if (wrong.length === MAX_ERRORS) break;
    }
  }
  if (wrong.length > 0)
    throw new GoValueError(
      `${wrong.length} error(s) decoding:\n\n${wrong
        .slice(0, 10)
        .map((text) => `* ${text}`)
        .join("\n")}`,
    );
  return out;
}

function charactersOf(value: unknown): number {
  return typeof value === "string" ? value.length : (numberText(value)?.length ?? 0);
}

function checkCharacters(what: string, characters: number): void {
  if (characters > MAX_CHARACTERS)
    throw new GoValueError(`a ${what} has more than ${MAX_CHARACTERS} characters`);
}

function itemsOf(value: unknown, commas: boolean): readonly unknown[] {
  if (value === null || value === undefined) return [];
  if (Array.isArray(value)) return value as readonly unknown[];
  if (isObject(value)) return Object.keys(value).length === 0 ? [] : [value];
  if (!commas || typeof value !== "string") return [value];
  if (value.trim() === "") return [];
  return (jsonOf(value, "[") as readonly unknown[] | undefined) ?? trimmedItems(value);
}

// Empty items from stray commas are dropped, and surrounding spaces trimmed.
function trimmedItems(text: string): readonly string[] {
  let commas = 0;
  for (let at = text.indexOf(","); at !== -1; at = text.indexOf(",", at + 1)) {
    commas += 1;
    if (commas > MAX_ITEMS) throw new GoValueError(`a list has more than ${MAX_ITEMS} items`);
  }
  return text
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");
}

// Accepts `a=read,b=write`, JSON text of an object or list, an object, or a list of these.
function toPairs(value: unknown): ReadonlyMap<string, string> {
  const pairs = new Map<string, string>();
  let characters = 0;
  addPairs(value, 0, (key, level) => {
    characters += key.length + level.length;
    checkCharacters("map", characters);
    pairs.set(key, level);
    if (pairs.size > MAX_ITEMS) throw new GoValueError(`a map has more than ${MAX_ITEMS} entries`);
  });
  return pairs;
}

function addPairs(value: unknown, depth: number, add: (key: string, level: string) => void): void {
  if (value === null || value === undefined) return;
  if (Array.isArray(value) && depth < 2)
    return (value as readonly unknown[]).forEach((one) => addPairs(one, depth + 1, add));
  if (isObject(value)) {
    for (const key in value)
      if (Object.hasOwn(value, key)) add(key, toText(value[key], `[${key.slice(0, 64)}]`));
    return;
  }
  if (typeof value !== "string")
    throw new GoValueError(`invalid key pair ${quoted(toText(value, ""), MAX_PAIR_LENGTH)}`);
  const json = depth < 2 ? (jsonOf(value, "{") ?? jsonOf(value, "[")) : undefined;
  if (json !== undefined) return addPairs(json, depth + 1, add);
  for (const pair of trimmedItems(value)) add(...splitPair(pair));
}

function splitPair(pair: string): readonly [string, string] {
  const at = pair.indexOf("=");
  if (at < 1) throw new GoValueError(`invalid key pair ${quoted(pair, MAX_PAIR_LENGTH)}`);
  return [pair.slice(0, at).trim(), pair.slice(at + 1).trim()];
}

// JSON of the wanted shape, else undefined.
function jsonOf(text: string, opening: "[" | "{"): unknown {
  if (!text.trimStart().startsWith(opening)) return undefined;
  if (text.length > MAX_CHARACTERS)
    throw new GoValueError(`JSON in a text has more than ${MAX_CHARACTERS} characters`);
  try {
    return parseExact(text.trim(), requestLimits);
  } catch (error) {
    if (error instanceof StewardError) return undefined;
    throw error;
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return (
    typeof value === "object" && value !== null && !Array.isArray(value) && !isRawNumber(value)
  );
}

function named<T>(at: string, type: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (error instanceof GoValueError)
      throw new GoValueError(`cannot parse '${at}' as ${type}: ${error.message}`);
    throw error;
  }
}

function unconvertible(type: string, value: unknown, at: string): never {
  const shape = Array.isArray(value)
    ? "[]interface {}"
    : isObject(value)
      ? "map[string]interface {}"
      : typeof value;
  throw new GoValueError(`'${at}' expected type '${type}', got unconvertible type '${shape}'`);
}
