/** What the monitor says of a policy: how much is in it, and how open it is. */
import { eachGivingWay } from "../give-way.ts";
import { field, isPolicyObject, sizeOf } from "./policy-document.ts";
import type { PolicyObject } from "./policy-document.ts";
import { riskOf, ruleText } from "./rule-risk.ts";

/** Sections whose entries are counted. */
export const policySections = [
  "acls",
  "grants",
  "ssh",
  "tests",
  "postures",
  "autoApprovers",
  "tagOwners",
  "hosts",
  "groups",
  "nodeAttrs",
] as const;
/** Those that say who reaches what. */
type RuleSection = "acls" | "grants";

/** Rules kept by their text: with more of them one learns nothing from the next. */
const MOST_RISKY_RULES = 100;
const LONGEST_RULE = 2_048;

/** How open a section is. Rules that deny count only among the gated. */
export interface SectionRisk {
  readonly section: RuleSection;
  readonly wildcardSources: number;
  readonly wildcardDestinations: number;
  readonly unrestricted: number;
  readonly postureGated: number;
  /** Texts of the unrestricted ones, at most 100. */
  readonly riskyRules: readonly string[];
}

/** A policy in numbers. */
export interface PolicySummary {
  /** Entries of the sections that are there. */
  readonly entries: ReadonlyMap<string, number>;
  /** Of the sections that are there and are lists. */
  readonly risks: readonly SectionRisk[];
  /** Rules of `ssh` with a wildcard on either side, whatever they do. */
  readonly sshWildcards: number;
  readonly autoApprovers: Readonly<Record<"routes" | "exit_node" | "services", number>>;
}

/** Reads a policy, giving way to other work; rejects with the signal's reason in between. */
export async function summarizePolicy(
  policy: PolicyObject,
  signal: AbortSignal,
): Promise<PolicySummary> {
  const risks: SectionRisk[] = [];
  for (const section of ["acls", "grants"] as const) {
    const rules = field(policy, section);
    if (Array.isArray(rules)) risks.push(await sectionRisk(section, rules, signal));
  }
  const approvers = field(policy, "autoApprovers");
  return {
    entries: entriesOf(policy),
    risks,
    sshWildcards: await sshWildcards(field(policy, "ssh"), signal),
    autoApprovers: approversOf(isPolicyObject(approvers) ? approvers : {}),
  };
}

function entriesOf(policy: PolicyObject): ReadonlyMap<string, number> {
  return new Map(
    policySections.flatMap((section) => {
      const size = sizeOf(field(policy, section));
      return size === undefined ? [] : [[section, size] as const];
    }),
  );
}

async function sectionRisk(
  section: RuleSection,
  rules: readonly unknown[],
  signal: AbortSignal,
): Promise<SectionRisk> {
  const counts = { wildcardSources: 0, wildcardDestinations: 0, unrestricted: 0, postureGated: 0 };
  const riskyRules: string[] = [];
  await eachGivingWay(rules, signal, (rule) => {
    const { wildcardSource, wildcardDestination, allows, postureGated } = riskOf(rule);
    counts.postureGated += Number(postureGated);
    if (!allows) return;
    counts.wildcardSources += Number(wildcardSource);
    counts.wildcardDestinations += Number(wildcardDestination);
    if (!wildcardSource || !wildcardDestination) return;
    counts.unrestricted += 1;
    if (riskyRules.length < MOST_RISKY_RULES) riskyRules.push(ruleText(rule, LONGEST_RULE));
  });
  return { section, ...counts, riskyRules };
}

async function sshWildcards(rules: unknown, signal: AbortSignal): Promise<number> {
  let count = 0;
  await eachGivingWay<unknown>(Array.isArray(rules) ? rules : [], signal, (rule) => {
    const { wildcardSource, wildcardDestination } = riskOf(rule);
    count += Number(wildcardSource || wildcardDestination);
  });
  return count;
}

function approversOf(approvers: PolicyObject): PolicySummary["autoApprovers"] {
  const size = (name: string): number => sizeOf(field(approvers, name)) ?? 0;
  return { routes: size("routes"), exit_node: size("exitNode"), services: size("services") };
}
