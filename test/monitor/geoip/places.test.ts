import { mkdirSync, mkdtempSync, rmdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { createLog } from "../../../src/kernel/base/log.ts";
import { GeoPlaces } from "../../../src/monitor/geoip/places.ts";
import { BUILT, cities, countries, networks } from "../../support/geo/databases.ts";
import { mmdb } from "../../support/geo/mmdb.ts";

const root = mkdtempSync(join(tmpdir(), "steward-places-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const { signal } = new AbortController();
let folder = "";
let lines: string[] = [];
let count = 0;

beforeEach(() => {
  count += 1;
  folder = join(root, String(count));
  mkdirSync(folder);
  lines = [];
});

function places(country = "country.mmdb", asn = ""): GeoPlaces {
  const log = createLog({
    level: "info",
    format: "text",
    write: (line) => lines.push(line),
    now: () => 0,
  });
  const path = (name: string): string => (name === "" ? "" : join(folder, name));
  return new GeoPlaces(log, { country: path(country), asn: path(asn) });
}

function put(name: string, bytes: Buffer): void {
  writeFileSync(join(folder, name), bytes);
}

describe("places of addresses", () => {
  it("has city, region, coordinates and network, as far as databases have them", async () => {
    put("country.mmdb", cities());
    put("asn.mmdb", networks());
    const found = places("country.mmdb", "asn.mmdb");
    await found.reload(signal);
    expect(found.placeOf("203.0.113.9")).toEqual({
      country: "GB",
      continent: "EU",
      locality: "Oxford",
      region: "OXF",
      latitude: 51.75,
      longitude: -1.25,
      asNumber: 64_500,
      asOrganization: "Example Carrier",
    });
    // 0 and 0 is a place in the sea, where vendors put what they do not know.
    expect(found.placeOf("203.0.113.200")).toMatchObject({
      country: "GB",
      latitude: undefined,
      longitude: undefined,
      asNumber: 64_500,
    });
    expect(found.placeOf("192.0.2.1")).toBeUndefined();
    expect(found.totals()).toEqual({
      country: {
        hits: 2,
        misses: 1,
        reloads: 1,
        loaded: expect.objectContaining({ type: "GeoLite2-City", builtAtMs: BUILT * 1_000 }),
      },
      asn: {
        hits: 2,
        misses: 1,
        reloads: 1,
        loaded: expect.objectContaining({ type: "GeoLite2-ASN" }),
      },
    });
  });

  it("takes the country of registration where there is no other, and IPv4 mapped into IPv6", async () => {
    put("country.mmdb", countries());
    const found = places();
    await found.reload(signal);
    expect(found.placeOf("2001:db8:7::1")).toMatchObject({ country: "JP", continent: "AS" });
    expect(found.placeOf("::ffff:203.0.113.9")).toMatchObject({ country: "NL" });
    expect(found.placeOf("8.8.8.8")).toBeUndefined();
  });

  it.each([
    "0.0.0.0",
    "10.1.2.3",
    "100.64.0.7",
    "127.0.0.1",
    "169.254.1.1",
    "172.16.9.9",
    "192.168.1.1",
    "224.0.0.251",
    "255.255.255.255",
    "::",
    "::1",
    "fd7a:115c:a1e0::7",
    "fe80::1",
    "ff02::1",
    "::ffff:10.0.0.1",
    "host.example.org",
  ])("does not look %s up", async (address) => {
    put("country.mmdb", countries());
    const found = places();
    await found.reload(signal);
    expect([found.placeOf(address), found.placeOf(address), found.skipped]).toEqual([
      undefined,
      undefined,
      2,
    ]);
    expect(found.totals().country).toMatchObject({ hits: 0, misses: 0 });
  });

  it("does not find an IPv6 address in a database of IPv4", async () => {
    put(
      "country.mmdb",
      mmdb({
        type: "GeoIP2-Country",
        builtAt: BUILT,
        ipVersion: 4,
        networks: { "203.0.113.0/24": { country: { iso_code: "NL" } } },
      }),
    );
    const found = places();
    await found.reload(signal);
    expect(found.placeOf("203.0.113.1")).toMatchObject({ country: "NL" });
    expect(found.placeOf("2001:db8::1")).toBeUndefined();
  });
});

describe("a file that changes", () => {
  it("replaces the database, also for addresses looked up before", async () => {
    put("country.mmdb", countries("NL"));
    const found = places();
    await found.reload(signal);
    expect(found.placeOf("203.0.113.9")?.country).toBe("NL");
    put("country.mmdb", countries("BE", BUILT + 86_400));
    // Some file systems know times of a few milliseconds only.
    utimesSync(join(folder, "country.mmdb"), new Date(), new Date(Date.now() + 2_000));
    await found.reload(signal);
    expect(found.placeOf("203.0.113.9")?.country).toBe("BE");
    await found.reload(signal);
    expect(found.totals().country.reloads).toBe(2);
  });

  it("is no error while it is missing", async () => {
    const found = places();
    await found.reload(signal);
    expect([found.reloadFailures, found.placeOf("203.0.113.9"), lines]).toEqual([0, undefined, []]);
    put("country.mmdb", countries());
    await found.reload(signal);
    expect(found.placeOf("203.0.113.9")?.country).toBe("NL");
  });

  it("is read again without a change when it could not be read", async () => {
    // Its time and size stay the same, and reading it fails with EISDIR.
    mkdirSync(join(folder, "country.mmdb"));
    const found = places();
    await found.reload(signal);
    await found.reload(signal);
    expect(found.reloadFailures).toBe(2);
    expect(lines.filter((line) => line.includes("it is tried again"))).toHaveLength(1);
    rmdirSync(join(folder, "country.mmdb"));
    put("country.mmdb", countries());
    await found.reload(signal);
    expect(found.placeOf("203.0.113.9")?.country).toBe("NL");
    await found.reload(signal);
    expect([found.totals().country.reloads, found.reloadFailures]).toEqual([1, 2]);
  });

  it("is read again without a change after its read was given up", async () => {
    put("country.mmdb", countries());
    const found = places();
    await found.reload(AbortSignal.abort());
    expect(found.reloadFailures).toBe(0);
    await found.reload(signal);
    expect(found.placeOf("203.0.113.9")?.country).toBe("NL");
  });

  it.each([
    ["text", Buffer.from("<html>not found</html>"), "the file is no MMDB database"],
    ["cut off", countries().subarray(0, 300), "the file is no MMDB database"],
    ["without its tree", countries().subarray(-180), "the file is no MMDB database"],
    ["empty", Buffer.alloc(0), "the file is no MMDB database"],
    ["of another type", networks(), "the file is a database of the type GeoLite2-ASN"],
  ])("leaves the database in use when it is %s, and says so once", async (_what, bytes, said) => {
    put("country.mmdb", countries());
    const found = places();
    await found.reload(signal);
    put("country.mmdb", bytes);
    await found.reload(signal);
    await found.reload(signal);
    expect(found.placeOf("203.0.113.9")?.country).toBe("NL");
    expect(found.reloadFailures).toBe(1);
    const errors = lines.filter((line) => line.includes("could not be loaded"));
    expect(errors).toHaveLength(1);
    expect(errors[0]).toContain(said);
    expect(errors[0]).toContain("the one before it stays in use");
  });
});
