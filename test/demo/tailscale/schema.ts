/** Holds values against the part of JSON Schema that the vendor's document uses. */

type Schema = Readonly<Record<string, any>>;

/** A document with `components.schemas` and `paths`. */
export interface SpecDocument {
  readonly components: Readonly<Record<string, Schema>>;
  readonly paths: Readonly<Record<string, Readonly<Record<string, any>>>>;
}

const RFC_3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/;

/**
 * What is wrong, as `path: what`; empty when the value fits. Members that the schema does not name
 * are wrong, unless it says otherwise.
 */
export function violations(
  value: unknown,
  schema: Schema,
  document: SpecDocument,
  path = "$",
): string[] {
  if (typeof schema["$ref"] === "string")
    return violations(value, resolve(schema["$ref"], document), document, path);
  const wrong: string[] = [];
  for (const part of schema["allOf"] ?? []) wrong.push(...violations(value, part, document, path));
  const choice = schema["anyOf"] ?? schema["oneOf"];
  if (
    choice !== undefined &&
    !choice.some((part: Schema) => violations(value, part, document, path).length === 0)
  )
    wrong.push(`${path}: none of the choices`);
  if (
    schema["type"] !== undefined &&
    ![schema["type"]].flat().some((type: string) => isOf(value, type))
  )
    return [...wrong, `${path}: ${typeof value} instead of ${schema["type"]}`];
  if (schema["enum"] !== undefined && !schema["enum"].includes(value))
    wrong.push(`${path}: ${String(value)} is not in the enum`);
  if (typeof value === "string") wrong.push(...textViolations(value, schema, path));
  if (
    typeof value === "number" &&
    (value < (schema["minimum"] ?? -Infinity) || value > (schema["maximum"] ?? Infinity))
  )
    wrong.push(`${path}: ${value} is out of bounds`);
  if (Array.isArray(value) && schema["items"] !== undefined)
    for (const [index, item] of value.entries())
      wrong.push(...violations(item, schema["items"], document, `${path}[${index}]`));
  if (value !== null && typeof value === "object" && !Array.isArray(value))
    wrong.push(...memberViolations(value, schema, document, path));
  return wrong;
}

function textViolations(value: string, schema: Schema, path: string): string[] {
  if (schema["format"] === "date-time" && !RFC_3339.test(value))
    return [`${path}: "${value}" is no time`];
  return schema["pattern"] !== undefined && !new RegExp(schema["pattern"]).test(value)
    ? [`${path}: "${value}" does not fit the pattern`]
    : [];
}

function memberViolations(
  value: object,
  schema: Schema,
  document: SpecDocument,
  path: string,
): string[] {
  const { properties = {}, required = [], additionalProperties } = schema;
  const missing = (required as string[])
    .filter((name) => !(name in value))
    .map((name) => `${path}.${name}: missing`);
  const inner = Object.entries(value).flatMap(([name, member]) => {
    if (name in properties)
      return violations(member, properties[name], document, `${path}.${name}`);
    if (additionalProperties !== null && typeof additionalProperties === "object")
      return violations(member, additionalProperties, document, `${path}.${name}`);
    return schema["properties"] === undefined || additionalProperties === true
      ? []
      : [`${path}.${name}: unknown`];
  });
  return [...missing, ...inner];
}

function isOf(value: unknown, type: string): boolean {
  switch (type) {
    case "null":
      return value === null;
    case "array":
      return Array.isArray(value);
    case "object":
      return value !== null && typeof value === "object" && !Array.isArray(value);
    case "integer":
      return Number.isInteger(value);
    default:
      return typeof value === type;
  }
}

function resolve(reference: string, document: SpecDocument): Schema {
  return reference
    .replace(/^#\//, "")
    .split("/")
    .reduce<any>((node, key) => node[key.replaceAll("~1", "/")], document) as Schema;
}
