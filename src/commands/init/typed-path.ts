/** Paths that a person typed at a prompt, where no shell has expanded `~`. */
import { resolve } from "node:path";
import { StewardError } from "../../kernel/base/errors.ts";
import type { Environment } from "../../kernel/config/key.ts";

/**
 * The absolute path: `~/` is the home folder of the environment. Throws `invalid`, naming the
 * question, for the folder of another user.
 */
export function typedPath(typed: string, id: string, { HOME = "" }: Environment): string {
  if (!typed.startsWith("~")) return resolve(typed);
  if (HOME !== "" && /^~(?:\/|$)/.test(typed)) return resolve(HOME, typed.slice(2));
  throw new StewardError(
    "invalid",
    `${id} must be a path without ~, got ${JSON.stringify(typed.slice(0, 80))}`,
    {
      field: id,
      remedy: "write it out, e.g. /srv/steward",
    },
  );
}
