/**
 * The policy file: last change, size, number of entries and how permissive it is. Parsed only when
 * it changed.
 */
import { defineOperation } from "../capability/operation.ts";
import {
  aclAutoapprovers,
  aclLastChanged,
  aclMetrics,
  aclPostureGatedRules,
  aclRules,
  aclSize,
  aclSshWildcard,
  aclUnrestrictedRules,
  aclWildcardRules,
} from "../catalogue/acl.ts";
import { aclRiskyRuleRecord, aclValidationIssueRecord } from "../catalogue/records.ts";
import type { Policy } from "../providers/model.ts";
import { parsePolicy } from "./acl/policy-document.ts";
import { policySections, summarizePolicy } from "./acl/policy-summary.ts";
import type { PolicySummary, SectionRisk } from "./acl/policy-summary.ts";
import { validatePolicy, validatePolicyOperation } from "./acl/validation.ts";
import { defineCollector } from "./collector.ts";
import type { CollectorDeps, Tick } from "./collector.ts";
import { defineSection, flag } from "./section.ts";
import { unixSeconds } from "./units.ts";

const getPolicy = defineOperation("getPolicyFile");

export const aclSection = defineSection("acl", {
  collects: "the access policy",
  intervalSeconds: 600,
  fields: {
    validate: flag(
      true,
      "Has the control plane validate and test the policy. This is the only call that is not a GET.",
    ),
  },
  // Validation would send the policy.
  forPreflight: (options) => ({ ...options, validate: false }),
});

export const acl = defineCollector({
  section: aclSection,
  description: "The policy file, its size and its risks",
  needs: "policy",
  scopes: [["policy_file:read"]],
  operations: [getPolicy, validatePolicyOperation],
  emits: aclMetrics,
  records: [aclRiskyRuleRecord, aclValidationIssueRecord],
  open: (deps, { validate }) => {
    const validates = validate && deps.provider.supports("validatePolicy");
    let last: Seen | undefined;
    return async (tick) => {
      const policy = await readPolicy(deps, tick);
      if (policy === undefined) {
        last = undefined;
        deps.accessPolicy?.clear();
        return showNone(tick);
      }
      last = await parseIfChanged(policy, last, { ...tick, accessPolicy: deps.accessPolicy });
      tick.sweep.gauge(aclLastChanged, unixSeconds(policy.updatedMs ?? last.sinceMs), {});
      tick.sweep.gauge(aclSize, Buffer.byteLength(policy.text), {});
      if (last.summary === undefined) return;
      showSummary(last.summary, deps, tick);
      if (validates && policy.text.trim() !== "") await validatePolicy(policy.text, deps, tick);
    };
  },
});

/** Flows wait for the first answer; a refusal is one, since the next run is too late for them. */
async function readPolicy(
  { provider, accessPolicy }: CollectorDeps,
  tick: Tick,
): Promise<Policy | undefined> {
  try {
    return await tick.call(getPolicy, () => provider.policy(tick.signal));
  } catch (thrown) {
    accessPolicy?.settle();
    throw thrown;
  }
}

/** The policy as last seen by this process. */
interface Seen {
  readonly etag: string;
  /** When this version was first seen. */
  readonly sinceMs: number;
  /** Undefined when it does not parse. */
  readonly summary: PolicySummary | undefined;
}

async function parseIfChanged(
  { etag, text }: Policy,
  last: Seen | undefined,
  {
    nowMs,
    signal,
    accessPolicy,
  }: Pick<Tick, "nowMs" | "signal"> & Pick<CollectorDeps, "accessPolicy">,
): Promise<Seen> {
  if (last?.etag === etag) return last;
  const parsed = parsePolicy(text);
  accessPolicy?.set(text, parsed);
  return { etag, sinceMs: nowMs, summary: parsed && (await summarizePolicy(parsed, signal)) };
}

function showNone(tick: Tick): void {
  tick.observed(getPolicy, "disabled");
  for (const section of policySections)
    tick.sweep.gauge(aclRules, 0, { "vpn.acl.section": section });
}

function showSummary(
  { entries, risks, sshWildcards, autoApprovers }: PolicySummary,
  deps: CollectorDeps,
  tick: Tick,
): void {
  for (const [section, count] of entries)
    tick.sweep.gauge(aclRules, count, { "vpn.acl.section": section });
  for (const risk of risks) showRisk(risk, deps, tick);
  tick.sweep.gauge(aclSshWildcard, sshWildcards, {});
  for (const [kind, count] of Object.entries(autoApprovers))
    tick.sweep.gauge(aclAutoapprovers, count, { "vpn.acl.autoapprover_kind": kind });
}

function showRisk(
  {
    section,
    wildcardSources,
    wildcardDestinations,
    unrestricted,
    postureGated,
    riskyRules,
  }: SectionRisk,
  { scope }: CollectorDeps,
  { sweep }: Tick,
): void {
  const labels = { "vpn.acl.section": section };
  sweep.gauge(aclWildcardRules, wildcardSources, { ...labels, "vpn.acl.position": "src" });
  sweep.gauge(aclWildcardRules, wildcardDestinations, { ...labels, "vpn.acl.position": "dst" });
  sweep.gauge(aclUnrestrictedRules, unrestricted, labels);
  sweep.gauge(aclPostureGatedRules, postureGated, labels);
  for (const rule of riskyRules)
    scope.log(
      aclRiskyRuleRecord,
      `a rule of ${section} lets every source reach every destination: ${rule}`,
      { ...labels, "vpn.acl.rule": rule },
    );
}
