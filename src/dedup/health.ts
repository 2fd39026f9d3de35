/**
 * The health of the document service: its stores decide whether it can work, its archives whether
 * it can work on everything.
 */
import type { Health } from "../kernel/supervisor/component.ts";
import type { ArchiveConfig } from "./config.ts";
import type { FailedRun } from "./last-runs.ts";
import type { Dedup } from "./service.ts";

/** What a remedy names of an archive. */
type ConfiguredArchive = Pick<ArchiveConfig, "name" | "path" | "url">;

/** Archives that a remedy names. */
const MAX_NAMES = 3;

/**
 * From memory. An archive that cannot be reached leaves the service degraded and the process ready:
 * what was read from it before is still served. The reason names a class of failure only; name,
 * path and key are in the remedy, for administrators.
 */
export function dedupHealth(
  { trouble, unreachable, failedRuns }: Pick<Dedup, "trouble" | "unreachable" | "failedRuns">,
  configured: readonly ConfiguredArchive[],
): Health {
  const reason = trouble();
  if (reason !== undefined) return { ok: false, reason };
  const away = unreachable();
  const [first] = away;
  if (first === undefined) return runHealth(failedRuns());
  const remedies = away.slice(0, MAX_NAMES).map(({ archive }) => remedyFor(archive, configured));
  return {
    ok: false,
    partial: true,
    reason:
      away.length === 1
        ? `an archive cannot be read: ${first.failure}`
        : `${away.length} archives cannot be read: ${first.failure}`,
    remedy: remedies.join("; "),
  };
}

/** An archive that is away explains a failed run; without one the run speaks for itself. */
function runHealth(failed: readonly FailedRun[]): Health {
  const [first] = failed;
  if (first === undefined) return { ok: true };
  return {
    ok: false,
    partial: true,
    reason: `the last ${failed.map(({ type }) => type).join(" and the last ")} failed`,
    remedy: `${first.error}; once that is mended: POST /api/v1/${first.type}`,
  };
}

function remedyFor(name: string, configured: readonly ConfiguredArchive[]): string {
  const index = configured.findIndex((row) => row.name === name);
  const { path, url } = configured[index] ?? {};
  if (url !== undefined)
    return `archive "${name}": start Paperless-ngx at ${url}, or correct its url in dedup.archives`;
  return path === undefined
    ? `check the archive "${name}"`
    : `archive "${name}": mount ${path} and let Steward's user read it, or correct dedup.archives[${index}].path`;
}
