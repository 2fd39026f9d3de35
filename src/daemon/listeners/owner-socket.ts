/**
 * The Unix socket of the owner, `steward.sock` in the state folder: the whole API without a
 * credential, and backups, for the commands of whoever may use that folder.
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { createGateway, type Gateway, type GatewayDeps } from "../../../gateway/gateway.ts";
import { StewardError } from "../../kernel/base/errors.ts";
import type { Log } from "../../kernel/base/log.ts";
import { OWNER_SOCKET } from "../../kernel/listen/socket-path.ts";
import type { PlainRoute } from "../../kernel/service.ts";
import type { Component } from "../../kernel/supervisor/component.ts";
import { backupRoute, removeStaged, type BackupRouteDeps } from "./backup-route.ts";

/** A backup is held open while a command copies gigabytes to a slow disk. */
const MAX_STREAM_MS = 6 * 3_600_000;

export interface OwnerSocketDeps extends Omit<BackupRouteDeps, "stopping"> {
  readonly log: Log;
  /** What it serves besides backups; called when it opens. */
  readonly served: (backup: PlainRoute) => GatewayDeps;
}

/** The component, named `owner`. A socket that cannot be opened is logged; the daemon goes on. */
export function ownerSocket(deps: OwnerSocketDeps, needs: readonly string[]): Component {
  const { log, directory } = deps;
  const path = join(directory, OWNER_SOCKET);
  const stopping = new AbortController();
  let listener: Gateway | undefined;
  return {
    name: "owner",
    needs,
    readiness: "none",
    async start() {
      // Of a daemon that was killed; the lock of the folder is ours.
      rmSync(path, { force: true });
      await removeStaged(directory);
      const gateway = createGateway(
        deps.served(backupRoute({ ...deps, stopping: stopping.signal })),
        { address: { path }, limits: { owner: { streamMs: MAX_STREAM_MS } } },
      );
      try {
        await gateway.start();
        listener = gateway;
      } catch (error) {
        await gateway.stop(0);
        log.warn("commands cannot reach this daemon: its socket cannot be opened", {
          path,
          error,
          remedy:
            "give it a shorter state.directory; until then name its --address, and stop it before a backup by hand",
        });
      }
    },
    async stop(deadlineMs) {
      stopping.abort(new StewardError("cancelled", "the daemon stops"));
      await listener?.stop(deadlineMs);
    },
  };
}
