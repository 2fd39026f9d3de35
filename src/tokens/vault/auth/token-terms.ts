/** What roles of login backends say about the tokens of their logins: fields, rules, and the token. */
import { logicalError } from "../../logical/occurred.ts";
import type { CoerceRule, Data, Fields, Host, LogicalResponse } from "../../logical/types.ts";
import type { Remote } from "../../logical/types.ts";
import { unmapped } from "../../../kernel/base/ip-address.ts";
import { parseCidrs } from "../cidrs.ts";
import { ROOT_POLICY } from "../policies/built-in.ts";
import { effectiveTtl } from "../token-store/ttl.ts";
import type { AuthDeps } from "./deps.ts";
import { checkPolicies, grantOf, sanitized, TOKEN_TYPES, tokenTypeOf } from "./grants.ts";

/** Times are milliseconds; 0 is the mount's own or none. */
export interface TokenTerms {
  readonly policies: string[];
  readonly ttlMs: number;
  readonly maxTtlMs: number;
  readonly explicitMaxTtlMs: number;
  readonly periodMs: number;
  /** 0 for no limit. */
  readonly numUses: number;
  readonly boundCidrs: string[];
  readonly noDefaultPolicy: boolean;
  readonly tokenType: string;
  /** Tokens may be used from the address of their login only. */
  readonly strictlyBindIp: boolean;
}

/** How the fields of these terms are coerced, those of their old names included. */
export const TERMS_COERCE: Readonly<Record<string, CoerceRule>> = {
  token_policies: "comma_list",
  policies: "comma_list",
  token_bound_cidrs: "comma_list",
  token_ttl: "duration",
  token_max_ttl: "duration",
  token_explicit_max_ttl: "duration",
  token_period: "duration",
  period: "duration",
};

/** A count from a field. Throws `invalid` for a negative or absurd one. */
export function countOf(fields: Fields, name: string): number | undefined {
  const count = fields.integer(name);
  if (count !== undefined && (count < 0 || count > 2 ** 31 - 1))
    throw logicalError(`${name} cannot be negative`, { field: name, rule: "range" });
  return count;
}

/** The terms with the fields that were given. Throws `invalid`. */
export function changedTerms(before: TokenTerms, fields: Fields): TokenTerms {
  const policies = fields.texts("token_policies") ?? fields.texts("policies");
  const cidrs = fields.texts("token_bound_cidrs") ?? before.boundCidrs;
  return {
    policies: policies === undefined ? before.policies : [...sanitized(policies, false)],
    ttlMs: fields.durationMs("token_ttl") ?? before.ttlMs,
    maxTtlMs: fields.durationMs("token_max_ttl") ?? before.maxTtlMs,
    explicitMaxTtlMs: fields.durationMs("token_explicit_max_ttl") ?? before.explicitMaxTtlMs,
    periodMs: fields.durationMs("token_period") ?? fields.durationMs("period") ?? before.periodMs,
    numUses: countOf(fields, "token_num_uses") ?? before.numUses,
    boundCidrs: [...parseCidrs("token_bound_cidrs", cidrs)],
    noDefaultPolicy: fields.boolean("token_no_default_policy") ?? before.noDefaultPolicy,
    tokenType: fields.text("token_type") || before.tokenType,
    strictlyBindIp: fields.boolean("token_strictly_bind_ip") ?? before.strictlyBindIp,
  };
}

/** Throws `invalid` for terms that do not hold together. */
export function checkTerms(terms: TokenTerms): void {
  if (terms.maxTtlMs > 0 && terms.ttlMs > terms.maxTtlMs)
    throw logicalError("'token_ttl' cannot be greater than 'token_max_ttl'", {
      field: "token_ttl",
      rule: "token_max_ttl",
    });
  if (terms.policies.includes(ROOT_POLICY))
    throw logicalError("auth methods cannot create root tokens", {
      field: "token_policies",
      rule: "root",
    });
  if (!TOKEN_TYPES.includes(terms.tokenType))
    throw logicalError(
      `invalid 'token_type' value ${JSON.stringify(terms.tokenType.slice(0, 40))}`,
      { field: "token_type", rule: "token_type" },
    );
  if (terms.tokenType !== "batch" && terms.tokenType !== "default-batch") return;
  const unfit: readonly (readonly [number, string])[] = [
    [terms.periodMs, "periodic tokens"],
    [terms.numUses, "tokens with limited use count"],
    [terms.explicitMaxTtlMs, "tokens with an explicit max TTL"],
  ];
  for (const [value, what] of unfit)
    if (value > 0)
      throw logicalError(
        `'token_type' cannot be 'batch' or 'default_batch' when set to generate ${what}`,
        { field: "token_type", rule: "batch" },
      );
}

