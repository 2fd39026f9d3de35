/** Checks a value against as much of JSON Schema as our own schemas use. */
import type { JsonSchema } from "../../../gateway/describe/json-schema.ts";

/**
 * Where the value is not what the schema says; empty when it is. Members that the schema does not
 * name count too.
 */
export function mismatches(
  value: unknown,
  schema: JsonSchema,
  resolve: (reference: string) => JsonSchema,
  path = "$",
): readonly string[] {
  if (schema.$ref !== undefined) return mismatches(value, resolve(schema.$ref), resolve, path);
  const choices = schema["anyOf"] as readonly JsonSchema[] | undefined;
  if (choices !== undefined)
    return choices.some((each) => mismatches(value, each, resolve, path).length === 0)
      ? []
      : mismatches(value, choices[0] ?? {}, resolve, path);
  const types = [schema.type ?? []].flat();
  if (types.length > 0 && !types.some((type) => isOf(value, type)))
    return [`${path} is ${JSON.stringify(value)?.slice(0, 50)}, not ${types.join(" or ")}`];
  if (schema.enum !== undefined && !schema.enum.includes(value as string))
    return [`${path} is ${JSON.stringify(value)}, not one of ${schema.enum.join(", ")}`];
  if (Array.isArray(value))
    return value.flatMap((each, index) =>
      mismatches(each, schema.items ?? {}, resolve, `${path}[${index}]`),
    );
  if (typeof value !== "object" || value === null || schema.type === undefined) return [];
  const { properties = {}, additionalProperties } = schema;
  return Object.entries(value).flatMap(([name, each]) => {
    const known =
      properties[name] ??
      (typeof additionalProperties === "object"
        ? additionalProperties
        : additionalProperties === true
          ? {}
          : undefined);
    return known === undefined
      ? [`${path}.${name} is not declared`]
      : mismatches(each, known, resolve, `${path}.${name}`);
  });
}

function isOf(value: unknown, type: string): boolean {
  switch (type) {
    case "null":
      return value === null;
    case "integer":
      return Number.isSafeInteger(value);
    case "array":
      return Array.isArray(value);
    case "object":
      return typeof value === "object" && value !== null && !Array.isArray(value);
    default:
      return typeof value === type;
  }
}
