/**
 * All secrets of a configuration, wherever they stand, so that their values can be kept out of
 * lines.
 */
import { Secret } from "../base/secret.ts";
import type { Config } from "./config.ts";
import type { Environment, Schema } from "./key.ts";
import { holdsSecret } from "./redact.ts";
import { secretSource } from "./types.ts";

/**
 * The secrets among the values of a schema: of keys, of entries of maps and of fields in lists of
 * objects.
 */
export function configuredSecrets(config: Config, schema: Schema): Secret[] {
  return secretsAmong(schema.map((key) => config.get(key)));
}

/**
 * Credentials of the machine, which the library that reads buckets finds in these variables by
 * itself.
 */
const AMBIENT: readonly string[] = [
  "AWS_ACCESS_KEY_ID",
  "AWS_SECRET_ACCESS_KEY",
  "AWS_SESSION_TOKEN",
  "AWS_CONTAINER_AUTHORIZATION_TOKEN",
];

/** Secrets that the process was given without a key of the configuration. */
export function ambientSecrets(environment: Environment): Secret[] {
  return AMBIENT.flatMap((name) => {
    const value = environment[name];
    return value === undefined || value === "" ? [] : [Secret.of(value, name)];
  });
}

/**
 * Whether a value, or what it holds, is a secret that stands there itself instead of in a file of
 * its own, or an address with a password.
 */
export function holdsWrittenSecret(value: unknown): boolean {
  if (secretsAmong(value).some((each) => secretSource(each) === "value")) return true;
  return textsAmong(value).some(holdsSecret);
}

function textsAmong(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null || value instanceof Secret) return [];
  return [...(value instanceof Map ? value.values() : Object.values(value))].flatMap(textsAmong);
}

// Values are what the loader made: no deeper than a file may be nested, and without cycles.
function secretsAmong(value: unknown): Secret[] {
  if (value instanceof Secret) return [value];
  if (typeof value !== "object" || value === null) return [];
  const inside: Iterable<unknown> = value instanceof Map ? value.values() : Object.values(value);
  return [...inside].flatMap(secretsAmong);
}
