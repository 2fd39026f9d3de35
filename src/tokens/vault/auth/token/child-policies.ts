/** Policies of a new token: within its parent's, or by its role. */
import type { TokenRoleRow } from "../../../../gen/steward/state/v1/tokens_auth_pb.ts";
import { logicalError } from "../../../logical/occurred.ts";
import { DEFAULT_POLICY, ROOT_POLICY } from "../../policies/built-in.ts";
import { matchesGlob } from "../../policies/parameters.ts";
import { sanitized } from "../grants.ts";

export interface PolicyQuestion {
  /** Policies of the creating token. */
  readonly parent: readonly string[];
  /** Empty when none were named. */
  readonly requested: readonly string[];
  readonly noDefault: boolean;
  readonly sudo: boolean;
  readonly role: TokenRoleRow | undefined;
}

/** The policies, sorted. Throws `invalid` for what may not be handed out. */
export function childPolicies(question: PolicyQuestion): readonly string[] {
  const { parent, role } = question;
  const policies =
    role !== undefined && hasLists(role) ? byRole(question, role) : byParent(question);
  if (policies.length === 0)
    throw logicalError("token must have at least one policy", {
      field: "policies",
      rule: "required",
    });
  if (policies.includes(ROOT_POLICY) && !parent.includes(ROOT_POLICY))
    throw logicalError("root tokens may not be created without parent token being root", {
      field: "policies",
      rule: "root",
    });
  return policies;
}

function hasLists(role: TokenRoleRow): boolean {
  return [
    role.allowedPolicies,
    role.allowedPoliciesGlob,
    role.disallowedPolicies,
    role.disallowedPoliciesGlob,
  ].some((list) => list.length > 0);
}

function byParent({ parent, requested, noDefault, sudo, role }: PolicyQuestion): readonly string[] {
  const without = noDefault || role?.noDefaultPolicy === true;
  // What is inherited has `default` only when the parent has it.
  if (requested.length === 0)
    return sanitized(
      parent.filter((name) => !without || name !== DEFAULT_POLICY),
      false,
    );
  const wanted = sanitized(requested, false);
  if (sudo) return sanitized(wanted, !without);
  const own = sanitized(parent, false);
  if (!own.includes(ROOT_POLICY) && !wanted.every((name) => own.includes(name))) {
    throw logicalError("child policies must be subset of parent", {
      field: "policies",
      rule: "subset",
      remedy: "request policies of the calling token, or use a role",
    });
  }
  return sanitized(wanted, !without && own.includes(DEFAULT_POLICY));
}

function byRole(
  { parent, requested, noDefault }: PolicyQuestion,
  role: TokenRoleRow,
): readonly string[] {
  const { allowedPolicies, allowedPoliciesGlob, disallowedPolicies, disallowedPoliciesGlob } = role;
  const isDisallowed = (name: string): boolean =>
    disallowedPolicies.includes(name) ||
    disallowedPoliciesGlob.some((glob) => matchesGlob(glob, name));
  const addDefault = !noDefault && !role.noDefaultPolicy && !isDisallowed(DEFAULT_POLICY);
  const limited = allowedPolicies.length > 0 || allowedPoliciesGlob.length > 0;
  const allowed = sanitized(allowedPolicies, addDefault);
  const policies =
    requested.length > 0
      ? sanitized(requested, addDefault)
      : limited
        ? allowed
        : sanitized(parent, addDefault);
  if (
    limited &&
    requested.length > 0 &&
    !policies.every(
      (name) =>
        allowed.includes(name) || allowedPoliciesGlob.some((glob) => matchesGlob(glob, name)),
    )
  ) {
    throw logicalError(
      `token policies (${list(policies)}) must be subset of the role's allowed policies (${list(allowed)}) or glob policies (${list(allowedPoliciesGlob)})`,
      { field: "policies", rule: "allowed_policies" },
    );
  }
  const disallowed = policies.find(isDisallowed);
  if (disallowed !== undefined)
    throw logicalError(`token policy ${JSON.stringify(disallowed)} is disallowed by this role`, {
      field: "policies",
      rule: "disallowed_policies",
    });
  return policies;
}

function list(names: readonly string[]): string {
  return `[${names
    .slice(0, 20)
    .map((name) => JSON.stringify(name))
    .join(" ")}]`;
}
