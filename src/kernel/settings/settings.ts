/**
 * Run-time settings in a table: validated with the configuration's types, durable before they take
 * effect, then announced.
 */
import { assert } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { Config } from "../config/config.ts";
import type { Key, Schema } from "../config/key.ts";
import type { Env, Tx } from "../state/types.ts";
import { createIssues, invalidRequest } from "../wire/issues.ts";
import { readPatch, readValue, storedForm, type Patch } from "./patch.ts";
import { settingsTable } from "./table.ts";
import type {
  ReadSetting,
  Settings,
  SettingsChange,
  SettingsCheck,
  SettingsPreview,
} from "./types.ts";

const MAX_WATCHERS = 1000;

/** The environment must contain `settingsTable`. */
export interface SettingsDeps {
  readonly env: Env;
  readonly config: Config;
  readonly log: Log;
}

export interface SettingsOptions {
  /** All configuration keys; those with owner `runtime` can be changed. */
  readonly schema: Schema;
  readonly checks?: readonly SettingsCheck[];
}

/**
 * Loads the stored settings. A stored value that this version rejects is kept, logged and treated
 * as unset.
 */
export function createSettings(deps: SettingsDeps, options: SettingsOptions): Settings {
  for (const key of options.schema.filter((candidate) => candidate.owner === "runtime")) {
    assert(
      key.secret !== true && key.type.isMap !== true && !key.type.fileOnly,
      `${key.path} can be changed while the process runs: it is no secret, map or list of objects`,
    );
  }
  return new StoredSettings(deps, options);
}

interface Watcher {
  readonly scope: string;
  readonly seen: (changed: readonly string[]) => void;
}

class StoredSettings implements Settings {
  readonly #deps: SettingsDeps;
  readonly #schema: Schema;
  readonly #checks: readonly SettingsCheck[];
  /** Valid stored values, by path. */
  readonly #stored: Map<string, unknown>;
  readonly #watchers = new Set<Watcher>();

