/** The configuration file as JSON Schema, for editors that complete and check YAML by it. */
import { type Key, type Schema } from "./key.ts";
import {
  definedAs,
  definitions,
  optionalValue,
  secretFileProperty,
  type JsonSchema,
} from "./values/json-schema.ts";

/** What the schema refuses, `-validate` refuses; `-validate` also knows the rules between keys. */
export function fileSchema(schema: Schema): JsonSchema {
  const properties = new Map(schema.flatMap(propertiesOf));
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: "Steward's configuration",
    ...groupOf("", properties),
    definitions,
  };
}

/** By path. */
function propertiesOf(key: Key<unknown>): [string, JsonSchema][] {
  const { path, type, aliases = [] } = key;
  const isShown =
    key.default !== undefined &&
    key.defaultFrom === undefined &&
    key.secret !== true &&
    type.fields === undefined &&
    type.isMap !== true;
  const usual = isShown ? type.show(key.default) : undefined;
  return [
    [path, optionalValue(type.accepts, { help: key.help, default: usual })],
    ...aliases.map((alias): [string, JsonSchema] => [
      alias,
      optionalValue(type.accepts, { help: `Another name of ${path}.`, default: undefined }),
    ]),
    ...(key.secret === true ? [secretFileProperty(`${path}_file`, key.help)] : []),
  ];
}

function groupOf(prefix: string, properties: ReadonlyMap<string, JsonSchema>): JsonSchema {
  const names = new Set<string>();
  for (const path of properties.keys())
    if (path.startsWith(prefix)) names.add(path.slice(prefix.length).split(".")[0] ?? "");
  return {
    type: "object",
    additionalProperties: false,
    properties: Object.fromEntries(
      [...names].toSorted().map((name) => {
        const path = `${prefix}${name}`;
        const known = properties.get(path);
        return [name, known ?? { anyOf: [groupOf(`${path}.`, properties), definedAs("unset")] }];
      }),
    ),
  };
}
