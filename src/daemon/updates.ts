/** The look for newer releases as it is configured; a demo asks nobody. */
import type { Clock } from "../kernel/base/clock.ts";
import type { Ids } from "../kernel/base/ids.ts";
import type { Log } from "../kernel/base/log.ts";
import { readKeyGroup } from "../kernel/config/key-group.ts";
import { selfVersions } from "../kernel/config/update-keys.ts";
import {
  createUpdateCheck,
  reportUpdate,
  type UpdateCheck,
} from "../kernel/updates/update-check.ts";
import { versionChecks } from "../monitor/config/upkeep-keys.ts";
import type { DaemonConfiguration } from "./configuration.ts";

/** What it is made with. */
export interface HouseUpdatesDeps {
  readonly configuration: Pick<DaemonConfiguration, "config" | "demo">;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly version: string;
  /** The process's own. */
  readonly scope: Parameters<typeof reportUpdate>[0];
}

/** The check, reported for as long as the process lives. */
export function houseUpdates({
  configuration: { config, demo },
  scope,
  ...deps
}: HouseUpdatesDeps): UpdateCheck {
  const { enabled, url } = readKeyGroup(config, selfVersions);
  const check = createUpdateCheck(deps, {
    enabled: enabled && url !== "" && !demo.demo,
    url,
    ...readKeyGroup(config, versionChecks),
  });
  reportUpdate(scope, check);
  return check;
}
