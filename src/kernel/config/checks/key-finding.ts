/** Findings at the location where a key was set. */
import { isDeepStrictEqual } from "node:util";
import type { Config } from "../config.ts";
import type { Complaint, Finding } from "../findings.ts";
import type { Key } from "../key.ts";

/** `under` is appended to the path, e.g. `[0].name`. */
export function atKey(
  config: Config,
  key: Key<unknown>,
  severity: Finding["severity"],
  complaint: Complaint,
  under = "",
): Finding {
  const { line, variable } = { line: undefined, variable: undefined, ...config.source(key) };
  return {
    severity,
    path: `${key.path}${under}`,
    ...complaint,
    ...(line === undefined ? {} : { line }),
    ...(variable === undefined ? {} : { variable }),
  };
}

/**
 * Whether it was set to something other than its default. A template that spells out defaults
 * changes nothing.
 */
export function isChanged(config: Config, key: Key<unknown>): boolean {
  return isWritten(config, key) && !isDeepStrictEqual(config.get(key), key.default);
}

/** Whether it was set. */
export function isWritten(config: Config, key: Key<unknown>): boolean {
  return config.source(key).from !== "default";
}
