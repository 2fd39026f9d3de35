/** Metrics of the geo databases: `vpn.geoip.*`. */
import type { Scope } from "../../kernel/telemetry/types.ts";
import {
  geoipDatabaseBuildTime,
  geoipDownloads,
  geoipLookups,
  geoipReloads,
} from "../catalogue/enrichment.ts";
import { geoDatabases, type GeoipFigures } from "./types.ts";

const MILLISECONDS = 1_000;
/** Value of `geoip.database` where no one database is meant. */
const NONE = "skipped";

export function reportGeoip(scope: Scope, figures: () => GeoipFigures): void {
  scope.observe(() => {
    const { databases, skipped, reloadFailures, downloads } = figures();
    for (const database of geoDatabases) {
      const { hits, misses, reloads, loaded } = databases[database];
      scope.total(geoipLookups, hits, { "geoip.database": database, result: "hit" });
      scope.total(geoipLookups, misses, { "geoip.database": database, result: "miss" });
      scope.total(geoipReloads, reloads, { "geoip.database": database, result: "success" });
      if (loaded !== undefined)
        scope.gauge(geoipDatabaseBuildTime, loaded.builtAtMs / MILLISECONDS, {
          "geoip.database": database,
        });
    }
    scope.total(geoipLookups, skipped, { "geoip.database": NONE, result: "skipped" });
    scope.total(geoipReloads, reloadFailures, { "geoip.database": NONE, result: "failure" });
    for (const [edition, counts] of downloads)
      for (const result of ["updated", "unmodified", "failure"] as const)
        scope.total(geoipDownloads, counts[result], { "geoip.edition": edition, result });
  });
}
