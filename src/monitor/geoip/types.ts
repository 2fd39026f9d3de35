/** Options, places and figures of the geo databases. */
import type { SentSecret } from "../../kernel/threads/secrets.ts";

export type GeoDatabase = "country" | "asn";
export const geoDatabases: readonly GeoDatabase[] = ["country", "asn"];

export interface GeoDownloadOptions {
  readonly accountId: string;
  readonly licenseKey: SentSecret;
  readonly editions: readonly string[];
  /** Absolute. */
  readonly directory: string;
  readonly intervalMs: number;
  /** For one edition, with its checksum. */
  readonly timeoutMs: number;
  readonly endpoint: string;
}

export interface GeoipOptions {
  /** Whether flow metrics have countries. */
  readonly geoDims: boolean;
  /** Absolute paths; empty where there is no such database. */
  readonly paths: Readonly<Record<GeoDatabase, string>>;
  readonly reloadIntervalMs: number;
  /** Undefined while nothing is downloaded. */
  readonly download: GeoDownloadOptions | undefined;
}

/** Where an address is and whose it is, as far as the databases say. */
export interface Place {
  /** ISO 3166-1 alpha-2. */
  readonly country: string | undefined;
  /** Two letters. */
  readonly continent: string | undefined;
  /** English name of the city. */
  readonly locality: string | undefined;
  /** ISO 3166-2 without the country. */
  readonly region: string | undefined;
  /** Degrees. */
  readonly latitude: number | undefined;
  readonly longitude: number | undefined;
  readonly asNumber: number | undefined;
  readonly asOrganization: string | undefined;
}

export interface Places {
  /** Undefined for an address that is not public, or of which no database knows anything. */
  placeOf(address: string): Place | undefined;
}

/** A loaded database. */
export interface LoadedDatabase {
  /** As its metadata says, e.g. `GeoLite2-Country`. */
  readonly type: string;
  /** Milliseconds since 1970. */
  readonly builtAtMs: number;
}

/** Totals since the start. */
export interface GeoTotals {
  readonly hits: number;
  readonly misses: number;
  /** Loads, also the first. */
  readonly reloads: number;
  readonly loaded: LoadedDatabase | undefined;
}

export type DownloadResult = "updated" | "unmodified" | "failure";

export interface GeoipFigures {
  readonly databases: Readonly<Record<GeoDatabase, GeoTotals>>;
  readonly skipped: number;
  readonly reloadFailures: number;
  readonly downloads: ReadonlyMap<string, Readonly<Record<DownloadResult, number>>>;
}
