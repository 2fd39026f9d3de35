/** What identifies one state of a file. */
import { versionOf } from "../text/location.ts";
import type { FileFacts } from "./tasks.ts";

/** The facts of a file's bigint stats. */
export function factsOf(stats: {
  readonly size: bigint;
  readonly mtimeNs: bigint;
  readonly ino: bigint;
  readonly dev: bigint;
  readonly nlink: bigint;
}): FileFacts {
  return {
    ...(stats.nlink > 1n && { hardLink: `${stats.dev}:${stats.ino}` }),
    version: versionOf(stats),
    modifiedDate: new Date(Number(stats.mtimeNs / 1_000_000n)).toISOString(),
  };
}
