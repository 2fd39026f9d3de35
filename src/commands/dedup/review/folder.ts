/** Where decisions are kept when no folder is given. */
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

/**
 * `$XDG_STATE_HOME/steward/dedup`, by default `~/.local/state/steward/dedup` (XDG Base Directory
 * Specification).
 */
export function reviewFolder(environment: Readonly<Record<string, string | undefined>>): string {
  const { XDG_STATE_HOME: given = "" } = environment;
  // By the specification a relative path counts as none.
  const base = isAbsolute(given) ? given : join(homedir(), ".local/state");
  return join(base, "steward/dedup");
}
