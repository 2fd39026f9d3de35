/** Types of run-time settings: configuration that the API may change while the process runs. */
import type { Complaint } from "../config/findings.ts";
import type { Key } from "../config/key.ts";

/** Reads settings; a key that is not in the schema is a programming error. */
export type ReadSetting = <T>(key: Key<T>) => T;

/** A rule over several settings of a scope, applied to the result of a change. */
export interface SettingsCheck {
  readonly scope: string;
  /** Violations; `key` is the one to report. */
  run(get: ReadSetting): readonly (Complaint & { readonly key: Key<unknown> })[];
}

/** The effect of a change: names relative to its scope, sorted. */
export interface SettingsChange {
  /** Settings whose value changed. */
  readonly changed: readonly string[];
  /**
   * Settings only the operator may set: operator keys, and keys set by the file or the environment.
   */
  readonly ignored: readonly string[];
}

/** What a change would give. */
export interface SettingsPreview extends SettingsChange {
  readonly get: ReadSetting;
}

/**
 * Configuration that changes while the process runs: default < stored setting < file < environment.
 */
export interface Settings {
  get: ReadSetting;
  /** The settings below a scope, e.g. `dedup.analysis`, by their names relative to it. */
  all(scope: string): Readonly<Record<string, unknown>>;
  /** Whether the file or the environment sets the key, so that changes have no effect. */
  pinned(key: Key<unknown>): boolean;
  /**
   * Stores values from a JSON body, by names relative to the scope; `null` resets to the default.
   * Atomic. Throws `invalid` with every unknown name and invalid value; rules see the result of the
   * change.
   */
  change(scope: string, patch: Readonly<Record<string, unknown>>): Promise<SettingsChange>;
  /** What `change` would do, without doing it; throws what it would throw. */
  preview(scope: string, patch: Readonly<Record<string, unknown>>): SettingsPreview;
  /**
   * Called after each change below the scope, once durable and in effect, with the changed names.
   */
  watch(scope: string, seen: (changed: readonly string[]) => void): Disposable;
}
