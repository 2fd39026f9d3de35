/**
 * The access policy of one network: compares connections with it, and remembers the rules of former
 * versions, so that traffic they permitted can be named.
 */
import { createHash } from "node:crypto";
import { isIP } from "node:net";
import type { PolicyObject } from "../collectors/acl/policy-document.ts";
import type { Endpoint } from "../enrich/addresses.ts";
import type { DeviceCache, KnownDevice } from "../enrich/types.ts";
import { EXIT, PHYSICAL, type Connection } from "../flows/record.ts";
import { anyOf, both, MAYBE, NO, SAME_USER, YES, type Certainty } from "./certainty.ts";
import { compilePolicy, MAX_RULES, type CompiledPolicy, type PolicyRule } from "./compile.ts";
import { matchesPorts } from "./ports.ts";
import { ipv4Number, userKey, type PolicyEnd } from "./selectors.ts";

export interface Judgement {
  /** Empty: not compared. */
  readonly verdict: "" | "permitted" | "no_rule" | "undetermined";
  /** A rule permits it from destination to source: the record has an answer. */
  readonly reversed: boolean;
  /** -1 for none. */
  readonly rule: number;
  /** Empty while not compared. */
  readonly policyVersion: string;
}

const MAX_VERSIONS = 16;
/** Ends remembered, of devices and of others; all of a kind are forgotten when full. */
const MAX_ENDS = 512;
const VERSION_LENGTH = 12;
const NOT_JUDGED: Judgement = {
  verdict: "",
  reversed: false,
  rule: -1,
  policyVersion: "",
};

interface EndMatch {
  readonly device: KnownDevice | undefined;
  readonly end: PolicyEnd;
  /** Undefined for an end that is not remembered. */
  readonly covered: Covered | undefined;
}

/** Which rules cover an end, by index of rule and of clause. */
interface Covered {
  readonly sources: readonly Certainty[];
  readonly destinations: readonly (Certainty | typeof SAME_USER)[];
}

export class AccessPolicy {
  readonly #versions = new Map<string, readonly PolicyRule[]>();
  readonly #ends = new Map<string, EndMatch>();
  readonly #others = new Map<string, EndMatch>();
  /** Ends of no device: most of those never come again. */
  readonly #seenOnce = new Set<string>();
  #compiled: CompiledPolicy | undefined;
  #version = "";
  #isSettled = false;
  readonly #firstAnswer = Promise.withResolvers<void>();
  /** Why it is not compared, or why an older version is. */
  error: string | undefined;

  /** The version that is compared; empty without any. */
  get version(): string {
    return this.#version;
  }

  /** Whether the control plane was asked once, with whatever result. */
  get isSettled(): boolean {
    return this.#isSettled;
  }

  /** Resolves when that is so; never rejects. */
  get settled(): Promise<void> {
    return this.#firstAnswer.promise;
  }

  /** Undefined for versions that are not remembered. */
  rulesOf(version: string): readonly PolicyRule[] | undefined {
    return this.#versions.get(version);
  }

