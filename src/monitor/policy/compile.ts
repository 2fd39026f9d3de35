/** Turns the rules of an access policy into clauses that can be compared with connections. */
import {
  field,
  isPolicyObject,
  sizeOf,
  type PolicyObject,
} from "../collectors/acl/policy-document.ts";
import { ruleText } from "../collectors/acl/rule-risk.ts";
import { anyOf, MAYBE, type Certainty } from "./certainty.ts";
import { portRanges, protocolNumbers, type PortRule } from "./ports.ts";
import {
  createSelectors,
  type DestinationSelector,
  type PolicyEnd,
  type PolicyNames,
  type Selectors,
} from "./selectors.ts";

/**
 * A rule as it is shown. Indexes count `acls` first, then `grants`; without both sections the only
 * rule is the default one.
 */
export interface PolicyRule {
  readonly index: number;
  readonly kind: "acl" | "grant";
  /** One line. */
  readonly source: string;
}

export interface CompiledPolicy {
  readonly rules: readonly PolicyRule[];
  /** By the index of the rule. */
  readonly sources: readonly ((end: PolicyEnd) => Certainty)[];
  readonly clauses: readonly Clause[];
}

/** One destination of a rule. */
interface Clause {
  readonly rule: number;
  readonly destination: DestinationSelector;
  readonly ports: readonly PortRule[];
  /** A condition that Steward does not know, e.g. a posture: at most `MAYBE`. */
  readonly isConditional: boolean;
}

export const MAX_RULES = 1_000;
const MAX_CLAUSES = 4_000;
const MAX_SELECTORS = 10_000;
const MAX_SOURCE = 512;

/** The control planes apply it to a policy without both sections; an empty section permits nothing. */
const ALLOW_ALL = { action: "accept", src: ["*"], dst: ["*:*"] };

/** Undefined when it has more than 1,000 rules, 4,000 destinations or 10,000 sources. */
export function compilePolicy(policy: PolicyObject): CompiledPolicy | undefined {
  const selectors = createSelectors(namesOf(policy));
  const postured = isSomething(field(policy, "defaultSrcPosture"));
  const rules: PolicyRule[] = [];
  const sources: CompiledPolicy["sources"][number][] = [];
  const clauses: Clause[] = [];
  let selected = 0;
  for (const { kind, list } of sectionsOf(policy)) {
    for (const rule of list) {
      if (rules.length >= MAX_RULES || clauses.length > MAX_CLAUSES || selected > MAX_SELECTORS)
        return undefined;
      const index = rules.length;
      rules.push({ index, kind, source: ruleText(rule, MAX_SOURCE) });
      const from = sourcesOf(rule).map((text) => selectors.source(text));
      selected += from.length;
      sources.push((end) => anyOf(from, (matches) => matches(end)));
      if (!isPolicyObject(rule)) continue;
      const isConditional =
        postured || isSomething(field(rule, "srcPosture")) || isSomething(field(rule, "via"));
      const made = kind === "acl" ? aclClauses(rule, selectors) : grantClauses(rule, selectors);
      for (const clause of made) clauses.push({ ...clause, rule: index, isConditional });
    }
  }
  return clauses.length > MAX_CLAUSES || selected > MAX_SELECTORS
    ? undefined
    : { rules, sources, clauses };
}

function sectionsOf(
  policy: PolicyObject,
): readonly { readonly kind: PolicyRule["kind"]; readonly list: readonly unknown[] }[] {
  const [acls, grants] = [field(policy, "acls") ?? undefined, field(policy, "grants") ?? undefined];
  if (acls === undefined && grants === undefined) return [{ kind: "acl", list: [ALLOW_ALL] }];
  return [
    { kind: "acl", list: Array.isArray(acls) ? acls : [] },
    { kind: "grant", list: Array.isArray(grants) ? grants : [] },
  ];
}

type Unplaced = Pick<Clause, "destination" | "ports">;

/** Destinations are `host:ports`. */
function aclClauses(rule: PolicyObject, selectors: Selectors): readonly Unplaced[] {
  if (field(rule, "action") !== "accept") return [];
  const proto = field(rule, "proto");
  const protocols = typeof proto === "string" && proto !== "" ? protocolNumbers(proto) : undefined;
  const isUnknown = typeof proto === "string" && proto !== "" && protocols === undefined;
  return texts(field(rule, "dst") ?? field(rule, "ports")).map((text) => {
    const colon = text.lastIndexOf(":");
    const parsed = portRanges(text.slice(colon + 1));
    if (colon < 0 || parsed === undefined || isUnknown) return uncertain;
    const host = text.slice(0, colon).replace(/^\[(.*)\]$/, "$1");
    return {
      destination: selectors.destination(host),
      ports: [{ protocols, ranges: parsed.ranges }],
    };
  });
}

const uncertain: Unplaced = {
  destination: () => MAYBE,
  ports: [{ protocols: undefined, ranges: undefined }],
};

/** A grant without `ip` gives no access to the network. */
function grantClauses(rule: PolicyObject, selectors: Selectors): readonly Unplaced[] {
  const capabilities = texts(field(rule, "ip")).map(capability);
  const known = capabilities.filter((each) => each !== undefined);
  if (capabilities.length === 0) return [];
  return texts(field(rule, "dst")).map((text) =>
    known.length < capabilities.length
      ? uncertain
      : { destination: selectors.destination(text), ports: known },
  );
}

/** `*`, `443`, `80-90`, `tcp:443` or `icmp:*`; undefined for other text. */
function capability(text: string): PortRule | undefined {
  const colon = text.indexOf(":");
  const parsed = portRanges(text.slice(colon + 1));
  if (parsed === undefined) return undefined;
  if (colon < 0) return { protocols: undefined, ranges: parsed.ranges };
  const protocols = protocolNumbers(text.slice(0, colon));
  return protocols && { protocols, ranges: parsed.ranges };
}

function sourcesOf(rule: unknown): readonly string[] {
  return isPolicyObject(rule) ? texts(field(rule, "src") ?? field(rule, "users")) : [];
}

function namesOf(policy: PolicyObject): PolicyNames {
  const groups = field(policy, "groups");
  const hosts = field(policy, "hosts");
  return {
    groups: new Map(
      Object.entries(isPolicyObject(groups) ? groups : {}).map(([name, list]) => [
        name,
        texts(list),
      ]),
    ),
    hosts: new Map(
      Object.entries(isPolicyObject(hosts) ? hosts : {}).flatMap(([name, address]) =>
        typeof address === "string" ? [[name, address] as const] : [],
      ),
    ),
  };
}

function texts(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  return Array.isArray(value)
    ? value.filter((each): each is string => typeof each === "string")
    : [];
}

function isSomething(value: unknown): boolean {
  if (value === undefined || value === null || value === "") return false;
  return sizeOf(value) !== 0;
}
