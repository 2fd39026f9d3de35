/**
 * The types a configuration value can have: how each is read from what was written and how it is
 * shown again.
 */
import { isAbsolute, join, resolve } from "node:path";
import { Secret } from "../base/secret.ts";
import { formatAddress, parseAddress, type Address } from "./address.ts";
import type { Complaint } from "./findings.ts";
import { describeRaw, type SourceLocation, type Raw } from "./raw.ts";
import { formatBytes, formatDuration, parseBytes, parseDuration } from "./units.ts";
import type { Written } from "./written.ts";

/** A value as the effective configuration shows it. */
export type Shown = string | boolean | number | readonly string[];

/**
 * Collects what is wrong while a value is read. `under` is added to the key's path, e.g.
 * `[0].path`. Returns undefined, for `read` to return.
 */
export type Complain = (
  complaint: Complaint & { readonly nearest?: string },
  location: SourceLocation,
  under?: string,
) => undefined;

/** What lies around a value while it is read. */
export interface ReadContext {
  /**
   * Where relative paths written in the configuration file begin: its folder. Those of variables
   * begin where the process runs.
   */
  readonly folder: string;
  /** The text of a file that holds a secret; throws what the system throws. */
  readonly readFile: (path: string) => string;
}

/**
 * One row of a value that shows as several, e.g. an entry of a map. `under` is added to the key's
 * path, e.g. `.x-org`.
 */
export interface ShownPart {
  readonly under: string;
  readonly value?: Shown;
  /** A secret's row: where the secret stands, never the secret. */
  readonly secret?: SecretSource;
}

/** Whether a secret is there, and whether it stood in the configuration or in a file of its own. */
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

/** How values of one type are read and shown. */
export interface KeyType<T> {
  /** What the operator is told to write, e.g. `a duration such as 30s`. */
  readonly expects: string;
  /** True when a variable cannot say it: lists of objects. */
  readonly fileOnly: boolean;
  /** What it is made of; undefined for a single value. */
  readonly holds?: "list" | "group";
  /** A map: variables name one entry each, and a higher layer replaces entries, not the whole. */
  readonly isMap?: true;
  /** A map whose values are `Secret`s. */
  readonly isMapOfSecrets?: true;
  /** The fields of an object, or of each object of a list. */
  readonly fields?: readonly FieldRow[];
  /**
   * One object: what is left out of it has defaults of its own, so that leaving out all of it is
   * the same as an empty one.
   */
  readonly isGroup?: true;
  /** The value, or undefined after at least one complaint. */
  read(raw: Raw, complain: Complain, context: ReadContext): T | undefined;
  show(value: T): Shown;
  /** What `read` reads back from a file; without it, what `show` returns. */
  write?(value: T): Written;
  /** The rows of a map or of a list of objects in the effective configuration. */
  parts?(value: T): readonly ShownPart[];
}

/** Any text that is not empty. */
export const string: KeyType<string> = scalar(
  "text",
  (text) => (text === "" ? undefined : text),
  (value) => value,
);

/** Text that may be empty, for what is off when it is. */
export const text: KeyType<string> = scalar(
  "text, or nothing",
  (written) => written,
  (value) => value,
);

/** `true/false/1/0/yes/no`, any case. */
export const boolean: KeyType<boolean> = scalar("true or false", parseBoolean, (value) => value);

/** Written `30s`, `5m`, `1h30m`; held in milliseconds. */
export const duration: KeyType<number> = scalar(
  "a duration such as 30s, 5m or 1h30m",
  parseDuration,
  formatDuration,
);

/** Written `512KiB`, `64MiB`, `1GB` or plain bytes; held in bytes. */
export const bytes: KeyType<number> = scalar(
  "a size such as 512KiB or 64MiB",
  parseBytes,
  formatBytes,
);

/**
 * A size within bounds, both included, written as `bytes` or as a plain number and shown as a
 * number.
 */
