/** What one rule of a policy lets through, and whether that is everything. */
import { field, isPolicyObject, sizeOf } from "./policy-document.ts";

/** How widely a rule is open. */
export interface RuleRisk {
  readonly wildcardSource: boolean;
  readonly wildcardDestination: boolean;
  /** It lets something through; one that denies is open to nobody. */
  readonly allows: boolean;
  /** It asks for the posture of its sources, whatever it does with them. */
  readonly postureGated: boolean;
}

/** Looks at a rule of `acls`, `grants` or `ssh`. What is no rule is not open. */
export function riskOf(rule: unknown): RuleRisk {
  if (!isPolicyObject(rule))
    return {
      wildcardSource: false,
      wildcardDestination: false,
      allows: false,
      postureGated: false,
    };
  const action = field(rule, "action");
  return {
    wildcardSource: sources(rule).includes("*"),
    wildcardDestination: destinations(rule).some(isWildcardDestination),
    allows: !(typeof action === "string" && action.toLowerCase() === "deny"),
    postureGated: isSomething(field(rule, "srcPosture")),
  };
}

/** Sources and destinations of a rule as one line of at most `longest` characters. */
export function ruleText(rule: unknown, longest: number): string {
  if (!isPolicyObject(rule)) return "";
  const text = `src=${sources(rule).join(",")} dst=${destinations(rule).join(",")}`;
  return text.length <= longest ? text : `${text.slice(0, longest - 1)}…`;
}

function sources(rule: Readonly<Record<string, unknown>>): readonly string[] {
  return texts(field(rule, "src") ?? field(rule, "users"));
}

function destinations(rule: Readonly<Record<string, unknown>>): readonly string[] {
  return texts(field(rule, "dst") ?? field(rule, "ports"));
}

function texts(list: unknown): readonly string[] {
  if (typeof list === "string") return [list];
  return Array.isArray(list) ? list.filter((each): each is string => typeof each === "string") : [];
}

/** `*`, or `*` before the last colon, behind which ports are. */
function isWildcardDestination(destination: string): boolean {
  const colon = destination.lastIndexOf(":");
  return (colon < 0 ? destination : destination.slice(0, colon)) === "*";
}

function isSomething(value: unknown): boolean {
  if (value === undefined || value === null || value === "") return false;
  return sizeOf(value) !== 0;
}
