/**
 * Declares a configuration key as data: file, environment, `_FILE`, `-validate`, effective
 * configuration and provenance follow from it.
 */
import { assert } from "../base/errors.ts";
import type { Complaint } from "./findings.ts";
import type { KeyType } from "./values/types.ts";

/** An empty variable is unset. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * A variable of another tool that is a default below the file, e.g. one of OpenTelemetry's. An
 * invalid value is only a warning.
 */
export interface Fallback {
  readonly variable: string;
  /**
   * Translates its value to the key's; default: unchanged. Undefined when the key has no
   * equivalent.
   */
  translate?(text: string): string | undefined;
}

export interface Key<T> {
  /** Dotted, lower case, e.g. `gateway.listen`. */
  readonly path: string;
  readonly type: KeyType<T>;
  readonly default: T;
  /** Replaces `default` where it depends on the environment, e.g. on `$STATE_DIRECTORY`. */
  defaultFrom?(environment: Environment): T;
  /** Its value is a `Secret`, is never shown, and may be given by `_FILE`. */
  readonly secret?: true;
  /** Further validation of a value of the right type; undefined when it is valid. */
  rule?(value: T): Complaint | undefined;
  /** Allowed but worth a warning. */
  warn?(value: T): Complaint | undefined;
  /** A variable read besides the `STEWARD_` form, which wins. */
  readonly env?: string;
  /** Other paths of the same key, in the file and as `STEWARD_` variable, e.g. `log_level`. */
  readonly aliases?: readonly string[];
  /** Variables below the file; the first one set counts. */
  readonly fallbacks?: readonly Fallback[];
  /** Who may change it: the operator at start, or also the API at run time. */
  readonly owner: "operator" | "runtime";
  /** A sentence for the reference page. */
  readonly help: string;
}

/** All keys of a process. */
export type Schema = readonly Key<unknown>[];

/** Declares a key; `owner` defaults to the operator. */
export function defineKey<T>(
  row: Omit<Key<T>, "owner"> & { readonly owner?: Key<T>["owner"] },
): Key<T> {
  assert(
    /^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*$/.test(row.path) && !row.path.includes("__"),
    `${row.path} is a dotted lower-case path`,
  );
  return { owner: "operator", ...row };
}

/**
 * Combines keys of several owners. Two keys of one path, or one path inside another, are
 * programming errors.
 */
export function defineSchema(...rows: readonly Schema[]): Schema {
  const keys = rows.flat();
  const taken = new Set<string>();
  for (const path of keys.flatMap((key) => [
    key.path,
    ...(key.aliases ?? []),
    ...(key.secret === true ? [`${key.path}_file`] : []),
  ])) {
    assert(!taken.has(path), `${path} is declared once`);
    taken.add(path);
  }
  for (const key of keys)
    assert(
      !sections(key.path).some((section) => taken.has(section)),
      `no section of ${key.path} is itself a key`,
    );
  return keys;
}

/** The sections of a path: `a.b.c` → `a`, `a.b`. */
export function sections(path: string): string[] {
  const parts = path.split(".");
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join("."));
}

/** The environment form of a path: `gateway.listen` → `STEWARD_GATEWAY__LISTEN`. */
export function variableOf(path: string): string {
  return `STEWARD_${path.toUpperCase().replaceAll(".", "__")}`;
}

/** The path that a `STEWARD_` variable sets. */
export function pathOf(variable: string): string {
  return variable
    .replace(/^STEWARD_/, "")
    .replaceAll("__", ".")
    .toLowerCase();
}
