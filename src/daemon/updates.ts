/** The check for newer releases, as configured. A demo never checks. */
import type { Clock } from "../kernel/base/clock.ts";
import type { Ids } from "../kernel/base/ids.ts";
import type { Log } from "../kernel/base/log.ts";
import { readKeyGroup } from "../kernel/config/key-group.ts";
import { selfVersions } from "./config/update-keys.ts";
import { createUpdateCheck, reportUpdate, type UpdateCheck } from "../updates/update-check.ts";
import { versionChecks } from "../monitor/config/upkeep-keys.ts";
import type { DaemonConfiguration } from "./configuration.ts";

export interface UpdateCheckDeps {
  readonly configuration: Pick<DaemonConfiguration, "config" | "demo">;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly version: string;
  /** The process's own scope. */
  readonly scope: Parameters<typeof reportUpdate>[0];
}

/** The check; its result is reported until the process ends. */
export function configureUpdateCheck({
  configuration: { config, demo },
  scope,
  ...deps
}: UpdateCheckDeps): UpdateCheck {
  const { enabled, url } = readKeyGroup(config, selfVersions);
  const check = createUpdateCheck(deps, {
    enabled: enabled && url !== "" && !demo.demo,
    url,
    ...readKeyGroup(config, versionChecks),
  });
  reportUpdate(scope, check);
  return check;
}
