/** Findings about a key that is there: they say where it was written. */
import { isDeepStrictEqual } from "node:util";
import type { Config } from "./config.ts";
import type { Complaint, Finding } from "./findings.ts";
import type { Key } from "./key.ts";

/** A finding at the place the key was written; `under` is added to its path, e.g. `[0].name`. */
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
 * Whether somebody wrote something else than its default. A template that spells out defaults says
 * nothing by it.
 */
export function isChanged(config: Config, key: Key<unknown>): boolean {
  return isWritten(config, key) && !isDeepStrictEqual(config.get(key), key.default);
}

/** Whether somebody wrote it. */
export function isWritten(config: Config, key: Key<unknown>): boolean {
  return config.source(key).from !== "default";
}
