/** The permissions that the platform knows (facts §1.10): only to warn by, for the platform may know more tomorrow. */
import { nearest } from "../../kernel/base/nearest.ts";

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
  ...Object.fromEntries(READ_WRITE.trim().split(/\s+/).map((name) => [name, ["read", "write"]])),
  workflows: ["write"], profile: ["write"], organization_events: ["read"], organization_plan: ["read"],
  repository_projects: ["read", "write", "admin"], organization_custom_properties: ["read", "write", "admin"],
  organization_projects: ["read", "write", "admin"], enterprise_custom_properties_for_organizations: ["read", "write", "admin"],
};

const RANKS: Readonly<Record<string, number>> = { read: 1, write: 2, admin: 3 };

/** What looks wrong about requested permissions. */
export function permissionWarnings(permissions: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(permissions).flatMap(([name, level]) => {
    const levels = Object.hasOwn(LEVELS, name) ? LEVELS[name] : undefined;
    if (levels === undefined) return [`unknown permission ${quote(name)}${hint(name)}`];
    return levels.includes(level) ? [] : [`permission ${name} knows ${levels.join(" and ")}, not ${quote(level)}`];
  });
}

/** Whether a level gives at least what another one gives. Levels nobody knows only reach themselves. */
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
