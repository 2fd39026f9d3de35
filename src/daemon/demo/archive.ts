/** The demo's archive: a simulated Paperless-ngx on loopback. */
import type { ArchiveConfig } from "../../dedup/config.ts";
import { fillDemo } from "../../demo/paperless/demo.ts";
import { startPaperless } from "../../demo/paperless/paperless.ts";
import type { Clock } from "../../kernel/base/clock.ts";
import type { Ids } from "../../kernel/base/ids.ts";
import type { Log } from "../../kernel/base/log.ts";

/** Fixed, so that the demo's documents are the same everywhere and at each start. */
const SEED = 1;
const NAME = "paperless";

export interface DemoArchive {
  readonly row: ArchiveConfig;
  stop(): Promise<void>;
}

/** Listens when it resolves. */
export async function startDemoArchive(deps: {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
}): Promise<DemoArchive> {
  const sim = await startPaperless({ ...deps, fill: fillDemo(SEED) });
  const token = sim.estate.users[0]?.token;
  return {
    row: { name: NAME, kind: "paperless", include: [], exclude: [], url: sim.url, token },
    stop: () => sim.stop(),
  };
}
