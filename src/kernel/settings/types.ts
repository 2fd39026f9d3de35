/**
 * The shapes of run-time settings: configuration that the API may change while the process runs.
 */
import type { Complaint } from "../config/findings.ts";
import type { Key } from "../config/key.ts";

/** Reads settings; a key that is not in the schema is our own mistake. */
export type ReadSetting = <T>(key: Key<T>) => T;

/** A rule over several settings of a scope, judged on the whole as it would be after a change. */
export interface SettingsCheck {
  readonly scope: string;
  /** What is broken; `key` is the one to point at. */
  run(get: ReadSetting): readonly (Complaint & { readonly key: Key<unknown> })[];
}

/** What a change did, in names relative to its scope, sorted. */
export interface SettingsChange {
  /** Settings whose value is another one now. */
  readonly changed: readonly string[];
  /**
   * What only the operator may set: keys of the operator, and keys that the file or the environment
   * sets.
   */
  readonly ignored: readonly string[];
}

/**
 * Configuration that changes while the process runs: default < stored setting < file < environment.
 */
export interface Settings {
  get: ReadSetting;
  /** The run-time settings below a scope, e.g. `dedup.analysis`, by their names relative to it. */
  all(scope: string): Readonly<Record<string, unknown>>;
  /** Whether the file or the environment sets the key, so that no change reaches it. */
  pinned(key: Key<unknown>): boolean;
  /**
   * Stores values as a JSON body has them, by names relative to the scope; `null` goes back to the
   * default. All of it or nothing. Throws `invalid` with every wrong name and value; the whole is
   * judged as it would be afterwards.
   */
  change(scope: string, patch: Readonly<Record<string, unknown>>): Promise<SettingsChange>;
  /**
   * Calls after each change below the scope, once it is durable and in effect, with the names that
   * changed.
   */
  watch(scope: string, seen: (changed: readonly string[]) => void): Disposable;
}
