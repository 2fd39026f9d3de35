/** Looks addresses up in the databases, and replaces a database when its file changed. */
import { isIP } from "node:net";
import { toStewardError } from "../../kernel/base/errors.ts";
import type { Log } from "../../kernel/base/log.ts";
import { unmapped } from "../../kernel/base/ip-address.ts";
import { openDatabase, stampOf, type OpenDatabase, type PartOfPlace } from "./database.ts";
import { isPublic } from "./reachable.ts";
import {
  geoDatabases,
  type GeoDatabase,
  type GeoTotals,
  type Place,
  type Places,
} from "./types.ts";

/** Addresses stored; cleared when full, since a look-up is cheap. */
const MAX_ADDRESSES = 8_192;

const nowhere: Place = {
  country: undefined,
  continent: undefined,
  locality: undefined,
  region: undefined,
  latitude: undefined,
  longitude: undefined,
  asNumber: undefined,
  asOrganization: undefined,
};

interface Slot {
  readonly path: string;
  open: OpenDatabase | undefined;
  /** Of the file read last, also of one with contents that could not be used. */
  stamp: string | undefined;
  hits: number;
  misses: number;
  reloads: number;
}

interface Known {
  readonly place: Place | undefined;
  /** What each database had. */
  readonly found: Readonly<Record<GeoDatabase, boolean>>;
}

const skip = Symbol("address without a place");

export class GeoPlaces implements Places {
  readonly #log: Log;
  readonly #slots: Readonly<Record<GeoDatabase, Slot>>;
  readonly #addresses = new Map<string, Known | typeof skip>();
  #skipped = 0;
  #failures = 0;

  constructor(log: Log, paths: Readonly<Record<GeoDatabase, string>>) {
    this.#log = log;
    const slot = (path: string): Slot => ({
      path,
      open: undefined,
      stamp: undefined,
      hits: 0,
      misses: 0,
      reloads: 0,
    });
    this.#slots = { country: slot(paths.country), asn: slot(paths.asn) };
  }

  placeOf(address: string): Place | undefined {
    const known = this.#addresses.get(address) ?? this.#look(address);
    if (known === skip) {
      this.#skipped += 1;
      return undefined;
    }
    for (const kind of geoDatabases) {
      const slot = this.#slots[kind];
      if (slot.open === undefined) continue;
      if (known.found[kind]) slot.hits += 1;
      else slot.misses += 1;
    }
    return known.place;
  }

  /**
   * Reads the files that changed, and those that could not be read before. A file that cannot be used
   * leaves the database before it in use; a missing one is no failure.
   */
  async reload(signal: AbortSignal): Promise<void> {
    for (const kind of geoDatabases) {
      const slot = this.#slots[kind];
      if (slot.path === "") continue;
      let stamp: string | undefined;
      try {
        stamp = await stampOf(slot.path);
        if (stamp === undefined || stamp === slot.stamp) continue;
        slot.open = await openDatabase(kind, slot.path, signal);
        slot.stamp = stamp;
        slot.reloads += 1;
        this.#addresses.clear();
        this.#log.info("geo database loaded", {
          database: kind,
          type: slot.open.type,
          built: new Date(slot.open.builtAtMs).toISOString(),
        });
      } catch (error) {
        if (signal.aborted) return;
        const isRead = stamp !== undefined && !isSystemError(error);
        // What is broken is reported once; what could not be read may be readable the next time.
        if (isRead) slot.stamp = stamp;
        this.#failures += 1;
        this.#log.error("a geo database could not be loaded", {
          database: kind,
          path: slot.path,
          error: toStewardError(error),
          remedy: `${isRead ? "replace the file" : "let Steward read the file; it is tried again"}${slot.open === undefined ? "." : "; the one before it stays in use."}`,
        });
      }
    }
  }

  get skipped(): number {
    return this.#skipped;
  }

  get reloadFailures(): number {
    return this.#failures;
  }

  totals(): Readonly<Record<GeoDatabase, GeoTotals>> {
    const of = ({ hits, misses, reloads, open }: Slot): GeoTotals => ({
      hits,
      misses,
      reloads,
      loaded: open,
    });
    return { country: of(this.#slots.country), asn: of(this.#slots.asn) };
  }

  #look(address: string): Known | typeof skip {
    if (this.#addresses.size >= MAX_ADDRESSES) this.#addresses.clear();
    const found = this.#find(unmapped(address));
    this.#addresses.set(address, found);
    return found;
  }

  #find(address: string): Known | typeof skip {
    const version = isIP(address);
    if (version === 0 || !isPublic(address, version === 4 ? "ipv4" : "ipv6")) return skip;
    const part = (kind: GeoDatabase): PartOfPlace | undefined =>
      this.#slots[kind].open?.find(address);
    const [country, asn] = [part("country"), part("asn")];
    return {
      place:
        country === undefined && asn === undefined ? undefined : { ...nowhere, ...country, ...asn },
      found: { country: country !== undefined, asn: asn !== undefined },
    };
  }
}

/** Of the file system, e.g. EACCES or EIO. */
function isSystemError(error: unknown): boolean {
  return error instanceof Error && "syscall" in error;
}
