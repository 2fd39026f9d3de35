/** Types of configuration values: how each is read and shown. */
import { isAbsolute, join, resolve } from "node:path";
import { Secret } from "../../base/secret.ts";
import { formatAddress, parseAddress, type Address } from "./address.ts";
import type { Complaint, SourceLocation } from "../findings.ts";
import { definedAs, numeric, SCALARS, SIZE_PATTERN, type JsonSchema } from "./json-schema.ts";
import { describeRaw, type Raw } from "./raw.ts";
import { formatBytes, formatDuration, parseBytes, parseDuration } from "./units.ts";

/** A value in the effective configuration. */
export type Shown = string | boolean | number | readonly string[];

/** A text, number, list or group; or a comment instead of a secret. */
export type Written =
  | Exclude<Shown, readonly string[]>
  | readonly Written[]
  | WrittenGroup
  | WrittenComment;

export interface WrittenGroup {
  readonly entries: readonly WrittenEntry[];
}

export interface WrittenEntry {
  readonly name: string;
  readonly value: Written;
}

/** The text after the name in the comment, unchanged. */
interface WrittenComment {
  readonly comment: string;
}

/**
 * Reports a problem while a value is read. `under` is appended to the key's path, e.g. `[0].path`.
 * Returns undefined, for `read` to return.
 */
export type Complain = (
  complaint: Complaint & { readonly nearest?: string },
  location: SourceLocation,
  under?: string,
) => undefined;

export interface ReadContext {
  /**
   * Base of relative paths in the configuration file: its folder. Paths from variables are relative
   * to the working directory.
   */
  readonly folder: string;
  /** The text of a secret's file; throws system errors. */
  readonly readFile: (path: string) => string;
}

/**
 * One row of a value shown as several, e.g. a map entry. `under` is appended to the key's path,
 * e.g. `.x-org`.
 */
export interface ShownPart {
  readonly under: string;
  readonly value?: Shown;
  /** For a secret: its source, never its value. */
  readonly secret?: SecretSource;
}

/** Whether a secret is set, and whether in the configuration or in its own file. */
export type SecretSource = "unset" | "value" | "file";

/** A field of an object, for the reference page. */
export interface FieldRow {
  readonly name: string;
  readonly expects: string;
  readonly default: Shown | undefined;
  readonly required: boolean;
  readonly secret: boolean;
  /** A map whose values are secrets. */
  readonly isMapOfSecrets?: true;
  readonly help: string;
}

export interface KeyType<T> {
  /** Description of valid input, e.g. `a duration such as 30s`. */
  readonly expects: string;
  /** What a file may hold, for editors. May accept more than `read`, never less. */
  readonly accepts: JsonSchema;
  /** True when a variable cannot express it: lists of objects. */
  readonly fileOnly: boolean;
  /** Undefined for a single value. */
  readonly holds?: "list" | "group";
  /**
   * A map: variables name one entry each, and a higher layer replaces entries, not the whole map.
   */
  readonly isMap?: true;
  /** A map whose values are `Secret`s. */
  readonly isMapOfSecrets?: true;
  /** The fields of an object, or of each object of a list. */
  readonly fields?: readonly FieldRow[];
  /** One object: omitted fields have defaults, so an omitted object equals an empty one. */
  readonly isGroup?: true;
  /** The value, or undefined after at least one complaint. */
  read(raw: Raw, complain: Complain, context: ReadContext): T | undefined;
  show(value: T): Shown;
  /** Inverse of `read` for a file; default: the result of `show`. */
  write?(value: T): Written;
  /** The rows of a map or of a list of objects in the effective configuration. */
  parts?(value: T): readonly ShownPart[];
}

/** Non-empty text. */
export const string: KeyType<string> = scalar(
  "text",
  definedAs("text"),
  (text) => (text === "" ? undefined : text),
  (value) => value,
);

