/**
 * Checks the `buf.validate` rules of a message, with one validator for every surface; findings use
 * JSON names, plain numbers and the texts of enum values.
 */
import type { DescField, DescMessage, MessageShape } from "@bufbuild/protobuf";
import { createValidator, type Violation } from "@bufbuild/protovalidate";
import { StewardError, type Detail } from "../base/errors.ts";
import { createIssues, type JsonPath } from "./issues.ts";
import { enumTexts, jsonName } from "./style.ts";

/**
 * The only one of the process, since it caches compiled rules: those of a message with the first
 * request that has one. All of them would be a tenth of the CPU time of a start.
 */
const rules = createValidator();

/**
 * Violations of the message, nothing when it is valid. Throws `internal` when a rule itself is
 * broken.
 */
export function checkRules<D extends DescMessage>(
  schema: D,
  message: MessageShape<D>,
): readonly Detail[] {
  const result = rules.validate(schema, message);
  if (result.kind === "valid") return [];
  if (result.kind === "error")
    throw new StewardError("internal", `the rules of ${schema.typeName} cannot be evaluated`, {
      cause: result.error,
    });
  const issues = createIssues();
  for (const violation of result.violations)
    issues.add(pathOf(violation), describeViolation(violation), "invalid_value", violation.ruleId);
  return issues.found;
}

function pathOf(violation: Violation): JsonPath {
  return violation.field.map((part) => {
    switch (part.kind) {
      case "field":
        return jsonName(part);
      case "list_sub":
        return part.index;
      case "map_sub":
        return typeof part.key === "number" ? part.key : String(part.key);
      default:
        return part.name;
    }
  });
}

function describeViolation(violation: Violation): string {
  const field = violation.field.findLast((part): part is DescField => part.kind === "field");
  if (field?.enum !== undefined && violation.ruleId.startsWith("enum."))
    return `must be one of ${[...enumTexts(field.enum).numbers.keys()].join(", ")}`;
  for (const [library, words] of PLAIN_WORDS) {
    if (library.test(violation.message)) return violation.message.replace(library, words);
  }
  return violation.message;
}

/** Rewrites the library's messages. Messages of our own rules match none and stay unchanged. */
const PLAIN_WORDS: readonly (readonly [RegExp, string])[] = [
  [
    /^must be greater than or equal to (\S+) and less than or equal to (\S+)$/,
    "must be between $1 and $2",
  ],
  [/^must be greater than or equal to (\S+)$/, "must be at least $1"],
  [/^must be less than or equal to (\S+)$/, "must be at most $1"],
  [/^must be at least 1 characters$/, "must be given and not empty"],
  [/^must be at least (\d+) characters$/, "must have at least $1 characters"],
  [/^must be at most (\d+) characters$/, "must have at most $1 characters"],
  [/^must contain at least 1 item\(s\)$/, "must hold at least one value"],
  [/^must contain at least (\d+) item\(s\)$/, "must hold at least $1 values"],
  [/^must contain no more than (\d+) item\(s\)$/, "must hold at most $1 values"],
  [/^(repeated value must contain|must contain) unique items$/, "must not contain a value twice"],
  [/^value is required$/, "must be given"],
  [/^must be in list \[(.*)\]$/, "must be one of $1"],
  [/^value is empty, which is not (.*)$/, "must be $1"],
];
