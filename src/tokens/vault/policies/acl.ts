/**
 * The union of some policies, compiled for quick answers. Of all rules that match a path only the
 * best one counts: an exact path, else the rule whose first wildcard comes latest, that is no glob,
 * has fewer `+`, is longer, comes later in the alphabet. That order depends on the rules alone, so
 * they are sorted once and the first that matches is the best.
 */
import type { Data, Operation } from "../../logical/types.ts";
import type { Acl, AclRules, Capability, Decision, WrapLimits } from "../types.ts";
import { capabilityNames, DENY, neededFor, SUDO, type CapabilitySet } from "./capabilities.ts";
import { joinLists, parametersAllowed, type ParameterRules } from "./parameters.ts";
import type { PathRule } from "./policy-text.ts";

/** A policy as rules. */
export interface CompiledPolicy {
  readonly name: string;
  readonly rules: readonly PathRule[];
}

/** What all policies together say about one written path. */
interface Rule {
  readonly path: string;
  capabilities: CapabilitySet;
  minWrapMs: number;
  maxWrapMs: number;
  parameters: ParameterRules;
  /** Which policy grants what. */
  readonly grants: { readonly name: string; readonly capabilities: CapabilitySet }[];
}

/** A rule with wildcards. */
interface OpenRule {
  readonly rule: Rule;
  /** Without the final `*`. */
  readonly stem: string;
  readonly glob: boolean;
  /** Undefined when no segment is `+`. */
  readonly segments: readonly string[] | undefined;
  readonly firstWildcard: number;
  readonly pluses: number;
}

const REFUSED: Decision = { allowed: false, granting: [], wrap: {}, root: false };
const HELP: Decision = { allowed: true, granting: [], wrap: {}, root: false };
const ROOT: Decision = { allowed: true, granting: ["root"], wrap: {}, root: true };

/** Everything is allowed. */
export const rootAcl: Acl = {
  check: () => ROOT,
  capabilities: () => ["root"],
  anyBelow: () => true,
  rules: () => ({ exact: new Map(), glob: new Map() }),
};

/** Compiles policies; rules that ended by `nowMs` are left out. */
export function compileAcl(policies: readonly CompiledPolicy[], nowMs: number): Acl {
  return new CompiledAcl(joinRules(policies, nowMs));
}

class CompiledAcl implements Acl {
  readonly #exact = new Map<string, Rule>();
  readonly #open: readonly OpenRule[];

  constructor(rules: Iterable<Rule>) {
    const open: OpenRule[] = [];
    for (const rule of rules) {
      const opened = openRule(rule);
      if (opened === undefined) this.#exact.set(rule.path, rule);
      else open.push(opened);
    }
    this.#open = open.toSorted(bestFirst);
  }

  check({
    operation,
    path,
    data,
    sudo,
  }: {
    readonly operation: Operation;
    readonly path: string;
    readonly data: Data;
    readonly sudo: boolean;
  }): Decision {
    const needed = neededFor(operation);
    if (needed === undefined) return HELP;
    const rule = this.#find(path, operation === "list");
    if (rule === undefined || (rule.capabilities & needed) === 0) return REFUSED;
    if (sudo && (rule.capabilities & SUDO) === 0) return REFUSED;
    const { minWrapMs, maxWrapMs } = rule;
    // Merging can leave bounds that nothing satisfies.
    if (minWrapMs > 0 && maxWrapMs > 0 && maxWrapMs < minWrapMs) return REFUSED;
    if (operation !== "list" && operation !== "delete" && !parametersAllowed(rule.parameters, data))
      return REFUSED;
    return { allowed: true, granting: grantingOf(rule, needed), wrap: wrapOf(rule), root: false };
  }

  capabilities(path: string): readonly Capability[] {
    return capabilityNames(this.#find(path, true)?.capabilities ?? 0);
  }

  anyBelow(prefix: string): boolean {
    const grants = ({ capabilities }: Rule): boolean =>
      capabilities !== 0 && (capabilities & DENY) === 0;
    for (const rule of this.#exact.values())
      if (rule.path.startsWith(prefix) && grants(rule)) return true;
    const covering = this.#open.find(
      (open) => open.segments === undefined && prefix.startsWith(open.stem),
    );
    if (covering !== undefined && grants(covering.rule)) return true;
    return this.#open.some(
      (open) =>
        grants(open.rule) &&
        (open.segments === undefined
          ? open.stem.startsWith(prefix)
          : reachesBelow(open, open.segments, prefix)),
    );
  }

