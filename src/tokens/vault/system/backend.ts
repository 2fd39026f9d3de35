/** The built-in backend at `sys/`. */
import { createBackend } from "../../logical/backend.ts";
import type { Backend, Path } from "../../logical/types.ts";
import { auditPaths } from "./audit.ts";
import { corsPath } from "./cors.ts";
import type { SystemDeps } from "./deps.ts";
import { describePaths } from "./describe.ts";
import { generateRootPaths } from "./generate-root.ts";
import { keyPaths } from "./key-status.ts";
import { leasePaths } from "./leases.ts";
import { mountPaths } from "./mounts.ts";
import { rekeyPaths } from "./rekey.ts";
import { remountPaths } from "./remount.ts";
import { policyPaths } from "./policies.ts";
import { statusPaths } from "./status.ts";
import { wrappingPaths } from "./wrapping.ts";

/** Everything below `sys/`. */
export function createSystemBackend(deps: SystemDeps): Backend {
  return createBackend({
    type: "system",
    paths: [
      ...statusPaths(deps),
      ...describePaths(deps),
      ...mountPaths(deps),
      ...remountPaths(deps),
      ...policyPaths(deps),
      ...leasePaths(deps),
      ...wrappingPaths(deps),
      ...auditPaths(deps),
      ...keyPaths(deps),
      ...rekeyPaths(deps),
      ...generateRootPaths(deps),
      corsPath(deps),
    ].map(ignoringUnknown),
    help: "The secrets manager itself: its seal, mounts, policies, leases and audit.",
  });
}

/**
 * Like Vault, paths below `sys/` ignore unknown fields with a warning, since clients send more than
 * needed.
 */
function ignoringUnknown(path: Path): Path {
  return path.unknown === "refuse" ? { ...path, unknown: "warn" } : path;
}
