/** Editions of geo databases: which database each is, and where it is installed. */
import { join } from "node:path";
import type { GeoDatabase, GeoDownloadOptions } from "./types.ts";

/** The database of an edition, by its name. */
export function databaseOf(edition: string): GeoDatabase {
  return /asn|isp/i.test(edition) ? "asn" : "country";
}

/** Where an edition is installed. */
export function pathOf(
  { directory }: Pick<GeoDownloadOptions, "directory">,
  edition: string,
): string {
  return join(directory, `${edition}.mmdb`);
}
