/** A user as systemd makes one for a service: what is written, is written as that user. */
import { spawnSync } from "node:child_process";

export const USER = 61_184;
export const GROUP = 61_185;

/** Arguments of `setpriv`. The clone may lie where only its owner may look. */
export const AS_USER: readonly string[] = [
  `--reuid=${USER}`,
  `--regid=${USER}`,
  `--groups=${GROUP}`,
  "--inh-caps=-all,+dac_read_search",
  "--ambient-caps=-all,+dac_read_search",
  "--bounding-set=-all,+dac_read_search",
];

/** Whether this process may start another one as that user. */
export function canBeService(): boolean {
  return process.getuid?.() === 0 && spawnSync("setpriv", [...AS_USER, "true"]).status === 0;
}
