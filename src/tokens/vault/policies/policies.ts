/** Stored policies and their union, compiled on first use and cached until any policy changes. */
import { create } from "@bufbuild/protobuf";
import { PolicyRowSchema } from "../../../gen/steward/state/v1/tokens_auth_pb.ts";
import type { Clock } from "../../../kernel/base/clock.ts";
import { StewardError } from "../../../kernel/base/errors.ts";
import { Turns } from "../../../kernel/async/turns.ts";
import type { Env } from "../../../kernel/state/types.ts";
import type { Acl, Policies, PolicyDocument } from "../types.ts";
import { compileAcl, rootAcl } from "./acl.ts";
import { DEFAULT_POLICY, DEFAULT_POLICY_TEXT, ROOT_POLICY, WRAPPING_POLICY } from "./built-in.ts";
import { concernsMount, lintPolicy, MAX_WARNINGS } from "./lint.ts";
import { MAX_POLICY_LENGTH } from "./hcl-parser.ts";
import { parsePolicy, type PathRule } from "./policy-text.ts";
import { policyRows } from "./tables.ts";

/** Compiled unions of policies in memory. */
const MAX_COMPILED = 1_000;
const MAX_NAME_LENGTH = 256;
/** Nobody writes these. */
const BUILT_IN: readonly string[] = [ROOT_POLICY, WRAPPING_POLICY];
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** What policies stand on; `env` holds `policyTables`. */
export interface PoliciesDeps {
  readonly env: Env;
  /** Wall time, which rules may end by. */
  readonly clock: Pick<Clock, "now">;
}

interface Compiled {
  readonly acl: Acl;
  /** When it was compiled, and when a rule ends: it holds in between. */
  readonly fromMs: number;
  readonly untilMs: number;
}

/** The policies of one environment. */
export function createPolicies({ env, clock }: PoliciesDeps): Policies {
  const compiled = new Map<string, Compiled>();

  function get(given: string): PolicyDocument | undefined {
    const name = given.toLowerCase();
    if (name === ROOT_POLICY) return { name, text: "" };
    if (name === WRAPPING_POLICY) return undefined;
    const text = isName(name)
      ? env.read((snapshot) => snapshot.get(policyRows, name)?.text)
      : undefined;
    if (text !== undefined) return { name, text };
    return name === DEFAULT_POLICY ? { name, text: DEFAULT_POLICY_TEXT } : undefined;
  }

  function compile(names: readonly string[]): Compiled {
    const nowMs = clock.now();
    const policies = [...new Set(names)].flatMap((name) => {
      const text = get(name)?.text;
      return text === undefined ? [] : [{ name, rules: parsePolicy(text) }];
    });
    return {
      acl: compileAcl(policies, nowMs),
      fromMs: nowMs,
      untilMs: firstEnd(
        policies.flatMap(({ rules }) => rules),
        nowMs,
      ),
    };
  }

  function list(): readonly string[] {
    const stored = env.read((snapshot) => [...snapshot.keys(policyRows)]);
    return [...new Set([...stored, DEFAULT_POLICY])]
      .filter((name) => name !== WRAPPING_POLICY)
      .toSorted()
      .concat(ROOT_POLICY);
  }

  function warnings(
    name: string,
    concerns: (rule: PathRule) => boolean = () => true,
  ): readonly string[] {
    return lintPolicy(parsePolicy(get(name)?.text ?? "").filter(concerns));
  }

  return {
    get,
    list,
    warnings: (name) => warnings(name),
    async warningsAbout(point) {
      const turns = new Turns();
      const found: string[] = [];
      for (const name of list()) {
        if (found.length >= MAX_WARNINGS) break;
        if (turns.over) await turns.give();
        found.push(
          ...warnings(name, (rule) => concernsMount(rule, point)).map(
            (text) => `policy ${JSON.stringify(name)}, ${text}`,
          ),
        );
      }
      return found.slice(0, MAX_WARNINGS);
    },
    async write(given, policy) {
      const name = given.toLowerCase();
      if (BUILT_IN.includes(name))
        throw new StewardError("invalid", `cannot update ${JSON.stringify(name)} policy`, {
          rule: `${name} policy`,
        });
      if (!isName(name))
        throw new StewardError(
          "invalid",
          `a policy's name has 1 to ${MAX_NAME_LENGTH} characters, no control characters and no slash at its ends`,
          { field: "name", rule: "name" },
        );
      if (policy === "")
        throw new StewardError("invalid", "'policy' parameter not supplied or empty", {
          field: "policy",
          rule: "required",
        });
      const text = decoded(policy);
      const rules = parsePolicy(text);
      await env.write((tx) => {
        tx.put(policyRows, name, create(PolicyRowSchema, { text, updatedAtMs: clock.now() }));
        tx.after(() => compiled.clear());
      });
      return { warnings: lintPolicy(rules) };
    },
    async delete(given) {
      const name = given.toLowerCase();
      if (name === DEFAULT_POLICY)
        throw new StewardError("invalid", "cannot delete default policy", {
          rule: "default policy",
        });
      if (BUILT_IN.includes(name))
        throw new StewardError("invalid", `cannot delete ${name} policy`, {
          rule: `${name} policy`,
        });
      if (!isName(name)) return;
      await env.write((tx) => {
        tx.delete(policyRows, name);
        tx.after(() => compiled.clear());
      });
    },
    acl(names) {
      if (names.includes(ROOT_POLICY)) return rootAcl;
      const key = JSON.stringify(names);
      const known = compiled.get(key);
      const nowMs = clock.now();
      if (known !== undefined && nowMs >= known.fromMs && nowMs < known.untilMs) return known.acl;
      const fresh = compile(names);
      compiled.delete(key);
      compiled.set(key, fresh);
      if (compiled.size > MAX_COMPILED)
        for (const oldest of compiled.keys()) {
          compiled.delete(oldest);
          break;
        }
      return fresh.acl;
    },
  };
}

function firstEnd(rules: readonly PathRule[], nowMs: number): number {
  const ends = rules.flatMap(({ expiresAtMs }) =>
    expiresAtMs === undefined || expiresAtMs <= nowMs ? [] : [expiresAtMs],
  );
  return ends.reduce((first, end) => Math.min(first, end), Number.POSITIVE_INFINITY);
}

function isName(name: string): boolean {
  return (
    name.length > 0 &&
    name.length <= MAX_NAME_LENGTH &&
    name.isWellFormed() &&
    !/\p{Cc}|^\/|\/$/u.test(name)
  );
}

/** Clients may send the text in base64, whose signs alone make no policy. */
function decoded(text: string): string {
  // What is too long either way is left to the parser to refuse.
  if (text.length > 2 * MAX_POLICY_LENGTH || !BASE64.test(text.trim())) return text;
  return Buffer.from(text.trim(), "base64").toString("utf8");
}
