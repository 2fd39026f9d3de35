/**
 * Maps, e.g. `otlp.headers` and `resource.attributes`: names chosen by the operator, one value
 * each.
 */
import type { Secret } from "../../base/secret.ts";
import type { SourceLocation } from "../findings.ts";
import { SCALARS } from "./json-schema.ts";
import { describeKind, type Raw } from "./raw.ts";
import { chooseSecret, FILE_ENDING } from "./secret-file.ts";
import { writeSecret } from "./written.ts";
import {
  secret,
  secretSource,
  text,
  type Complain,
  type KeyType,
  type ReadContext,
  type ShownPart,
} from "./types.ts";

const MAX_NAME_LENGTH = 256;

/**
 * A map of at most `limit` secrets. In the file a group of names, in the environment one variable
 * each (`STEWARD_OTLP__HEADERS__X_ORG`, name in lower case), or all as `name=value,name=value` with
 * `%2C` for a comma. A name ending in `_file` names the file of the value.
 */
export function mapOfSecrets(options: {
  readonly limit: number;
}): KeyType<ReadonlyMap<string, Secret>> {
  return {
    ...mapOf({
      ...options,
      item: secret,
      inFiles: true,
      mayBeEmpty: false,
      part: (held) => ({ secret: secretSource(held) }),
    }),
    isMapOfSecrets: true,
  };
}

/** A map of at most `limit` texts; written like `mapOfSecrets`, without files. */
export function mapOfTexts(options: {
  readonly limit: number;
}): KeyType<ReadonlyMap<string, string>> {
  return mapOf({
    ...options,
    item: text,
    inFiles: false,
    mayBeEmpty: true,
    part: (value) => ({ value }),
  });
}

interface MapOptions<T> {
  readonly limit: number;
  readonly item: KeyType<T>;
  /** Whether a name ending in `_file` names the file of its value. */
  readonly inFiles: boolean;
  /** Whether `name: ""` is an entry rather than unset. */
  readonly mayBeEmpty: boolean;
  /** How one value is shown. */
  part(value: T): Omit<ShownPart, "under">;
}

function mapOf<T>(options: MapOptions<T>): KeyType<ReadonlyMap<string, T>> {
  return {
    expects: "names with one value each",
    accepts: {
      type: ["object", "string"],
      additionalProperties: { type: [...SCALARS, "null"] },
      propertyNames: { minLength: 1, maxLength: MAX_NAME_LENGTH },
      maxProperties: options.limit,
    },
    fileOnly: false,
    holds: "group",
    isMap: true,
    read(raw, complain, context) {
      const entries =
        raw.kind === "map"
          ? raw.entries
          : raw.kind === "text"
            ? splitPairs(raw, complain)
            : complain(
                { rule: `must be names with one value each, got ${describeKind(raw)}` },
                raw.location,
              );
      if (entries === undefined) return undefined;
      if (entries.size > options.limit)
        return complain(
          { rule: `must have at most ${options.limit} entries, got ${entries.size}` },
          raw.location,
        );
      return readEntries(entries, options, complain, context);
    },
    show: (value) => [...value.keys()],
    write: (value) => ({
      entries: [...value].flatMap(([name, held]) =>
        options.inFiles ? writeSecret(name, held) : [{ name, value: options.item.show(held) }],
      ),
    }),
    parts: (value) =>
      [...value]
        .toSorted(([left], [right]) => (left < right ? -1 : 1))
        .map(([name, held]) => ({ under: `.${name}`, ...options.part(held) })),
  };
}

function readEntries<T>(
  written: ReadonlyMap<string, Raw>,
  { item, inFiles, mayBeEmpty }: MapOptions<T>,
  complain: Complain,
  context: ReadContext,
): ReadonlyMap<string, T> | undefined {
  const values = new Map<string, T>();
  const entries = new Map(
    [...written].filter(
      ([, raw]) => raw.kind !== "nothing" && (raw.kind !== "text" || raw.text !== "" || mayBeEmpty),
    ),
  );
  const names = new Set(
    [...entries.keys()].map((name) =>
      inFiles && name.endsWith(FILE_ENDING) ? name.slice(0, -FILE_ENDING.length) : name,
    ),
  );
  for (const name of names) {
    const file = inFiles ? entries.get(`${name}${FILE_ENDING}`) : undefined;
    const under: Complain = (complaint, location, more = "") =>
      complain(complaint, location, `.${name}${more}`);
    if (name === "" || name.length > MAX_NAME_LENGTH)
      return complain(
        { rule: `must have names of 1 to ${MAX_NAME_LENGTH} characters` },
        (entries.get(name) ?? file)?.location ?? {},
      );
    const chosen = chooseSecret(entries.get(name), file, under, context);
    const value = chosen === undefined ? undefined : item.read(chosen, under, context);
    if (value !== undefined) values.set(name, value);
  }
  return values.size === names.size ? values : undefined;
}

/**
 * Parses `a=1,b=2` as in OpenTelemetry's variables: values percent-encoded. No part of the text may
 * appear in a message.
 */
function splitPairs(
  raw: Raw & { readonly kind: "text" },
  complain: Complain,
): ReadonlyMap<string, Raw> | undefined {
  const entries = new Map<string, Raw>();
  for (const pair of raw.text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "")) {
    const cut = pair.indexOf("=");
    const value = cut > 0 ? decode(pair.slice(cut + 1).trim()) : undefined;
    if (value === undefined)
      return complain({ rule: "must be written name=value,name=value" }, raw.location);
    entries.set(pair.slice(0, cut).trim(), withText(value, raw.location, raw.readFrom));
  }
  return entries;
}

function withText(text: string, location: SourceLocation, readFrom: string | undefined): Raw {
  return {
    kind: "text",
    text,
    location,
    ...(readFrom === undefined ? {} : { readFrom, isPart: true }),
  };
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
