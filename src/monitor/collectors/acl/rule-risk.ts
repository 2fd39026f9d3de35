/** How permissive a single policy rule is. */
import { field, isPolicyObject, sizeOf } from "./policy-document.ts";

export interface RuleRisk {
  readonly wildcardSource: boolean;
  readonly wildcardDestination: boolean;
  /** Whether the rule grants access; a deny rule is never permissive. */
  readonly allows: boolean;
  /** Whether the rule requires a device posture. */
  readonly postureGated: boolean;
}

/** Analyses a rule of `acls`, `grants` or `ssh`. A malformed rule counts as closed. */
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

/** Sources and destinations of a rule on one line of at most `longest` characters. */
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

/** `*`, or `*` before the last colon (the ports follow it). */
function isWildcardDestination(destination: string): boolean {
  const colon = destination.lastIndexOf(":");
  return (colon < 0 ? destination : destination.slice(0, colon)) === "*";
}

function isSomething(value: unknown): boolean {
  if (value === undefined || value === null || value === "") return false;
  return sizeOf(value) !== 0;
}