  constructor(deps: SettingsDeps, { schema, checks }: SettingsOptions) {
    this.#deps = deps;
    this.#schema = schema;
    this.#checks = checks ?? [];
    this.#stored = deps.env.read((snapshot) =>
      readStored([...snapshot.range(settingsTable)], schema, deps.log),
    );
  }

  get = <T>(key: Key<T>): T => this.#over(this.#stored)(key);

  pinned(key: Key<unknown>): boolean {
    return this.#deps.config.source(key).from !== "default";
  }

  all(scope: string): Readonly<Record<string, unknown>> {
    return Object.fromEntries(
      this.#below(scope).map((key) => [nameIn(scope, key.path), this.get(key)]),
    );
  }

  async change(scope: string, patch: Readonly<Record<string, unknown>>): Promise<SettingsChange> {
    const read = this.#read(scope, patch);
    if (read.values.size === 0) return { changed: [], ignored: read.ignored };
    const changed = await this.#deps.env.write((tx) => this.#apply(tx, scope, read));
    return {
      changed: changed.map((key) => nameIn(scope, key.path)).toSorted(),
      ignored: read.ignored,
    };
  }

  preview(scope: string, patch: Readonly<Record<string, unknown>>): SettingsPreview {
    const { values, ignored } = this.#read(scope, patch);
    const merged = new Map(this.#stored);
    for (const [path, row] of values) {
      if (row === undefined) merged.delete(path);
      else merged.set(path, row.value);
    }
    this.#judge(scope, merged);
    const get = this.#over(merged);
    const changed = this.#changed(scope, this.get, get);
    return { get, changed: changed.map((key) => nameIn(scope, key.path)).toSorted(), ignored };
  }

  watch(scope: string, seen: (changed: readonly string[]) => void): Disposable {
    assert(this.#watchers.size < MAX_WATCHERS, `settings have at most ${MAX_WATCHERS} watchers`);
    const watcher = { scope, seen };
    this.#watchers.add(watcher);
    return { [Symbol.dispose]: () => void this.#watchers.delete(watcher) };
  }

  /** Validates the whole as seen by the transaction, since another change may have come first. */
  #apply(tx: Tx, scope: string, { values }: Patch): readonly Key<unknown>[] {
    const before = readStored([...tx.range(settingsTable)], this.#schema);
    const merged = new Map(before);
    for (const [path, row] of values) {
      if (row === undefined) {
        merged.delete(path);
        tx.delete(settingsTable, path);
      } else {
        merged.set(path, row.value);
        tx.put(settingsTable, path, storedForm(row.key, row.value));
      }
    }
    this.#judge(scope, merged);
    const changed = this.#changed(scope, this.#over(before), this.#over(merged));
    tx.after(() => this.#land(values, changed));
    return changed;
  }

  #read(scope: string, patch: Readonly<Record<string, unknown>>): Patch {
    return readPatch(
      scope,
      patch,
      this.#schema,
      (key) => key.owner !== "runtime" || this.pinned(key),
      createIssues(),
    );
  }

  #changed(scope: string, before: ReadSetting, after: ReadSetting): readonly Key<unknown>[] {
    return this.#below(scope).filter((key) => !same(key, before(key), after(key)));
  }

  #judge(scope: string, merged: ReadonlyMap<string, unknown>): void {
    const issues = createIssues();
    for (const check of this.#checks) {
      if (!overlaps(check.scope, scope)) continue;
      for (const { key, rule, remedy } of check.run(this.#over(merged))) {
        issues.add(
          [nameIn(scope, key.path)],
          remedy === undefined ? rule : `${rule}; ${remedy}`,
          "invalid_value",
        );
      }
    }
    if (issues.found.length > 0) throw invalidRequest(issues.found);
  }

  #land(values: Patch["values"], changed: readonly Key<unknown>[]): void {
    for (const [path, row] of values) {
      if (row === undefined) this.#stored.delete(path);
      else this.#stored.set(path, row.value);
    }
    for (const { scope, seen } of this.#watchers) {
      const names = changed
        .filter((key) => key.path.startsWith(`${scope}.`))
        .map((key) => nameIn(scope, key.path))
        .toSorted();
      if (names.length === 0) continue;
      try {
        seen(names);
      } catch (error) {
        this.#deps.log.error("a watcher of settings failed", { scope, error });
      }
    }
  }

  #below(scope: string): Schema {
    return this.#schema.filter(
      (key) => key.owner === "runtime" && key.path.startsWith(`${scope}.`),
    );
  }

  /** Reads through stored values; file and environment take precedence. */
  #over(stored: ReadonlyMap<string, unknown>): ReadSetting {
    return <T>(key: Key<T>): T =>
      stored.has(key.path) && !this.pinned(key)
        ? (stored.get(key.path) as T)
        : this.#deps.config.get(key);
  }
}

function readStored(
  rows: readonly (readonly [path: string, value: unknown])[],
  schema: Schema,
  log?: Log,
): Map<string, unknown> {
  const stored = new Map<string, unknown>();
  for (const [path, given] of rows) {
    const key = schema.find(
      (candidate) => candidate.path === path && candidate.owner === "runtime",
    );
    // A setting of another version is kept for a downgrade or upgrade.
    if (key === undefined) continue;
    const value = readValue(key, given, (text) =>
      log?.warn("a stored setting is invalid and is ignored", { setting: path, reason: text }),
    );
    if (value !== undefined) stored.set(path, value);
  }
  return stored;
}

function same(key: Key<unknown>, left: unknown, right: unknown): boolean {
  return (
    left === right ||
    (left !== undefined &&
      right !== undefined &&
      JSON.stringify(storedForm(key, left)) === JSON.stringify(storedForm(key, right)))
  );
}

function overlaps(left: string, right: string): boolean {
  return `${left}.`.startsWith(`${right}.`) || `${right}.`.startsWith(`${left}.`);
}

function nameIn(scope: string, path: string): string {
  return path.startsWith(`${scope}.`) ? path.slice(scope.length + 1) : path;
}