/** Text that may be empty, for features that are off when it is. */
export const text: KeyType<string> = scalar(
  "text, or nothing",
  definedAs("text"),
  (written) => written,
  (value) => value,
);

/** `true/false/1/0/yes/no`, any case. */
export const boolean: KeyType<boolean> = scalar(
  "true or false",
  definedAs("boolean"),
  parseBoolean,
  (value) => value,
);

/** Written `30s`, `5m`, `1h30m`; stored in milliseconds. */
export const duration: KeyType<number> = scalar(
  "a duration such as 30s, 5m or 1h30m",
  definedAs("duration"),
  parseDuration,
  formatDuration,
);

/** Written `512KiB`, `64MiB`, `1GB` or plain bytes; stored in bytes. */
export const bytes: KeyType<number> = scalar(
  "a size such as 512KiB or 64MiB",
  definedAs("size"),
  parseBytes,
  formatBytes,
);

/**
 * A size between two bounds (inclusive), written as `bytes` or a plain number and shown as a
 * number.
 */
export function byteCount(min: number, max: number): KeyType<number> {
  return scalar(
    `a size from ${formatBytes(min)} to ${formatBytes(max)}`,
    numeric({ minimum: min, maximum: max, pattern: SIZE_PATTERN }),
    (text) => {
      const value = parseBytes(text);
      return value !== undefined && value >= min && value <= max ? value : undefined;
    },
    (value) => value,
  );
}

/** A listen address, `host:port`. */
export const address: KeyType<Address> = scalar(
  "host:port such as 127.0.0.1:8400",
  definedAs("address"),
  parseAddress,
  formatAddress,
);

const plainPath = scalar(
  "a path without ~ (only a shell expands it)",
  definedAs("path"),
  (text) => (text === "" || text.startsWith("~") || text.includes("\0") ? undefined : text),
  (value) => value,
);

/**
 * A file or folder. `~` is refused, since only a shell expands it. Relative paths in the file start
 * at the file's folder.
 */
export const path: KeyType<string> = {
  ...plainPath,
  // The written file may be in another folder, so the path is absolute.
  write: (value) => (value === "" ? "" : resolve(value)),
  read(raw, complain, context) {
    const value = plainPath.read(raw, complain, context);
    return value === undefined ? undefined : resolvePath(value, raw.location, context);
  },
};

/** A secret: never shown, never in a message. */
export const secret: KeyType<Secret> = {
  expects: "text",
  accepts: definedAs("text"),
  fileOnly: false,
  read(raw, complain) {
    if (raw.kind === "text" && raw.text !== "") return Secret.of(raw.text, originOf(raw));
    complain({ rule: "must be text that is not empty" }, raw.location);
    return undefined;
  },
  show: () => "[secret]",
};

export function secretSource(value: Secret | undefined): SecretSource {
  if (value === undefined) return "unset";
  return value.origin.startsWith(FROM_FILE) || value.origin.startsWith(PART_OF_FILE)
    ? "file"
    : "value";
}

/** The file that contains only this secret, for reloading; undefined otherwise. */
export function secretFile(value: Secret): string | undefined {
  return value.origin.startsWith(FROM_FILE) ? value.origin.slice(FROM_FILE.length) : undefined;
}

/** An integer between two bounds (inclusive). */
export function integer(min: number, max: number): KeyType<number> {
  return scalar(
    `a whole number from ${min} to ${max}`,
    numeric({ minimum: min, maximum: max, pattern: "^-?[0-9]+$" }),
    (text) => {
      const value = /^-?\d+$/.test(text) ? Number(text) : NaN;
      return value >= min && value <= max ? value : undefined;
    },
    (value) => value,
  );
}

