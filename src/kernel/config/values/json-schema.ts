/**
 * JSON Schema of configuration values, as a YAML file holds them: a number or a boolean is as good
 * as its text.
 */
/** Draft 7, which editors know best. */
export type JsonSchema = Readonly<Record<string, unknown>>;

export const SCALARS = ["string", "number", "boolean"] as const;
export const SIZE_PATTERN = "^[0-9]+(\\.[0-9]+)? ?[A-Za-z]*$";

/** What the schema of a file defines once. `unset`: what counts as not given. */
export const definitions = {
  unset: {
    type: ["null", "string", "array", "object"],
    maxLength: 0,
    maxItems: 0,
    maxProperties: 0,
  },
  text: { type: SCALARS },
  boolean: {
    type: SCALARS,
    minimum: 0,
    maximum: 1,
    pattern: "^([Tt][Rr][Uu][Ee]|[Ff][Aa][Ll][Ss][Ee]|[Yy][Ee][Ss]|[Nn][Oo]|[01])$",
  },
  duration: {
    type: ["string", "number"],
    maximum: 0,
    pattern: "^(0|([0-9]+(\\.[0-9]+)?(ns|us|µs|ms|s|m|h|d))+)$",
  },
  size: { type: ["string", "number"], minimum: 0, pattern: SIZE_PATTERN },
  address: { type: "string", pattern: ":[0-9]{1,5}$" },
  path: { type: SCALARS, pattern: "^[^~]" },
} as const satisfies Readonly<Record<string, JsonSchema>>;

export function definedAs(name: keyof typeof definitions): JsonSchema {
  return { $ref: `#/definitions/${name}` };
}

/** A number, or its text. */
export function numeric(rules: {
  readonly minimum?: number;
  readonly maximum?: number;
  readonly pattern: string;
}): JsonSchema {
  return { type: ["string", "number"], ...rules };
}

/** A value that may be left empty, with its sentence. */
export function optionalValue(
  accepts: JsonSchema,
  { help, default: usual }: { readonly help: string; readonly default: unknown },
): JsonSchema {
  return {
    description: help,
    ...(usual === undefined || usual === "" ? {} : { default: usual }),
    anyOf: [accepts, definedAs("unset")],
  };
}

/** The property that names the file of a secret. */
export function secretFileProperty(name: string, help: string): [string, JsonSchema] {
  return [
    name,
    optionalValue(definedAs("text"), { help: `A file that holds it: ${help}`, default: undefined }),
  ];
}