export function byteCount(min: number, max: number): KeyType<number> {
  return scalar(
    `a size from ${formatBytes(min)} to ${formatBytes(max)}`,
    (text) => {
      const value = parseBytes(text);
      return value !== undefined && value >= min && value <= max ? value : undefined;
    },
    (value) => value,
  );
}

/** Where to listen, `host:port`. */
export const address: KeyType<Address> = scalar(
  "host:port such as 127.0.0.1:8400",
  parseAddress,
  formatAddress,
);

const plainPath = scalar(
  "a path without ~ (only a shell expands it)",
  (text) => (text === "" || text.startsWith("~") || text.includes("\0") ? undefined : text),
  (value) => value,
);

/**
 * A file or folder. `~` is refused, since only a shell expands it. Relative ones in the file begin
 * at the file's folder.
 */
export const path: KeyType<string> = {
  ...plainPath,
  // Another file may lie in another folder.
  write: (value) => (value === "" ? "" : resolve(value)),
  read(raw, complain, context) {
    const value = plainPath.read(raw, complain, context);
    return value === undefined ? undefined : resolvePath(value, raw.location, context);
  },
};

/** A secret: shown to nobody, its text never in a message. */
export const secret: KeyType<Secret> = {
  expects: "text",
  fileOnly: false,
  read(raw, complain) {
    if (raw.kind === "text" && raw.text !== "") return Secret.of(raw.text, originOf(raw));
    complain({ rule: "must be text that is not empty" }, raw.location);
    return undefined;
  },
  show: () => "[secret]",
};

/** Where a secret stands. */
export function secretSource(value: Secret | undefined): SecretSource {
  if (value === undefined) return "unset";
  return value.origin.startsWith(FROM_FILE) || value.origin.startsWith(PART_OF_FILE)
    ? "file"
    : "value";
}

/**
 * The file that holds a secret and nothing else, for those who read it again; undefined when it
 * stood in the configuration, or among others.
 */
export function secretFile(value: Secret): string | undefined {
  return value.origin.startsWith(FROM_FILE) ? value.origin.slice(FROM_FILE.length) : undefined;
}

/** A whole number within bounds, both included. */
export function integer(min: number, max: number): KeyType<number> {
  return scalar(
    `a whole number from ${min} to ${max}`,
    (text) => {
      const value = /^-?\d+$/.test(text) ? Number(text) : NaN;
      return value >= min && value <= max ? value : undefined;
    },
    (value) => value,
  );
}

/** A decimal number such as 0.75 within bounds, both included. */
export function decimal(min: number, max: number): KeyType<number> {
  return scalar(
    `a number from ${min} to ${max}`,
    (text) => {
      const value = /^-?\d+(\.\d+)?(e-?\d+)?$/.test(text) ? Number(text) : NaN;
      return value >= min && value <= max ? value : undefined;
    },
    (value) => value,
  );
}

/**
 * One of a few words. `refused` names words with a reason of their own, e.g. what a later version
 * will know.
 */
export function oneOf<const T extends string>(
  words: readonly T[],
  refused: Readonly<Record<string, string>> = {},
): KeyType<T> {
  const base = scalar(
    `one of ${words.join(", ")}`,
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

/** A list; in the environment, and as a single text in the file, separated by commas. */
export function listOf<T>(item: KeyType<T>): KeyType<readonly T[]> {
  return {
    expects: `a list of ${item.expects}`,
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

/** Reads what a boolean key and `STEWARD_DEMO` accept. */
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

/** A path as the process finds it, for a place it was written at. */
export function resolvePath(value: string, location: SourceLocation, context: ReadContext): string {
  return location.variable !== undefined || isAbsolute(value) ? value : join(context.folder, value);
}

function scalar<T>(
  expects: string,
  parse: (text: string) => T | undefined,
  show: (value: T) => Shown,
): KeyType<T> {
  return {
    expects,
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
