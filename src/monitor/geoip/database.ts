/** Reads one MMDB file, held whole in memory (https://maxmind.github.io/MaxMind-DB/). */
import { readFile, stat } from "node:fs/promises";
import { Reader, type AsnResponse, type CityResponse } from "mmdb-lib";
import { StewardError, toStewardError } from "../../kernel/base/errors.ts";
import type { GeoDatabase, LoadedDatabase, Place } from "./types.ts";

const MEBIBYTE = 1_048_576;
export const MAX_DATABASE_MIB = 512;
/** Substrings of types that have the fields of a database, in lower case. */
const TYPES: Readonly<Record<GeoDatabase, readonly string[]>> = {
  country: ["country", "city", "enterprise"],
  asn: ["asn", "isp", "enterprise"],
};

/** The part of a place that one database knows. */
export type PartOfPlace = Partial<Place>;

export interface OpenDatabase extends LoadedDatabase {
  /** Undefined where it has nothing, also for an IPv6 address in a database of IPv4 alone. */
  find(address: string): PartOfPlace | undefined;
}

/** Size and time of a file, which change with its content; undefined where there is none. */
export async function stampOf(path: string): Promise<string | undefined> {
  try {
    const { mtimeMs, size, ino } = await stat(path);
    return `${mtimeMs} ${size} ${ino}`;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw toStewardError(error);
  }
}

/** Throws `invalid` for a file that is no such database, or too large. */
export async function openDatabase(
  kind: GeoDatabase,
  path: string,
  signal?: AbortSignal,
): Promise<OpenDatabase> {
  const { size } = await stat(path);
  if (size > MAX_DATABASE_MIB * MEBIBYTE)
    throw new StewardError("invalid", `the file is larger than ${MAX_DATABASE_MIB} MiB`);
  const bytes = await readFile(path, { signal });
  const reader = readerOf(bytes);
  const { databaseType, buildEpoch } = reader.metadata;
  if (!TYPES[kind].some((type) => databaseType.toLowerCase().includes(type)))
    throw new StewardError(
      "invalid",
      `the file is a database of the type ${databaseType.slice(0, 60)}, not of ${kind === "asn" ? "networks (ASN)" : "countries"}`,
    );
  return {
    type: databaseType,
    builtAtMs: buildEpoch.getTime(),
    find(address) {
      const found = recordAt(reader, address);
      if (found === null) return undefined;
      return kind === "country" ? countryPart(found) : networkPart(found);
    },
  };
}

type Found = CityResponse & Partial<AsnResponse>;

function readerOf(bytes: Buffer): Reader<Found> {
  try {
    const reader = new Reader<Found>(bytes);
    // Its tree is read with the first look-up: one that is cut off is found here.
    reader.get(reader.metadata.ipVersion === 6 ? "2001:4860:4860::8888" : "192.0.2.1");
    return reader;
  } catch (error) {
    throw new StewardError("invalid", "the file is no MMDB database, or is incomplete", {
      cause: error,
    });
  }
}

// A damaged record throws; it is as if it were not there.
function recordAt(reader: Reader<Found>, address: string): Found | null {
  try {
    return reader.get(address);
  } catch {
    return null;
  }
}

function countryPart(found: Found): PartOfPlace | undefined {
  const country = found.country ?? found.registered_country ?? found.represented_country;
  const { latitude, longitude } = found.location ?? {};
  const located =
    Number.isFinite(latitude) && Number.isFinite(longitude) && (latitude !== 0 || longitude !== 0);
  const part = {
    country: textOf(country?.iso_code),
    continent: textOf(found.continent?.code),
    locality: textOf(found.city?.names?.en),
    region: textOf(found.subdivisions?.at(-1)?.iso_code),
    latitude: located ? latitude : undefined,
    longitude: located ? longitude : undefined,
  };
  return Object.values(part).some((value) => value !== undefined) ? part : undefined;
}

function networkPart(found: Found): PartOfPlace | undefined {
  const { autonomous_system_number: number, autonomous_system_organization: name } = found;
  const asNumber = Number.isSafeInteger(number) && Number(number) > 0 ? number : undefined;
  const asOrganization = textOf(name);
  return asNumber === undefined && asOrganization === undefined
    ? undefined
    : { asNumber, asOrganization };
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
