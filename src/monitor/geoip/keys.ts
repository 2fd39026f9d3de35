/** Keys `enrichment.geoip`: databases of places and networks of addresses. */
import { join, resolve } from "node:path";
import type { Secret } from "../../kernel/base/secret.ts";
import type { Config } from "../../kernel/config/config.ts";
import { atKey } from "../../kernel/config/checks/key-finding.ts";
import { baseUrl, isReadableByOthers, timer } from "../../kernel/config/checks/rules.ts";
import type { Complaint, Finding } from "../../kernel/config/findings.ts";
import { defineKeyGroup, keysOf, readKeyGroup } from "../../kernel/config/key-group.ts";
import type { Schema } from "../../kernel/config/key.ts";
import type { Check } from "../../kernel/config/load.ts";
import {
  boolean,
  duration,
  path,
  listOf,
  secret,
  string,
  text,
} from "../../kernel/config/values/types.ts";
import { sendSecret } from "../../kernel/threads/secrets.ts";
import { flowCardinality } from "../config/cardinality-keys.ts";
import { databaseOf, pathOf } from "./editions.ts";
import type { GeoDatabase, GeoDownloadOptions, GeoipOptions } from "./types.ts";

interface GeoipSection {
  readonly enabled: boolean;
  readonly countryDatabase: string;
  readonly asnDatabase: string;
  readonly reloadIntervalMs: number;
  readonly acknowledgeCardinality: boolean;
}

interface DownloadSection extends Omit<GeoDownloadOptions, "licenseKey"> {
  readonly enabled: boolean;
  readonly licenseKey: Secret | undefined;
}

const MAX_EDITIONS = 8;
/** In the state folder. */
const DEFAULT_DIRECTORY = "geoip";

const keys = defineKeyGroup<GeoipSection>("enrichment.geoip", {
  enabled: {
    type: boolean,
    default: false,
    help: "Looks up the country and network of public addresses in MMDB databases.",
  },
  countryDatabase: {
    type: path,
    default: "",
    help: "MMDB file with countries or cities. Empty: the downloaded edition, if there is one.",
  },
  asnDatabase: {
    type: path,
    default: "",
    help: "MMDB file with networks (ASN). Empty: the downloaded edition, if there is one.",
  },
  reloadIntervalMs: {
    type: duration,
    default: 21_600_000,
    rule: timer,
    help: "How often the files are looked at; one that changed is loaded.",
  },
  acknowledgeCardinality: {
    type: boolean,
    default: false,
    help: "Confirms that cardinality.flow.geo_dims adds series for each country, and silences the warning.",
  },
});

const download = defineKeyGroup<DownloadSection>("enrichment.geoip.download", {
  enabled: {
    type: boolean,
    default: false,
    help: "Downloads the databases from MaxMind and keeps them up to date; needs an account there.",
  },
  accountId: {
    type: text,
    default: "",
    help: "Account ID at MaxMind.",
  },
  licenseKey: {
    type: secret,
    default: undefined,
    secret: true,
    help: "License key of the account.",
  },
  editions: {
    type: listOf(string),
    default: ["GeoLite2-Country", "GeoLite2-ASN"],
    rule: editionNames,
    help: "Editions to download. A city edition has places in addition to countries.",
  },
  directory: {
    type: path,
    default: "",
    help: "Folder of downloaded databases. Empty: geoip in state.directory.",
  },
  intervalMs: {
    type: duration,
    default: 86_400_000,
    rule: timer,
    help: "How often newer databases are asked for.",
  },
  timeoutMs: {
    type: duration,
    default: 300_000,
    rule: timer,
    help: "Timeout of the download of one edition.",
  },
  endpoint: {
    type: text,
    default: "https://download.maxmind.com/geoip/databases",
    rule: baseUrl,
    warn: (endpoint) =>
      isReadableByOthers(endpoint)
        ? { rule: "sends the license key without encryption", remedy: "use https." }
        : undefined,
    help: "Address of the download service.",
  },
});

