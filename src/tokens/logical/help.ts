/** Response to `?help=1`: text in Vault's layout, and the path's OpenAPI. */
import { comments } from "../../gen/comments.ts";
import { kindsOf } from "./fields.ts";
import type { Path } from "./types.ts";

const TYPE_NAMES: Readonly<Record<string, string>> = {
  text: "string",
  integer: "int",
  boolean: "bool",
  duration: "duration (sec)",
  texts: "slice",
  comma_texts: "slice",
  integers: "slice",
  comma_integers: "slice",
  pairs: "keypair",
  any: "map",
};

/** Help of a whole backend. */
export function backendHelp(help: string, paths: readonly Path[]): string {
  const rows = paths
    .flatMap((path) =>
      [path.pattern, ...(path.also ?? [])].map((pattern) => [pattern, path.synopsis] as const),
    )
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  return (
    `## DESCRIPTION\n\n${help.trim()}\n\n## PATHS\n\nThe following paths are supported by this backend. To view help for\n` +
    `any of the paths below, use the help command with any route matching\nthe path pattern. Note that depending on the policy of your auth token,\n` +
    `you may or may not be able to access certain paths.\n\n${rows.map(([pattern, synopsis]) => `    ${pattern}\n        ${synopsis}\n`).join("\n")}`
  );
}

/** Help of one path. */
export function pathHelp(request: string, path: Path): string {
  const fields = [...kindsOf(path.fields, path.coerce)].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const rows = fields.map(
    ([name, kind]) =>
      `    ${name} (${TYPE_NAMES[kind] ?? kind})\n\n        ${fieldHelp(path, name)}\n`,
  );
  return (
    `Request:        ${request}\nMatching Route: ${path.pattern}\n\n${path.synopsis}\n\n` +
    `${rows.length === 0 ? "" : `## PARAMETERS\n\n${rows.join("\n")}\n`}## DESCRIPTION\n\n${path.description.trim()}\n`
  );
}

/** The field's comment in its proto file. */
export function fieldHelp(path: Path, name: string): string {
  return comments[`${path.fields.typeName}.${name}`] ?? "";
}
