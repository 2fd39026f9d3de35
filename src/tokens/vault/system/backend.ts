/** The house's own backend, mounted at `sys/`. */
import { createBackend } from "../../logical/backend.ts";
import type { Backend } from "../../logical/types.ts";
import { auditPaths } from "./audit.ts";
import { corsPath } from "./cors.ts";
import type { SystemDeps } from "./deps.ts";
import { describePaths } from "./describe.ts";
import { leasePaths } from "./leases.ts";
import { mountPaths } from "./mounts.ts";
import { policyPaths } from "./policies.ts";
import { statusPaths } from "./status.ts";
import { wrappingPaths } from "./wrapping.ts";

/** Everything below `sys/`. */
export function createSystemBackend(deps: SystemDeps): Backend {
  return createBackend({
    type: "system",
    paths: [...statusPaths(deps), ...describePaths(deps), ...mountPaths(deps), ...policyPaths(deps), ...leasePaths(deps), ...wrappingPaths(deps), ...auditPaths(deps), corsPath(deps)],
    help: "The secrets manager itself: its seal, mounts, policies, leases and audit.",
  });
}