  rules(): AclRules {
    const exact = Array.from(
      this.#exact,
      ([path, { capabilities }]) => [path, capabilityNames(capabilities)] as const,
    );
    const glob = this.#open.map(
      ({ rule, stem, segments }) =>
        [segments === undefined ? stem : rule.path, capabilityNames(rule.capabilities)] as const,
    );
    return { exact: new Map(exact), glob: new Map(glob) };
  }

  #find(written: string, list: boolean): Rule | undefined {
    const path = written.startsWith("/") ? written.replace(/^\/+/, "") : written;
    const exact = this.#exact.get(path);
    if (exact !== undefined) return exact;
    if (!list || !path.endsWith("/")) return this.#findOpen(path);
    const bare = path.slice(0, -1);
    return this.#exact.get(bare) ?? this.#findOpen(bare) ?? this.#findOpen(path);
  }

  #findOpen(path: string): Rule | undefined {
    let parts: readonly string[] | undefined;
    for (const { rule, stem, glob, segments } of this.#open) {
      if (
        segments === undefined
          ? path.startsWith(stem)
          : matches(segments, glob, (parts ??= path.split("/")))
      )
        return rule;
    }
    return undefined;
  }
}

function joinRules(policies: readonly CompiledPolicy[], nowMs: number): Iterable<Rule> {
  const rules = new Map<string, Rule>();
  for (const { name, rules: written } of policies) {
    for (const one of written) {
      if (one.expiresAtMs !== undefined && one.expiresAtMs <= nowMs) continue;
      const grant = { name, capabilities: one.capabilities };
      const before = rules.get(one.path);
      if (before === undefined) rules.set(one.path, { ...one, grants: [grant] });
      else join(before, one, grant);
    }
  }
  return rules.values();
}

function join(rule: Rule, other: PathRule, grant: Rule["grants"][number]): void {
  if ((rule.capabilities & DENY) !== 0) return;
  if ((other.capabilities & DENY) !== 0) {
    rule.capabilities = DENY;
    return;
  }
  rule.capabilities |= other.capabilities;
  rule.grants.push(grant);
  rule.minWrapMs = shorter(rule.minWrapMs, other.minWrapMs);
  rule.maxWrapMs = shorter(rule.maxWrapMs, other.maxWrapMs);
  const { required, denied, allowed } = rule.parameters;
  rule.parameters = {
    required: [...new Set([...required, ...other.parameters.required])],
    denied: joinLists(denied, other.parameters.denied),
    allowed: joinLists(allowed, other.parameters.allowed),
  };
}

/** The smaller bound of the two there are. */
function shorter(left: number, right: number): number {
  return left === 0 || right === 0 ? left + right : Math.min(left, right);
}

function openRule(rule: Rule): OpenRule | undefined {
  const { path } = rule;
  const glob = path.endsWith("*");
  const stem = glob ? path.slice(0, -1) : path;
  if (path === "+" || path.startsWith("+/") || path.includes("/+")) {
    const segments = stem.split("/");
    return {
      rule,
      stem,
      glob,
      segments,
      firstWildcard: path.indexOf("+"),
      pluses: segments.filter((segment) => segment === "+").length,
    };
  }
  return glob
    ? { rule, stem, glob, segments: undefined, firstWildcard: stem.length, pluses: 0 }
    : undefined;
}

function bestFirst(a: OpenRule, b: OpenRule): number {
  if (a.firstWildcard !== b.firstWildcard) return b.firstWildcard - a.firstWildcard;
  if (a.glob !== b.glob) return a.glob ? 1 : -1;
  if (a.pluses !== b.pluses) return a.pluses - b.pluses;
  if (a.stem.length !== b.stem.length) return b.stem.length - a.stem.length;
  return a.stem < b.stem ? 1 : a.stem > b.stem ? -1 : 0;
}

function matches(segments: readonly string[], glob: boolean, parts: readonly string[]): boolean {
  if (glob ? parts.length < segments.length : parts.length !== segments.length) return false;
  const last = segments.length - 1;
  return segments.every(
    (segment, index) =>
      segment === "+" ||
      segment === parts[index] ||
      (glob && index === last && (parts[index] ?? "").startsWith(segment)),
  );
}

// Whether a pattern could match some path that begins with the prefix.
function reachesBelow({ glob }: OpenRule, segments: readonly string[], prefix: string): boolean {
  const parts = prefix.split("/");
  const partial = parts.pop() ?? "";
  const last = segments.length - 1;
  const fits = parts.every((part, index) => {
    const segment = segments[index];
    if (segment === undefined || index > last) return glob;
    return (
      segment === "+" || segment === part || (glob && index === last && part.startsWith(segment))
    );
  });
  if (!fits) return false;
  const next = segments[parts.length];
  if (next === undefined) return glob;
  return (
    next === "+" ||
    next.startsWith(partial) ||
    (glob && parts.length === last && partial.startsWith(next))
  );
}

function grantingOf(rule: Rule, needed: CapabilitySet): readonly string[] {
  return [
    ...new Set(
      rule.grants
        .filter(({ capabilities }) => (capabilities & needed) !== 0)
        .map(({ name }) => name),
    ),
  ];
}

function wrapOf({ minWrapMs, maxWrapMs }: Rule): WrapLimits {
  return {
    ...(minWrapMs > 0 ? { minMs: minWrapMs } : {}),
    ...(maxWrapMs > 0 ? { maxMs: maxWrapMs } : {}),
  };
}
