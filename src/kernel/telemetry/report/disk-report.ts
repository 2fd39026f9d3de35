/** Reports the disk of a folder. */
import { existsSync, statfsSync } from "node:fs";
import { statfs } from "node:fs/promises";
import type { Scope } from "../types.ts";
import { stateDiskFree, stateDiskSize } from "./service-metrics.ts";

/**
 * Reports size and free space of the disk that holds the folder. Each collection gives what the one
 * before it asked for, since a network disk may not answer; nothing while there is no folder.
 */
export function reportDisk(scope: Pick<Scope, "observe" | "gauge">, directory: string): void {
  let last = existsSync(directory) ? statfsSync(directory) : undefined;
  let asking = false;
  const ask = async (): Promise<void> => {
    asking = true;
    try {
      last = await statfs(directory);
    } catch {
      last = undefined;
    } finally {
      asking = false;
    }
  };
  scope.observe(() => {
    if (last !== undefined) {
      scope.gauge(stateDiskFree, last.bavail * last.bsize, {});
      scope.gauge(stateDiskSize, last.blocks * last.bsize, {});
    }
    if (!asking) void ask();
  });
}
