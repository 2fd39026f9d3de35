/**
 * What `tokens.mounts` sets of a mount, beside what `PATH/tune` sets. A setting that the file has
 * wins, so a request cannot change it; one that it leaves out belongs to the requests.
 */
import { StewardError } from "../../../kernel/base/errors.ts";

/** What both can set. An empty description and a TTL of 0 are left out. */
interface Settings {
  readonly description: string;
  readonly defaultLeaseTtlMs: number;
  readonly maxLeaseTtlMs: number;
}

/** The settings by the names that requests and the file use. */
const NAMES = {
  description: "description",
  defaultLeaseTtlMs: "default_lease_ttl",
  maxLeaseTtlMs: "max_lease_ttl",
} as const satisfies Readonly<Record<keyof Settings, string>>;

const KEYS = Object.keys(NAMES) as readonly (keyof Settings)[];

/** Throws `invalid` for a change to another value than the file sets: the next start would undo it. */
export function assertTunable(
  point: string,
  declared: Settings | undefined,
  change: Partial<Settings>,
): void {
  if (declared === undefined) return;
  const key = KEYS.find(
    (name) =>
      isSet(declared, name) && change[name] !== undefined && change[name] !== declared[name],
  );
  if (key === undefined) return;
  throw new StewardError(
    "invalid",
    `${NAMES[key]} of ${point} is set by tokens.mounts in the configuration file, which wins at every start; change it there and restart`,
    { field: NAMES[key], rule: "declared" },
  );
}

/**
 * The stored settings with the file's in their place; undefined if they are the same. A default TTL
 * above the maximum is cut to it: one of the two may have been set before the file had the other,
 * which must not prevent a start.
 */
export function withDeclared(
  stored: Settings,
  declared: Settings,
  system: { readonly maxLeaseTtlMs: number },
): Settings | undefined {
  const [description, defaultLeaseTtlMs, maxLeaseTtlMs] = [
    declared.description === "" ? stored.description : declared.description,
    declared.defaultLeaseTtlMs === 0 ? stored.defaultLeaseTtlMs : declared.defaultLeaseTtlMs,
    declared.maxLeaseTtlMs === 0 ? stored.maxLeaseTtlMs : declared.maxLeaseTtlMs,
  ];
  const limitMs = maxLeaseTtlMs === 0 ? system.maxLeaseTtlMs : maxLeaseTtlMs;
  const settings: Settings = {
    description,
    defaultLeaseTtlMs: Math.min(defaultLeaseTtlMs, limitMs),
    maxLeaseTtlMs,
  };
  return KEYS.every((key) => settings[key] === stored[key]) ? undefined : settings;
}

function isSet(settings: Settings, key: keyof Settings): boolean {
  return settings[key] !== "" && settings[key] !== 0;
}
