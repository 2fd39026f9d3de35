/** Settings of a mount as requests bring them: times, and which settings are followed at all. */
import { StewardError } from "../../../kernel/base/errors.ts";
import { parseGoDurationMs } from "../../logical/go-values.ts";
import type { Data } from "../../logical/types.ts";

const EMPTY: ReadonlySet<unknown> = new Set([undefined, null, false, "", 0]);
/** Values of other settings that say what is so anyway. */
const IN_FORCE: Data = { listing_visibility: "hidden", token_type: "default-service" };
const MAX_NAMES = 20;
const MAX_NAME_LENGTH = 64;

/** Clients send every setting that they know, most of them empty. */
export function isEmpty(value: unknown): boolean {
  return (
    EMPTY.has(value) ||
    (typeof value === "object" && value !== null && Object.keys(value).length === 0)
  );
}

/**
 * Throws `invalid` when `data` sets something that is not in `followed`: an operator who limits the
 * type of tokens or opens an audit key must not believe that it was done. Empty values and those
 * that are in force pass.
 */
export function assertFollowed(data: Data, followed: readonly string[], inForce: Data = {}): void {
  const known: Data = { ...IN_FORCE, ...inForce };
  const names = Object.keys(data).filter(
    (name) =>
      !followed.includes(name) &&
      !isEmpty(data[name]) &&
      !(Object.hasOwn(known, name) && known[name] === data[name]),
  );
  if (names.length === 0) return;
  const shown = names
    .map((name) => name.slice(0, MAX_NAME_LENGTH))
    .toSorted()
    .slice(0, MAX_NAMES)
    .join(", ");
  throw new StewardError(
    "invalid",
    `a mount has no setting ${shown}; leave it out (${followed.filter((name) => name !== "path").join(", ")} can be set)`,
    { field: names[0] ?? "", rule: "setting" },
  );
}

/** The `config` member of a request. Throws `invalid` for anything but an object. */
export function configData(value: unknown): Data {
  if (value === undefined || value === null) return {};
  if (typeof value !== "object" || Array.isArray(value))
    throw new StewardError("invalid", "config must be an object", { field: "config" });
  return value as Data;
}

/**
 * Milliseconds of a lease time; undefined where it stays as it is. 0 is for the system's, which
 * clients may name; they send an empty text for what they leave as it is.
 */
export function ttl(config: Data, name: string): number | undefined {
  const value = config[name];
  if (value === undefined || value === null || value === "") return undefined;
  if (value === "system") return 0;
  if (typeof value !== "string" && typeof value !== "number")
    throw new StewardError("invalid", `${name} must be a duration such as 1h or 3600`, {
      field: name,
    });
  try {
    return parseGoDurationMs(String(value));
  } catch {
    throw new StewardError(
      "invalid",
      `${name} must be a duration such as 1h or 3600, got ${JSON.stringify(String(value).slice(0, 40))}`,
      { field: name },
    );
  }
}
