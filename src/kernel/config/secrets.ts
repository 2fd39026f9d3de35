/** All secrets of a configuration, wherever they stand, so that their values can be kept out of lines. */
import { Secret } from "../base/secret.ts";
import type { Config } from "./config.ts";
import type { Schema } from "./key.ts";

/** The secrets among the values of a schema: of keys, of entries of maps and of fields in lists of objects. */
export function configuredSecrets(config: Config, schema: Schema): Secret[] {
  return secretsAmong(schema.map((key) => config.get(key)));
}

// Values are what the loader made: no deeper than a file may be nested, and without cycles.
function secretsAmong(value: unknown): Secret[] {
  if (value instanceof Secret) return [value];
  if (typeof value !== "object" || value === null) return [];
  const inside: Iterable<unknown> = value instanceof Map ? value.values() : Object.values(value);
  return [...inside].flatMap(secretsAmong);
}
