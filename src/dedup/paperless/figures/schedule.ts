/** Reads the metrics of a Paperless-ngx every minute, collector by collector. */
import { toStewardError } from "../../../kernel/base/errors.ts";
import type { Log } from "../../../kernel/base/log.ts";
import type { Schedule } from "../../../kernel/supervisor/schedule.ts";
import type { Scope } from "../../../kernel/telemetry/types.ts";
import { collectors, type ReadFigures } from "./collectors.ts";
import type { CollectorName } from "./settings.ts";
import { collectorErrors } from "./metrics.ts";

const EVERY_MS = 60_000;
const HISTORY = 5;

export interface FigureDeps {
  readonly scope: Scope;
  readonly log: Log;
  readonly archive: string;
  readonly read: ReadFigures;
  readonly collectors: readonly CollectorName[];
}

/** The first run is at once. A collector that fails is counted; its metrics end, the others stay. */
export function createFigureSchedule(deps: FigureDeps): Schedule {
  const { scope, log, archive, read } = deps;
  for (const collector of deps.collectors) scope.add(collectorErrors, 0, { collector });
  return {
    name: "paperless-metrics",
    everyMs: EVERY_MS,
    staggerMs: 0,
    overlap: "never",
    history: HISTORY,
    async run({ signal }) {
      for (const collector of deps.collectors) {
        const round = scope.sweep(`paperless.${collector}`);
        try {
          await collectors[collector]({ archive, read, round, signal });
        } catch (error) {
          signal.throwIfAborted();
          scope.add(collectorErrors, 1, { collector });
          log.warn("a collector of Paperless-ngx metrics failed; its metrics are left out", {
            archive,
            collector,
            error: toStewardError(error),
          });
          // Written so far is not known to be whole.
          scope.sweep(`paperless.${collector}`).commit();
          continue;
        }
        round.commit();
      }
    },
  };
}
