/** Levels of access: which includes which, and which names concern repositories. */
import type { Level, Permissions } from "../types.ts";

const RANK: Readonly<Record<Level, number>> = { read: 1, write: 2, admin: 3 };

/** Permissions that have no lower level. */
const WRITE_ONLY: ReadonlySet<string> = new Set(["workflows", "profile"]);

const REPOSITORY: ReadonlySet<string> = new Set([
  "actions",
  "administration",
  "artifact_metadata",
  "attestations",
  "checks",
  "code_quality",
  "codespaces",
  "contents",
  "dependabot_secrets",
  "deployments",
  "discussions",
  "environments",
  "issues",
  "merge_queues",
  "metadata",
  "packages",
  "pages",
  "pull_requests",
  "repository_custom_properties",
  "repository_hooks",
  "repository_projects",
  "secret_scanning_alerts",
  "secrets",
  "security_events",
  "single_file",
  "statuses",
  "vulnerability_alerts",
  "workflows",
]);

/** Whether this is one of the three levels. */
function isLevel(value: unknown): value is Level {
  return typeof value === "string" && Object.hasOwn(RANK, value);
}

/**
 * Why a request is refused: it names a permission that was not granted, or a level above the
 * granted one. Undefined when it is allowed.
 */
export function excess(
  wanted: Readonly<Record<string, string>>,
  granted: Permissions,
): "name" | "level" | undefined {
  const names = Object.keys(wanted);
  if (names.some((name) => !Object.hasOwn(granted, name))) return "name";
  return names.every((name) => within(name, wanted[name], granted[name])) ? undefined : "level";
}

function within(name: string, wanted: unknown, granted: Level | undefined): boolean {
  if (!isLevel(wanted) || granted === undefined || RANK[wanted] > RANK[granted]) return false;
  return wanted !== "read" || !WRITE_ONLY.has(name);
}

/** What a token for these gets: reading metadata comes with any other access to repositories. */
export function withMetadata(wanted: Permissions, granted: Permissions): Permissions {
  if (
    granted["metadata"] === undefined ||
    !Object.keys(wanted).some((name) => REPOSITORY.has(name))
  )
    return wanted;
  return { metadata: "read", ...wanted };
}

/** The highest level of each name among all. */
export function highest(all: readonly Permissions[]): Permissions {
  const union: Record<string, Level> = {};
  for (const [name, level] of all.flatMap((each) => Object.entries(each))) {
    const known = union[name];
    if (known === undefined || RANK[level] > RANK[known]) union[name] = level;
  }
  return union;
}
