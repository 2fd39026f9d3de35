/**
 * Permission names the platform is known to have. Used only for warnings, since the platform may
 * add names.
 */
import { nearest } from "../../kernel/base/text/nearest.ts";

const READ_WRITE = `
actions administration artifact_metadata attestations checks code_quality codespaces contents dependabot_secrets deployments discussions
environments issues merge_queues metadata packages pages pull_requests repository_custom_properties repository_hooks secret_scanning_alerts
secrets security_events single_file statuses vulnerability_alerts
custom_properties_for_organizations members organization_administration organization_custom_roles organization_custom_org_roles
organization_copilot_seat_management organization_copilot_agent_settings organization_announcement_banners organization_hooks
organization_personal_access_tokens organization_personal_access_token_requests organization_packages organization_secrets
organization_self_hosted_runners organization_user_blocking
email_addresses followers git_ssh_keys gpg_keys interaction_limits starring`;

const LEVELS: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(
    READ_WRITE.trim()
      .split(/\s+/)
      .map((name) => [name, ["read", "write"]]),
  ),
  workflows: ["write"],
  profile: ["write"],
  organization_events: ["read"],
  organization_plan: ["read"],
  repository_projects: ["read", "write", "admin"],
  organization_custom_properties: ["read", "write", "admin"],
  organization_projects: ["read", "write", "admin"],
  enterprise_custom_properties_for_organizations: ["read", "write", "admin"],
};

/**
 * Permissions with a warning of their own; the rest is only counted, since each suggestion compares
 * with every known name.
 */
const MAX_WARNINGS = 20;

const RANKS: Readonly<Record<string, number>> = { read: 1, write: 2, admin: 3 };

export function permissionWarnings(
  permissions: Readonly<Record<string, string>>,
): readonly string[] {
  const doubtful = Object.entries(permissions).filter(
    ([name, level]) => levelsOf(name)?.includes(level) !== true,
  );
  const warnings = doubtful.slice(0, MAX_WARNINGS).map(([name, level]) => {
    const levels = levelsOf(name);
    return levels === undefined
      ? `unknown permission ${quote(name)}${hint(name)}`
      : `permission ${name} knows ${levels.join(" and ")}, not ${quote(level)}`;
  });
  return doubtful.length > MAX_WARNINGS
    ? [...warnings, `${doubtful.length - MAX_WARNINGS} more permissions look wrong`]
    : warnings;
}

function levelsOf(name: string): readonly string[] | undefined {
  return Object.hasOwn(LEVELS, name) ? LEVELS[name] : undefined;
}

/** Whether a level includes another. An unknown level includes only itself. */
export function reaches(level: string | undefined, wanted: string): boolean {
  if (level === undefined) return false;
  const [rank, wantedRank] = [RANKS[level], RANKS[wanted]];
  return rank === undefined || wantedRank === undefined ? level === wanted : rank >= wantedRank;
}

function hint(name: string): string {
  const likely = nearest(name.replaceAll("-", "_"), Object.keys(LEVELS));
  return likely === undefined ? "" : `; did you mean ${likely}?`;
}

function quote(text: string): string {
  return JSON.stringify(text.length > 64 ? `${text.slice(0, 64)}…` : text);
}