/** Warnings about times that the mount cuts. */
export function warningsOf(terms: TokenTerms, host: Host): LogicalResponse | undefined {
  return terms.maxTtlMs > host.limits().maxLeaseTtlMs
    ? {
        warnings: [
          "token_max_ttl is greater than the system or backend mount's maximum TTL value; issued tokens' max TTL value will be truncated",
        ],
      }
    : undefined;
}

/** The terms as a role's path shows them. */
export function shownTerms(terms: TokenTerms): Data {
  const seconds = (ms: number): number => Math.round(ms / 1_000);
  return {
    token_bound_cidrs: terms.boundCidrs,
    token_explicit_max_ttl: seconds(terms.explicitMaxTtlMs),
    token_max_ttl: seconds(terms.maxTtlMs),
    token_no_default_policy: terms.noDefaultPolicy,
    token_num_uses: terms.numUses,
    token_period: seconds(terms.periodMs),
    token_policies: terms.policies,
    token_strictly_bind_ip: terms.strictlyBindIp,
    token_ttl: seconds(terms.ttlMs),
    token_type: terms.tokenType,
  };
}

/** A login that was verified. */
export interface Login {
  readonly terms: TokenTerms;
  /** Names the backend for renewals. */
  readonly mountId: string;
  readonly mountPoint: string;
  readonly displayName: string;
  readonly meta: Readonly<Record<string, string>>;
  /** In place of the role's, where there are any. */
  readonly boundCidrs?: readonly string[];
  readonly remote: Remote | undefined;
}

/** Makes the token of a login. Throws `invalid` without a policy. */
export async function makeLoginToken(
  { tokens, clock, policies, host }: AuthDeps & { readonly host: Host },
  { terms, remote, boundCidrs = [], ...login }: Login,
): Promise<LogicalResponse> {
  const names = sanitized(terms.policies, !terms.noDefaultPolicy);
  if (names.length === 0)
    throw logicalError("token must have at least one policy", {
      field: "token_policies",
      rule: "required",
    });
  const nowMs = clock.now();
  const { ttlMs, warnings: cut } = effectiveTtl({
    incrementMs: 0,
    usualMs: terms.ttlMs,
    periodMs: terms.periodMs,
    maxTtlMs: terms.maxTtlMs,
    explicitMaxTtlMs: terms.explicitMaxTtlMs,
    startedAtMs: nowMs,
    nowMs,
    limits: host.limits(),
  });
  const warnings = [...checkPolicies(policies, names), ...cut];
  const type = tokenTypeOf(terms.tokenType, undefined);
  const own = boundCidrs.length > 0 ? boundCidrs : terms.boundCidrs;
  const made = await tokens.create({
    type,
    policies: names,
    path: `${login.mountPoint}login`,
    displayName: login.displayName,
    meta: login.meta,
    numUses: type === "batch" ? 0 : terms.numUses,
    parent: undefined,
    ttlMs,
    explicitMaxTtlMs: terms.explicitMaxTtlMs,
    maxTtlMs: terms.maxTtlMs,
    periodMs: terms.periodMs,
    renewable: type === "service",
    issuer: login.mountId,
    boundCidrs:
      terms.strictlyBindIp && remote !== undefined
        ? parseCidrs("remote address", [unmapped(remote.address)])
        : own,
  });
  return { auth: grantOf(made, clock), ...(warnings.length === 0 ? {} : { warnings }) };
}
