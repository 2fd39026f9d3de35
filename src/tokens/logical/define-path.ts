/**
 * Declares a path: `definePath({ pattern, fields, operations, … })`, validated when the module
 * loads.
 */
import { assert } from "../../kernel/base/errors.ts";
import { kindsOf } from "./fields.ts";
import { compilePattern } from "./pattern.ts";
import type { Path, PathHandler } from "./types.ts";

export interface PathSpec extends Omit<Path, "unknown" | "operations"> {
  /** Default: `refuse`. */
  readonly unknown?: Path["unknown"];
  /** `write` stands for `create` and `update`. */
  readonly operations: Path["operations"] & { readonly write?: PathHandler };
}

/** Applies defaults. Throws an assertion when pattern, fields and rules are inconsistent. */
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