export const geoipSchema: Schema = keysOf(keys, download);

function editionNames(editions: readonly string[]): Complaint | undefined {
  if (editions.length > MAX_EDITIONS) return { rule: `must have at most ${MAX_EDITIONS} entries` };
  return editions.every((edition) => /^[A-Za-z0-9_-]{1,64}$/.test(edition))
    ? undefined
    : {
        rule: "must have names of letters, digits, - and _",
        remedy: "write e.g. GeoLite2-City.",
      };
}

/** Undefined while it is off. */
export function geoipOptions(config: Config, stateDirectory: string): GeoipOptions | undefined {
  const { enabled, countryDatabase, asnDatabase, reloadIntervalMs } = readKeyGroup(config, keys);
  if (!enabled) return undefined;
  const downloaded = downloadOptions(config, stateDirectory);
  const pathFor = (kind: GeoDatabase, written: string): string => {
    if (written !== "") return resolve(written);
    const edition = downloaded?.editions.find((each) => databaseOf(each) === kind);
    return downloaded === undefined || edition === undefined ? "" : pathOf(downloaded, edition);
  };
  return {
    geoDims: config.get(flowCardinality.geoDims),
    paths: { country: pathFor("country", countryDatabase), asn: pathFor("asn", asnDatabase) },
    reloadIntervalMs,
    download: downloaded,
  };
}

function downloadOptions(config: Config, stateDirectory: string): GeoDownloadOptions | undefined {
  const { enabled, licenseKey, directory, ...options } = readKeyGroup(config, download);
  if (!enabled || licenseKey === undefined) return undefined;
  return {
    ...options,
    licenseKey: sendSecret(licenseKey),
    directory: directory === "" ? join(stateDirectory, DEFAULT_DIRECTORY) : resolve(directory),
  };
}

export const checkGeoip: Check = {
  needs: [...geoipSchema, flowCardinality.geoDims],
  run: (config) => [...sources(config), ...dimensions(config)],
};

/** What is on has something to read. */
function sources(config: Config): Finding[] {
  const { enabled, countryDatabase, asnDatabase } = readKeyGroup(config, keys);
  const downloads = config.get(download.enabled);
  if (!enabled)
    return downloads
      ? [
          atKey(config, download.enabled, "warning", {
            rule: `is ignored: ${keys.enabled.path} is false`,
            remedy: "set it to true.",
          }),
        ]
      : [];
  if (!downloads)
    return countryDatabase === "" && asnDatabase === ""
      ? [
          atKey(config, keys.enabled, "error", {
            rule: "needs a database",
            remedy: `set ${keys.countryDatabase.path} or ${download.enabled.path}.`,
          }),
        ]
      : [];
  const { accountId, licenseKey, editions } = readKeyGroup(config, download);
  const missing = [
    ...(accountId === "" ? [download.accountId] : []),
    ...(licenseKey === undefined ? [download.licenseKey] : []),
    ...(editions.length === 0 ? [download.editions] : []),
  ];
  return missing.map((key) =>
    atKey(config, key, "error", {
      rule: `is needed by ${download.enabled.path}`,
      remedy: "set it, or switch the download off.",
    }),
  );
}

function dimensions(config: Config): Finding[] {
  const { geoDims } = flowCardinality;
  if (!config.get(geoDims)) return [];
  if (!config.get(keys.enabled))
    return [
      atKey(config, geoDims, "error", {
        rule: `needs ${keys.enabled.path}`,
        remedy: "set that to true, or remove this.",
      }),
    ];
  return config.get(keys.acknowledgeCardinality)
    ? []
    : [
        atKey(config, geoDims, "warning", {
          rule: "adds series to the flow metrics for each pair of countries",
          remedy: `look at /api/cardinality.json, then set ${keys.acknowledgeCardinality.path} to true.`,
        }),
      ];
}
