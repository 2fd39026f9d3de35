/**
 * `GET /api/support-bundle.zip`: diagnostics for a bug report, without secrets and, by default,
 * without devices.
 */
import { Access } from "../gen/steward/options/v1/options_pb.ts";
import type { Clock } from "../kernel/base/clock.ts";
import type { Pool } from "../kernel/pool/types.ts";
import type { Call, PlainAnswer, PlainRoute } from "../kernel/service.ts";
import type { ThreadHost } from "../kernel/threads/hosted-service.ts";
import { supportBundle } from "../../workers/bundle/tasks.ts";
import { readStatus } from "./status/read-status.ts";

export interface SupportBundleDeps {
  readonly monitor: { readonly component: Pick<ThreadHost, "call"> };
  readonly pool: Pick<Pool, "run">;
  readonly clock: Clock;
  readonly version: string;
}

/** The route without its handler. */
export const SUPPORT_BUNDLE_ROUTE: Omit<PlainRoute, "handle"> = {
  verb: "GET",
  template: "/api/support-bundle.zip",
  access: Access.ADMIN,
  dialect: "monitor",
  describe: {
    operationId: "monitorGetSupportBundle",
    tag: "monitor.StatusService",
    text: "Downloads a support bundle. It holds the status, the configuration without secrets, and what happened lately.",
    answer: "A ZIP archive.",
    contentType: "application/zip",
    query: {
      include_devices:
        "`1` includes the names and addresses of devices; they are left out otherwise.",
    },
  },
};

/** Responds 503 while the monitor is not running or too many bundles are in progress. */
export function supportBundleRoute(deps: SupportBundleDeps): PlainRoute {
  return {
    ...SUPPORT_BUNDLE_ROUTE,
    handle: (request, call) => answer(deps, request.query.get("include_devices") === "1", call),
  };
}

async function answer(
  { monitor, pool, clock, version }: SupportBundleDeps,
  devices: boolean,
  { signal, requestId }: Call,
): Promise<PlainAnswer> {
  const status = await readStatus(monitor.component, { signal, requestId });
  const atMs = clock.now();
  const archive = await pool.run(
    supportBundle,
    { status, atMs, version, devices },
    { signal, transfer: [status.buffer] },
  );
  const stamp = new Date(atMs).toISOString().replace(/[-:]|\.\d+/g, "");
  return {
    status: 200,
    headers: {
      "content-type": "application/zip",
      "content-disposition": `attachment; filename="steward-support-${version}-${stamp}.zip"`,
    },
    body: archive,
  };
}
