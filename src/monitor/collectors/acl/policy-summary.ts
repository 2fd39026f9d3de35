/** Statistics of a policy: entries per section and how permissive its rules are. */
import { forEachYielding } from "../yielding.ts";
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
/** Sections with access rules. */
type RuleSection = "acls" | "grants";

/** Unrestricted rules whose text is kept. */
const MAX_RISKY_RULES = 100;
const MAX_RULE_LENGTH = 2_048;

/** How permissive a section is. Deny rules count only as posture-gated. */
export interface SectionRisk {
  readonly section: RuleSection;
  readonly wildcardSources: number;
  readonly wildcardDestinations: number;
  readonly unrestricted: number;
  readonly postureGated: number;
  /** Texts of unrestricted rules, at most 100. */
  readonly riskyRules: readonly string[];
}

export interface PolicySummary {
  /** By section; absent sections are left out. */
  readonly entries: ReadonlyMap<string, number>;
  /** Only for sections that are arrays. */
  readonly risks: readonly SectionRisk[];
  /** Rules of `ssh` with a wildcard as source or destination, whatever their action. */
  readonly sshWildcards: number;
  readonly autoApprovers: Readonly<Record<"routes" | "exit_node" | "services", number>>;
}

/** Yields to the event loop; rejects with the signal's reason. */
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
  await forEachYielding(rules, signal, (rule) => {
    const { wildcardSource, wildcardDestination, allows, postureGated } = riskOf(rule);
    counts.postureGated += Number(postureGated);
    if (!allows) return;
    counts.wildcardSources += Number(wildcardSource);
    counts.wildcardDestinations += Number(wildcardDestination);
    if (!wildcardSource || !wildcardDestination) return;
    counts.unrestricted += 1;
    if (riskyRules.length < MAX_RISKY_RULES) riskyRules.push(ruleText(rule, MAX_RULE_LENGTH));
  });
  return { section, ...counts, riskyRules };
}

async function sshWildcards(rules: unknown, signal: AbortSignal): Promise<number> {
  let count = 0;
  await forEachYielding<unknown>(Array.isArray(rules) ? rules : [], signal, (rule) => {
    const { wildcardSource, wildcardDestination } = riskOf(rule);
    count += Number(wildcardSource || wildcardDestination);
  });
  return count;
}

function approversOf(approvers: PolicyObject): PolicySummary["autoApprovers"] {
  const size = (name: string): number => sizeOf(field(approvers, name)) ?? 0;
  return { routes: size("routes"), exit_node: size("exitNode"), services: size("services") };
}