/** A decimal number such as 0.75 between two bounds (inclusive). */
export function decimal(min: number, max: number): KeyType<number> {
  return scalar(
    `a number from ${min} to ${max}`,
    numeric({ minimum: min, maximum: max, pattern: "^-?[0-9]+(\\.[0-9]+)?(e-?[0-9]+)?$" }),
    (text) => {
      const value = /^-?\d+(\.\d+)?(e-?\d+)?$/.test(text) ? Number(text) : NaN;
      return value >= min && value <= max ? value : undefined;
    },
    (value) => value,
  );
}

/** An enumeration. `refused` gives words a specific message, e.g. values of a later version. */
export function oneOf<const T extends string>(
  words: readonly T[],
  refused: Readonly<Record<string, string>> = {},
): KeyType<T> {
  const base = scalar(
    `one of ${words.join(", ")}`,
    { enum: words },
    (text) => words.find((word) => word === text),
    (value) => value,
  );
  return {
    ...base,
    read(raw, complain, context) {
      if (raw.kind !== "text" || !Object.hasOwn(refused, raw.text))
        return base.read(raw, complain, context);
      return complain(
        { rule: refused[raw.text] ?? "", remedy: `write one of ${words.join(", ")}.` },
        raw.location,
      );
    },
  };
}

/** A list; comma-separated in the environment and as a scalar in the file. */
export function listOf<T>(item: KeyType<T>): KeyType<readonly T[]> {
  return {
    expects: `a list of ${item.expects}`,
    // One text is a list separated by commas.
    accepts: { type: ["array", ...SCALARS], items: item.accepts },
    fileOnly: false,
    holds: "list",
    read(raw, complain, context) {
      if (raw.kind !== "list" && raw.kind !== "text") return refuse(raw, complain, this.expects);
      const items = raw.kind === "list" ? raw.items : splitText(raw.text, raw.location);
      const values = items.map((entry, index) =>
        item.read(
          entry,
          (complaint, location, under = "") => complain(complaint, location, `[${index}]${under}`),
          context,
        ),
      );
      return values.every((value) => value !== undefined) ? values : undefined;
    },
    show: (values) => values.map((value) => String(item.show(value))),
    write: (values) =>
      values.map((value) => (item.write === undefined ? item.show(value) : item.write(value))),
  };
}

/** Parses what a boolean key and `STEWARD_DEMO` accept. */
export function parseBoolean(text: string): boolean | undefined {
  if (/^(true|1|yes)$/i.test(text)) return true;
  return /^(false|0|no)$/i.test(text) ? false : undefined;
}

const FROM_FILE = "file ";
const PART_OF_FILE = "part of file ";

function originOf(raw: Raw & { readonly kind: "text" }): string {
  if (raw.readFrom !== undefined)
    return `${raw.isPart === true ? PART_OF_FILE : FROM_FILE}${raw.readFrom}`;
  return (
    raw.location.variable ??
    (raw.location.line === undefined ? "configuration" : `line ${raw.location.line}`)
  );
}

/** Resolves a path by the location where it was written. */
export function resolvePath(value: string, location: SourceLocation, context: ReadContext): string {
  return location.variable !== undefined || isAbsolute(value) ? value : join(context.folder, value);
}

function scalar<T>(
  expects: string,
  accepts: JsonSchema,
  parse: (text: string) => T | undefined,
  show: (value: T) => Shown,
): KeyType<T> {
  return {
    expects,
    accepts,
    fileOnly: false,
    show,
    read(raw, complain) {
      const value = raw.kind === "text" ? parse(raw.text) : undefined;
      return value === undefined ? refuse(raw, complain, expects) : value;
    },
  };
}

function refuse(raw: Raw, complain: Complain, expects: string): undefined {
  const remedy = raw.kind === "nothing" ? "give a value or remove the key." : undefined;
  return complain(
    {
      rule: `must be ${expects}, got ${describeRaw(raw)}`,
      ...(remedy === undefined ? {} : { remedy }),
    },
    raw.location,
  );
}

function splitText(text: string, location: SourceLocation): Raw[] {
  return text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "")
    .map((part) => ({ kind: "text", text: part, location }));
}
