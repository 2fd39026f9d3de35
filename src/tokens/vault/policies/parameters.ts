/** Parameter constraints of a rule. Values are compared as sent, without type conversion. */
import { withoutEnd } from "../../../kernel/base/text/ends.ts";
import { isRawNumber, numberText } from "../../logical/json.ts";
import type { Data } from "../../logical/types.ts";

/** Values by parameter name, lower case; no values at all stand for every value. */
export type ParameterLists = ReadonlyMap<string, readonly unknown[]>;

/** The parameters of one rule. */
export interface ParameterRules {
  readonly required: readonly string[];
  readonly denied: ParameterLists | undefined;
  readonly allowed: ParameterLists | undefined;
}

/** Whether the parameters of a request are within a rule. */
export function parametersAllowed(rules: ParameterRules, data: Data): boolean {
  for (const name of rules.required) if (!Object.hasOwn(data, name)) return false;
  const names = Object.keys(data);
  if (names.length === 0) return true;
  return !someDenied(rules.denied, data, names) && allAllowed(rules.allowed, data, names);
}

/** Two rules for the same path together: lists grow, "every value" beats values. */
export function joinLists(
  left: ParameterLists | undefined,
  right: ParameterLists | undefined,
): ParameterLists | undefined {
  if (left === undefined || right === undefined) return left ?? right;
  const joined = new Map(left);
  for (const [name, values] of right) {
    const before = joined.get(name);
    if (before === undefined) joined.set(name, values);
    else joined.set(name, values.length === 0 || before.length === 0 ? [] : [...before, ...values]);
  }
  return joined;
}

function someDenied(
  denied: ParameterLists | undefined,
  data: Data,
  names: readonly string[],
): boolean {
  if (denied === undefined || denied.size === 0) return false;
  if (denied.has("*")) return true;
  return names.some((name) => {
    const values = denied.get(name.toLowerCase());
    return values !== undefined && isAmong(data[name], values);
  });
}

function allAllowed(
  allowed: ParameterLists | undefined,
  data: Data,
  names: readonly string[],
): boolean {
  if (allowed === undefined || allowed.size === 0) return true;
  const others = allowed.has("*");
  return names.every((name) => {
    const values = allowed.get(name.toLowerCase());
    return values === undefined ? others : isAmong(data[name], values);
  });
}

function isAmong(value: unknown, values: readonly unknown[]): boolean {
  return (
    values.length === 0 ||
    values.some((one) =>
      typeof one === "string" && typeof value === "string"
        ? matchesGlob(one, value)
        : isSame(one, value),
    )
  );
}

/** Texts with `*` at either end or both; elsewhere it is a star. */
export function matchesGlob(glob: string, text: string): boolean {
  if (glob === "*") return true;
  const open = glob.startsWith("*");
  const openEnd = glob.endsWith("*");
  const middle = glob.slice(open ? 1 : 0, openEnd ? -1 : undefined);
  if (open && openEnd) return text.includes(middle);
  if (open) return text.endsWith(middle);
  return openEnd ? text.startsWith(middle) : glob === text;
}

function isSame(left: unknown, right: unknown): boolean {
  const digits = numberText(left);
  if (digits !== undefined) {
    const others = numberText(right);
    return others !== undefined && canonical(digits) === canonical(others);
  }
  if (
    typeof left !== "object" ||
    left === null ||
    typeof right !== "object" ||
    right === null ||
    isRawNumber(right)
  )
    return left === right;
  if (Array.isArray(left) || Array.isArray(right)) {
    return (
      Array.isArray(left) &&
      Array.isArray(right) &&
      left.length === right.length &&
      left.every((item, index) => isSame(item, right[index]))
    );
  }
  const names = Object.keys(left);
  return (
    names.length === Object.keys(right).length &&
    names.every(
      (name) => Object.hasOwn(right, name) && isSame((left as Data)[name], (right as Data)[name]),
    )
  );
}

/** One text for all spellings of a number: `5`, `5.0` and `50e-1` are the same. */
function canonical(number: string): string {
  const found = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(number);
  if (found === null) return number;
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = found;
  const digits = (whole + fraction).replace(/^0+/, "");
  const kept = withoutEnd(digits, "0");
  return kept === ""
    ? "0"
    : `${sign}${kept}e${Number(exponent) - fraction.length + digits.length - kept.length}`;
}