  /** A new text; `parsed` is undefined when it is no policy, and the former stays. */
  set(text: string, parsed: PolicyObject | undefined): void {
    this.settle();
    if (parsed === undefined) {
      this.error = "the newest policy cannot be parsed";
      return;
    }
    const compiled = compilePolicy(parsed);
    this.#ends.clear();
    this.#others.clear();
    this.#compiled = compiled;
    if (compiled === undefined) {
      this.#version = "";
      this.error = `traffic is not compared with a policy of more than ${MAX_RULES} rules, or with very long ones`;
      return;
    }
    this.error = undefined;
    this.#version = createHash("sha256").update(text).digest("hex").slice(0, VERSION_LENGTH);
    // Last again, also when an older version returns.
    this.#versions.delete(this.#version);
    this.#versions.set(this.#version, compiled.rules);
    for (const oldest of [...this.#versions.keys()].slice(0, -MAX_VERSIONS))
      this.#versions.delete(oldest);
  }

  /** The control plane was asked; connections no longer wait for a policy. */
  settle(): void {
    this.#isSettled = true;
    this.#firstAnswer.resolve();
  }

  /** The control plane has none. */
  clear(): void {
    this.settle();
    this.#ends.clear();
    this.#others.clear();
    this.#compiled = undefined;
    this.#version = "";
    this.error = undefined;
  }

  judge(connection: Connection, devices: Pick<DeviceCache, "byAddress">): Judgement {
    const compiled = this.#compiled;
    if (compiled === undefined || connection.type === PHYSICAL) return NOT_JUDGED;
    const { protocol } = connection;
    const source = this.#end(connection.source, false, compiled, devices);
    const destination = this.#end(
      connection.destination,
      connection.type === EXIT,
      compiled,
      devices,
    );
    const policyVersion = this.#version;
    const port = connection.destination?.port ?? 0;
    const forward = permits(compiled, { from: source, to: destination, protocol, port });
    if (forward.certainty === YES)
      return { verdict: "permitted", reversed: false, rule: forward.rule, policyVersion };
    const back = permits(compiled, {
      from: destination,
      to: source,
      protocol,
      port: connection.source?.port ?? 0,
    });
    if (back.certainty === YES)
      return { verdict: "permitted", reversed: true, rule: back.rule, policyVersion };
    const isKnown = forward.certainty === NO && back.certainty === NO;
    return {
      verdict: isKnown ? "no_rule" : "undetermined",
      reversed: false,
      rule: -1,
      policyVersion,
    };
  }

  #end(
    endpoint: Endpoint | undefined,
    internet: boolean,
    compiled: CompiledPolicy,
    devices: Pick<DeviceCache, "byAddress">,
  ): EndMatch {
    const address = endpoint?.host.address ?? "";
    const device = devices.byAddress(address);
    const key = internet ? `internet ${address}` : address;
    // Scans of many addresses do not displace devices.
    const ends = device === undefined ? this.#others : this.#ends;
    const known = ends.get(key);
    if (known !== undefined && known.device === device) return known;
    const end = endOf(endpoint, device, internet);
    if (device === undefined && !this.#isRepeated(key)) return { device, end, covered: undefined };
    if (ends.size >= MAX_ENDS) ends.clear();
    const match = { device, end, covered: coveredBy(compiled, end) };
    ends.set(key, match);
    return match;
  }

  #isRepeated(key: string): boolean {
    if (this.#seenOnce.has(key)) return true;
    if (this.#seenOnce.size >= MAX_ENDS) this.#seenOnce.clear();
    this.#seenOnce.add(key);
    return false;
  }
}

function endOf(
  endpoint: Endpoint | undefined,
  device: KnownDevice | undefined,
  internet: boolean,
): PolicyEnd {
  const { address, kind } = endpoint?.host ?? { address: "", kind: "name" };
  const others = device?.addresses ?? [];
  const owner = device?.user ?? "";
  return {
    ipv4: [
      ...(kind === "ipv4" ? [ipv4Number(address)] : []),
      ...others.filter((each) => isIP(each) === 4).map(ipv4Number),
    ],
    ipv6: [...(kind === "ipv6" ? [address] : []), ...others.filter((each) => isIP(each) === 6)],
    isAddress: kind !== "name",
    overlay: endpoint?.host.overlay ?? false,
    device,
    user: owner === "" ? undefined : userKey(owner),
    internet,
  };
}

function coveredBy({ sources, clauses }: CompiledPolicy, end: PolicyEnd): Covered {
  return {
    sources: sources.map((matches) => (end.internet ? NO : matches(end))),
    destinations: clauses.map(({ destination }) => destination(end)),
  };
}

interface Direction {
  readonly from: EndMatch;
  readonly to: EndMatch;
  readonly protocol: number | undefined;
  readonly port: number;
}

/** The first rule that permits it surely; else whether one may. */
function permits(
  { clauses, sources }: CompiledPolicy,
  { from, to, protocol, port }: Direction,
): { readonly certainty: Certainty; readonly rule: number } {
  let best: Certainty = NO;
  for (let at = 0; at < clauses.length; at += 1) {
    const clause = clauses[at];
    if (clause === undefined) continue;
    const covered = to.covered ? (to.covered.destinations[at] ?? NO) : clause.destination(to.end);
    if (covered === NO) continue;
    const { rule, ports, isConditional } = clause;
    const source = from.covered
      ? (from.covered.sources[rule] ?? NO)
      : from.end.internet
        ? NO
        : (sources[rule]?.(from.end) ?? NO);
    if (source === NO) continue;
    const destination = covered === SAME_USER ? ofSameUser(from.end, to.end) : covered;
    const ends = both(source, destination);
    if (ends === NO) continue;
    const all = both(
      ends,
      anyOf(ports, (each) => matchesPorts(each, protocol, port)),
    );
    if (all === YES && !isConditional) return { certainty: YES, rule };
    if (all !== NO) best = MAYBE;
  }
  return { certainty: best, rule: -1 };
}

/** Tagged devices have no user. */
function ofSameUser(left: PolicyEnd, right: PolicyEnd): Certainty {
  if (left.device === undefined || right.device === undefined)
    return left.overlay && right.overlay ? MAYBE : NO;
  if (left.device.tags.length > 0 || right.device.tags.length > 0) return NO;
  if (left.device.user === "" || right.device.user === "") return MAYBE;
  return left.device.user.toLowerCase() === right.device.user.toLowerCase() ? YES : NO;
}
