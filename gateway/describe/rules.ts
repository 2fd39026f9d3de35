/** Converts `buf.validate` rules to JSON Schema keywords where there is an equivalent. */
import { getOption, hasOption, type DescField } from "@bufbuild/protobuf";
import {
  field as fieldRules,
  type FieldRules,
} from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { fieldStyleOf } from "../../src/kernel/wire/style.ts";

/** Schema keywords; integers as numbers. */
export type RuleValues = Readonly<Record<string, unknown>>;

/** The rules of a field, empty without any; also what only REST refuses. */
export function rulesOf(field: DescField): RuleValues {
  if (field.proto.options === undefined || !hasOption(field, fieldRules)) return {};
  const filled = fieldStyleOf(field).notEmpty ? { minItems: 1 } : {};
  return { ...ruleValuesOf(getOption(field, fieldRules).type), ...filled };
}

/**
 * Whether a request without the field is refused: it is required, or its default violates its
 * rules.
 */
export function isRequired(field: DescField): boolean {
  if (field.proto.options === undefined || !hasOption(field, fieldRules)) return false;
  const { required, type } = getOption(field, fieldRules);
  if (required || field.proto.proto3Optional) return required;
  if (type.case === "enum") return type.value.notIn.includes(0);
  const words = ruleValuesOf(type);
  const { minimum } = words;
  return (
    words["minLength"] !== undefined ||
    words["minItems"] !== undefined ||
    (typeof minimum === "number" && minimum > 0)
  );
}

function ruleValuesOf(rules: FieldRules["type"]): RuleValues {
  switch (rules.case) {
    case undefined:
    case "enum":
    case "bool":
    case "bytes":
    case "any":
    case "duration":
    case "timestamp":
    case "fieldMask":
      return {};
    case "string": {
      const { len, minLen, maxLen, pattern } = rules.value;
      return given({
        minLength: size(minLen) ?? size(len),
        maxLength: size(maxLen) ?? size(len),
        pattern: pattern === "" ? undefined : pattern,
      });
    }
    case "repeated": {
      const { minItems, maxItems, unique } = rules.value;
      return given({
        minItems: size(minItems),
        maxItems: size(maxItems),
        uniqueItems: unique ? true : undefined,
      });
    }
    case "map":
      return given({
        minProperties: size(rules.value.minPairs),
        maxProperties: size(rules.value.maxPairs),
      });
    default: {
      const { lessThan, greaterThan } = rules.value;
      return given({
        minimum: bound(greaterThan, "gte"),
        exclusiveMinimum: bound(greaterThan, "gt"),
        maximum: bound(lessThan, "lte"),
        exclusiveMaximum: bound(lessThan, "lt"),
      });
    }
  }
}

function bound(
  rule: { case: string | undefined; value?: number | bigint | undefined },
  name: string,
): number | undefined {
  return rule.case === name && rule.value !== undefined ? Number(rule.value) : undefined;
}

// An unset limit reads as zero; an explicit zero needs no keyword.
function size(value: bigint): number | undefined {
  return value === 0n ? undefined : Number(value);
}

function given(words: Record<string, unknown>): RuleValues {
  return Object.fromEntries(Object.entries(words).filter(([, value]) => value !== undefined));
}
