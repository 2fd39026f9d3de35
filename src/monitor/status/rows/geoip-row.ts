/** The status of the geo databases. */
import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { GeoipSchema, type Geoip as GeoipRow } from "../../../gen/steward/monitor/v1/stores_pb.ts";
import type { MonitorStatus } from "../../status.ts";
import { humanDuration } from "../human.ts";

/** Zeros while it is off; what belongs to a database is left out until it is loaded. */
export function geoipOf(geoip: MonitorStatus["geoip"], nowMs: number): GeoipRow {
  if (geoip === undefined) return create(GeoipSchema);
  const { paths, download, geoDims } = geoip.options;
  const { databases, skipped, reloadFailures } = geoip.figures();
  const { country, asn } = databases;
  return create(GeoipSchema, {
    enabled: true,
    downloadEnabled: download !== undefined,
    geoDims,
    countryHits: BigInt(country.hits),
    countryMisses: BigInt(country.misses),
    asnHits: BigInt(asn.hits),
    asnMisses: BigInt(asn.misses),
    reloads: BigInt(country.reloads + asn.reloads),
    reloadFailures: BigInt(reloadFailures),
    skipped: BigInt(skipped),
    ...(country.loaded && {
      countryPath: paths.country,
      countryType: country.loaded.type,
      countryBuildTime: timestampFromMs(country.loaded.builtAtMs),
      countryAge: humanDuration(nowMs - country.loaded.builtAtMs),
    }),
    ...(asn.loaded && {
      asnPath: paths.asn,
      asnType: asn.loaded.type,
      asnBuildTime: timestampFromMs(asn.loaded.builtAtMs),
      asnAge: humanDuration(nowMs - asn.loaded.builtAtMs),
    }),
  });
}
