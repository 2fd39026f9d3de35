/** Collects all secrets of a configuration, so that they can be concealed in logs. */
import { Secret } from "../base/secret.ts";
import type { Config } from "./config.ts";
import type { Environment, Schema } from "./key.ts";
import { holdsSecret } from "./redact.ts";
import { secretSource } from "./values/types.ts";

/** The secrets among the values of a schema: of keys, map entries and fields of listed objects. */
export function configuredSecrets(config: Config, schema: Schema): Secret[] {
  return secretsAmong(schema.map((key) => config.get(key)));
}

/** Credentials that the S3 client library reads from these variables itself. */
const AMBIENT: readonly string[] = [
  "AWS_ACCESS_KEY_ID",
  "AWS_SECRET_ACCESS_KEY",
  "AWS_SESSION_TOKEN",
  "AWS_CONTAINER_AUTHORIZATION_TOKEN",
];

/** Secrets in the environment that have no configuration key. */
export function ambientSecrets(environment: Environment): Secret[] {
  return AMBIENT.flatMap((name) => {
    const value = environment[name];
    return value === undefined || value === "" ? [] : [Secret.of(value, name)];
  });
}

/**
 * Whether a value contains a secret written directly instead of in its own file, or a URL with a
 * password.
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

// Values come from the loader: nesting is bounded and there are no cycles.
function secretsAmong(value: unknown): Secret[] {
  if (value instanceof Secret) return [value];
  if (typeof value !== "object" || value === null) return [];
  const inside: Iterable<unknown> = value instanceof Map ? value.values() : Object.values(value);
  return [...inside].flatMap(secretsAmong);
}
