/**
 * How a path is declared: `definePath({ pattern, fields, operations, … })`, checked when the module
 * is loaded.
 */
import { assert } from "../../kernel/base/errors.ts";
import { kindsOf } from "./fields.ts";
import { compilePattern } from "./pattern.ts";
import type { Path, PathHandler } from "./types.ts";

/** A path as it is written. */
export interface PathSpec extends Omit<Path, "unknown" | "operations"> {
  /** Default: `refuse`. */
  readonly unknown?: Path["unknown"];
  /** `write` stands for `create` and `update`. */
  readonly operations: Path["operations"] & { readonly write?: PathHandler };
}

/**
 * Fills in what goes without saying. Throws an assertion when pattern, fields and rules do not fit
 * together.
 */
export function definePath(spec: PathSpec): Path {
  const { write, ...single } = spec.operations;
  const operations = write === undefined ? single : { create: write, update: write, ...single };
  assert(Object.keys(operations).length > 0, `the path ${spec.pattern} has an operation`);
  const kinds = kindsOf(spec.fields, spec.coerce);
  for (const pattern of [spec.pattern, ...(spec.also ?? [])]) {
    for (const name of compilePattern(pattern).variables)
      assert(
        kinds.get(name) === "text",
        `the variable ${name} of ${pattern} is a text field of ${spec.fields.typeName}`,
      );
  }
  return { ...spec, unknown: spec.unknown ?? "refuse", operations };
}
