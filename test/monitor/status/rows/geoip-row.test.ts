import { toJson } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import { GeoipSchema } from "../../../../src/gen/steward/monitor/v1/stores_pb.ts";
import type { GeoipFigures } from "../../../../src/monitor/geoip/types.ts";
import { geoipOf } from "../../../../src/monitor/status/rows/geoip-row.ts";

const NOW_MS = 1_700_000_000_000;
const HOUR_MS = 3_600_000;
const options = {
  geoDims: true,
  paths: { country: "/srv/country.mmdb", asn: "/srv/asn.mmdb" },
  reloadIntervalMs: 1_000,
  download: undefined,
};
/** No two are equal, also not as sums. */
const figures: GeoipFigures = {
  databases: {
    country: {
      hits: 2,
      misses: 3,
      reloads: 20,
      loaded: { type: "GeoLite2-Country", builtAtMs: NOW_MS - HOUR_MS },
    },
    asn: {
      hits: 5,
      misses: 7,
      reloads: 4,
      loaded: { type: "GeoLite2-ASN", builtAtMs: NOW_MS - 2 * HOUR_MS },
    },
  },
  skipped: 11,
  reloadFailures: 13,
  downloads: new Map(),
};
const rowOf = (changes: Partial<GeoipFigures> = {}) =>
  toJson(GeoipSchema, geoipOf({ options, figures: () => ({ ...figures, ...changes }) }, NOW_MS), {
    alwaysEmitImplicit: true,
    useProtoFieldName: true,
  });

it("shows every figure of the geo databases, each database by itself", () => {
  expect(rowOf()).toEqual({
    enabled: true,
    download_enabled: false,
    geo_dims: true,
    country_path: "/srv/country.mmdb",
    country_type: "GeoLite2-Country",
    country_build_time: "2023-11-14T21:13:20Z",
    country_age: "1h0m",
    country_hits: "2",
    country_misses: "3",
    asn_path: "/srv/asn.mmdb",
    asn_type: "GeoLite2-ASN",
    asn_build_time: "2023-11-14T20:13:20Z",
    asn_age: "2h0m",
    asn_hits: "5",
    asn_misses: "7",
    reloads: "24",
    reload_failures: "13",
    skipped: "11",
  });
});

it("shows nothing of a database before it is loaded, and the figures", () => {
  const { country, asn } = figures.databases;
  const row = rowOf({ databases: { country, asn: { ...asn, loaded: undefined } } });
  expect(row).toMatchObject({
    country_type: "GeoLite2-Country",
    asn_hits: "5",
    asn_path: "",
    asn_type: "",
    asn_age: "",
  });
  expect(row).not.toHaveProperty("asn_build_time");
});
