/** Resolves a request's path: its mount, the path below it, and the declared path. */
import type { Path } from "../../logical/types.ts";
import type { Mount } from "../mounts/mounts.ts";
import type { CoreDeps } from "./types.ts";

export interface MountedPath {
  readonly mount: Mount;
  readonly rest: string;
  /** Undefined when the mount declares no such path. */
  readonly declared: Path | undefined;
}

/** Undefined when nothing is mounted there. */
export function resolvePath(
  { mounts }: Pick<CoreDeps, "mounts">,
  { path }: { readonly path: string },
): MountedPath | undefined {
  const found = mounts.match(path);
  return found === undefined
    ? undefined
    : { ...found, declared: found.mount.backend.find(found.rest) };
}
