/** Places of addresses: from files that change and from a download, as far as users see them. */
import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it, vi } from "vitest";
import { BUILT, cities, countries, networks } from "../support/geo/databases.ts";
import { ACCOUNT, archiveOf, LICENSE_KEY, startVendor } from "../support/geo/vendor.ts";
import { removeTemporaryFolders, rest, temporaryFolder } from "./daemon.ts";
import { post, startReceiving, TOKEN, type Received } from "./receivers.ts";

afterAll(removeTemporaryFolders);

const SOON = { timeout: 60_000, interval: 50 };

let next = 0;
function flowTo(address: string): string {
  next += 1;
  const at = (ms: number): string => new Date(Date.now() - 10_000 + ms).toISOString();
  return JSON.stringify({
    event: {
      logged: at(5_000),
      nodeId: "nAAAcntrl",
      start: at(0),
      end: at(4_000),
      exitTraffic: [
        {
          proto: 6,
          src: `100.64.0.7:${1024 + next}`,
          dst: `${address}:443`,
          txPkts: 9,
          txBytes: 1_200,
          rxPkts: 8,
          rxBytes: 5_400,
        },
      ],
    },
  });
}

/** At once, as a download does it: a file that is half written would be read as a broken one. */
function replace(path: string, content: string | Buffer): void {
  writeFileSync(`${path}.new`, content);
  renameSync(`${path}.new`, path);
}

async function send(receiving: Received, address: string): Promise<void> {
  const headers = { authorization: `Splunk ${TOKEN}` };
  const reply = await post(receiving.port("stream"), { headers, body: flowTo(address) });
  expect(reply.status).toBe(200);
}

async function geoip(receiving: Received) {
  return (await rest(receiving.daemon, "GET", "/api/status.json")).json.geoip;
}

const streaming = { enabled: true, listen: "127.0.0.1:0", token: TOKEN };

it("places flows and devices by databases in files, and takes a new file but no broken one", async () => {
  const folder = temporaryFolder();
  const country = join(folder, "city.mmdb");
  const asn = join(folder, "asn.mmdb");
  writeFileSync(country, cities());
  writeFileSync(asn, networks());
  await using receiving = await startReceiving({
    streaming,
    cardinality: { flow: { geo_dims: true } },
    enrichment: {
      geoip: {
        enabled: true,
        country_database: country,
        asn_database: asn,
        reload_interval: "100ms",
        acknowledge_cardinality: true,
      },
    },
  });
  await send(receiving, "203.0.113.7");
  await vi.waitFor(
    () =>
      expect(
        receiving.sum("vpn.network.io.rollup", {
          "destination.geo.country.iso_code": "GB",
          "destination.geo.continent.code": "EU",
          "network.io.direction": "transmit",
        }),
      ).toBe(1_200),
    SOON,
  );
  await vi.waitFor(
    () =>
      expect(
        receiving.exported
          .logs()
          .findLast(({ attributes }) => attributes["destination.address"] === "203.0.113.7")
          ?.attributes,
      ).toMatchObject({
        "destination.geo.country.iso_code": "GB",
        "destination.geo.continent.code": "EU",
        "destination.geo.locality.name": "Oxford",
        "destination.geo.region.iso_code": "OXF",
        "destination.geo.location.lat": 51.75,
        "destination.geo.location.lon": -1.25,
        "destination.as.number": 64_500,
        "destination.as.organization.name": "Example Carrier",
      }),
    SOON,
  );
  // Devices of the estate reach the network from addresses of 203.0.113.0/24, among others.
  await vi.waitFor(
    () =>
      expect(
        receiving.sum("vpn.devices.by_country", { "geo.country.iso_code": "GB" }),
      ).toBeGreaterThan(0),
    SOON,
  );

  replace(country, "broken");
  await vi.waitFor(async () => expect((await geoip(receiving)).reload_failures).toBe(1), SOON);
  replace(country, countries("BE", BUILT + 86_400));
  await vi.waitFor(async () => expect((await geoip(receiving)).reloads).toBe(3), SOON);
  expect(await geoip(receiving)).toEqual({
    enabled: true,
    download_enabled: false,
    geo_dims: true,
    country_path: country,
    country_type: "GeoLite2-Country",
    country_build_time: "2026-11-02T00:00:00Z",
    country_age: expect.stringMatching(/\d/),
    country_hits: expect.any(Number),
    country_misses: expect.any(Number),
    asn_path: asn,
    asn_type: "GeoLite2-ASN",
    asn_build_time: "2026-11-01T00:00:00Z",
    asn_age: expect.stringMatching(/\d/),
    asn_hits: expect.any(Number),
    asn_misses: expect.any(Number),
    skipped: expect.any(Number),
    reloads: 3,
    reload_failures: 1,
  });
  await send(receiving, "203.0.113.8");
  const rest = (name: string, attributes: Readonly<Record<string, string>>): number =>
    receiving.sum(name, attributes);
  await vi.waitFor(() => {
    expect(
      rest("vpn.network.io.rollup", {
        "destination.geo.country.iso_code": "BE",
        "network.io.direction": "receive",
      }),
    ).toBe(5_400);
    expect(rest("vpn.geoip.lookups", { "geoip.database": "asn", result: "hit" })).toBeGreaterThan(
      0,
    );
    expect(
      rest("vpn.geoip.lookups", { "geoip.database": "skipped", result: "skipped" }),
    ).toBeGreaterThan(0);
    expect(rest("vpn.geoip.reloads", { "geoip.database": "country", result: "success" })).toBe(2);
    expect(rest("vpn.geoip.reloads", { "geoip.database": "skipped", result: "failure" })).toBe(1);
    expect(rest("vpn.geoip.database.build_time", { "geoip.database": "country" })).toBe(
      BUILT + 86_400,
    );
  }, SOON);
});

it("downloads its databases at the start, counts what fails, and never writes its license key", async () => {
  await using vendor = await startVendor();
  const edition = "GeoLite2-Country";
  vendor.archives.set(edition, {
    bytes: await archiveOf(edition, countries()),
    modified: new Date("2026-11-02T00:00:00Z"),
  });
  const directory = join(temporaryFolder(), "geo");
  await using receiving = await startReceiving({
    streaming,
    enrichment: {
      geoip: {
        enabled: true,
        download: {
          enabled: true,
          account_id: ACCOUNT,
          license_key: LICENSE_KEY,
          directory,
          endpoint: vendor.endpoint,
        },
      },
    },
  });
  await vi.waitFor(
    async () =>
      expect(await geoip(receiving)).toMatchObject({
        enabled: true,
        download_enabled: true,
        geo_dims: false,
        country_path: join(directory, `${edition}.mmdb`),
        country_type: edition,
        reloads: 1,
      }),
    SOON,
  );
  // The other edition is not to be had.
  await vi.waitFor(
    () =>
      expect(
        receiving.daemon.stderr.filter((line) => line.includes("the download of a geo database")),
      ).toEqual([expect.stringContaining("GeoLite2-ASN")]),
    SOON,
  );
  await vi.waitFor(() => {
    const sum = (result: string, of: string): number =>
      receiving.sum("vpn.geoip.downloads", { result, "geoip.edition": of });
    expect([
      sum("updated", edition),
      sum("failure", "GeoLite2-ASN"),
      sum("failure", edition),
    ]).toEqual([1, 1, 0]);
  }, SOON);
  expect(receiving.daemon.stderr.join("\n")).not.toContain(LICENSE_KEY);
  expect(await geoip(receiving)).not.toHaveProperty("asn_path");
});
