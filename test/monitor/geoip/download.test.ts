import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { packTar } from "modern-tar";
import { afterAll, describe, expect, it } from "vitest";
import { systemClock } from "../../../src/kernel/base/clock.ts";
import { download } from "../../../src/monitor/geoip/download.ts";
import type { GeoDownloadOptions } from "../../../src/monitor/geoip/types.ts";
import { countries, networks } from "../../support/geo/databases.ts";
import {
  ACCOUNT,
  archiveOf,
  LICENSE_KEY,
  startVendor,
  type Vendor,
} from "../../support/geo/vendor.ts";

const EDITION = "GeoLite2-Country";
const root = mkdtempSync(join(tmpdir(), "steward-geo-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const MODIFIED = new Date("2026-11-02T03:04:05Z");
let next = 0;

function optionsFor(vendor: Vendor, given: Partial<GeoDownloadOptions> = {}): GeoDownloadOptions {
  next += 1;
  return {
    accountId: ACCOUNT,
    licenseKey: { sentSecret: LICENSE_KEY, origin: "test" },
    editions: [EDITION],
    directory: join(root, String(next)),
    intervalMs: 86_400_000,
    timeoutMs: 10_000,
    endpoint: vendor.endpoint,
    ...given,
  };
}

async function fetched(options: GeoDownloadOptions, signal = new AbortController().signal) {
  return await download({ clock: systemClock, version: "1.0.0" }, options, EDITION, signal);
}

async function offering(database = countries()): Promise<Vendor> {
  const vendor = await startVendor();
  vendor.archives.set(EDITION, { bytes: await archiveOf(EDITION, database), modified: MODIFIED });
  return vendor;
}

describe("a download", () => {
  it("installs the database with the vendor's time, and asks for newer ones only", async () => {
    await using vendor = await offering();
    const options = optionsFor(vendor);
    expect(await fetched(options)).toBe("updated");
    const path = join(options.directory, `${EDITION}.mmdb`);
    expect(readFileSync(path)).toEqual(countries());
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(path).mtime).toEqual(MODIFIED);
    expect(readdirSync(options.directory)).toEqual([`${EDITION}.mmdb`]);
    expect(await fetched(options)).toBe("unmodified");
    expect(vendor.requests.at(-1)?.since).toBe(MODIFIED.toUTCString());
  });

  it("replaces an installed file that was damaged, which a newer one would not", async () => {
    await using vendor = await offering();
    const options = optionsFor(vendor);
    await fetched(options);
    const path = join(options.directory, `${EDITION}.mmdb`);
    writeFileSync(path, "damaged");
    utimesSync(path, MODIFIED, MODIFIED);
    expect(await fetched(options)).toBe("updated");
    expect(readFileSync(path)).toEqual(countries());
  });

  it("sends its credentials to the service alone, not where that redirects", async () => {
    await using vendor = await offering();
    await fetched(optionsFor(vendor));
    expect(vendor.requests.map(({ path, authorized }) => [path, authorized])).toEqual([
      [`/geoip/databases/${EDITION}/download?suffix=tar.gz`, true],
      [`store /geoip/databases/${EDITION}/download?suffix=tar.gz`, false],
      [`/geoip/databases/${EDITION}/download?suffix=tar.gz.sha256`, true],
      [`store /geoip/databases/${EDITION}/download?suffix=tar.gz.sha256`, false],
    ]);
  });

  it.each<[string, (vendor: Vendor) => void | Promise<void>, RegExp]>([
    [
      "with another checksum",
      (vendor) =>
        void Object.assign(vendor.archives.get(EDITION) ?? {}, { checksum: "0".repeat(64) }),
      /the archive's SHA-256 is [0-9a-f]{64}, the vendor's is 0{64}/,
    ],
    [
      "with a checksum that is none",
      (vendor) => void Object.assign(vendor.archives.get(EDITION) ?? {}, { checksum: "<html>" }),
      /the vendor's answer is no SHA-256/,
    ],
    [
      "that is no archive",
      (vendor) =>
        void vendor.archives.set(EDITION, { bytes: Buffer.from("nothing"), modified: MODIFIED }),
      /the archive is damaged/,
    ],
    [
      "without a database",
      async (vendor) =>
        void vendor.archives.set(EDITION, {
          bytes: gzipSync(
            await packTar([{ header: { name: "a.txt", size: 1, type: "file" }, body: "x" }]),
          ),
          modified: MODIFIED,
        }),
      /the archive has no database/,
    ],
    [
      "with a link in place of the database",
      async (vendor) =>
        void vendor.archives.set(EDITION, {
          bytes: gzipSync(
            await packTar([
              {
                header: { name: "a.mmdb", size: 0, type: "symlink", linkname: "/etc/passwd" },
              },
            ]),
          ),
          modified: MODIFIED,
        }),
      /the archive has no database/,
    ],
    [
      "with a database of another type",
      async (vendor) =>
        void vendor.archives.set(EDITION, {
          bytes: await archiveOf(EDITION, networks()),
          modified: MODIFIED,
        }),
      /not of countries/,
    ],
    [
      "whose credentials are refused",
      (vendor) =>
        void (vendor.fault = (_request, response) => {
          response.writeHead(401).end();
          return true;
        }),
      /401/,
    ],
    [
      "while there were too many",
      (vendor) =>
        void (vendor.fault = (_request, response) => {
          response.writeHead(429).end();
          return true;
        }),
      /429/,
    ],
    [
      "that redirects without end",
      (vendor) =>
        void (vendor.fault = (request, response) => {
          response.writeHead(302, { location: request.url ?? "" }).end();
          return true;
        }),
      /more than 5 redirects/,
    ],
    [
      "that breaks off",
      (vendor) =>
        void (vendor.fault = (_request, response) => {
          response.writeHead(200, { "content-length": "1000" });
          response.write("part", () => response.destroy());
          return true;
        }),
      /./,
    ],
  ])("%s leaves what is installed, and nothing else", async (_what, breaks, said) => {
    await using vendor = await offering();
    const options = optionsFor(vendor);
    await fetched(options);
    const path = join(options.directory, `${EDITION}.mmdb`);
    const before = readFileSync(path);
    vendor.archives.set(EDITION, {
      bytes: await archiveOf(EDITION, countries("BE")),
      modified: new Date(MODIFIED.getTime() + 60_000),
    });
    await breaks(vendor);
    for (const archive of vendor.archives.values())
      archive.modified = new Date(MODIFIED.getTime() + 60_000);
    const failure = await fetched(options).then(String, (error: unknown) => String(error));
    expect(failure).toMatch(said);
    expect(failure).not.toContain(LICENSE_KEY);
    expect(failure).not.toBe("updated");
    expect(readFileSync(path)).toEqual(before);
    expect(readdirSync(options.directory)).toEqual([`${EDITION}.mmdb`]);
  });

  it("ends at its timeout, and with its signal", async () => {
    await using vendor = await offering();
    vendor.fault = () => true;
    const options = optionsFor(vendor, { timeoutMs: 50 });
    await expect(fetched(options)).rejects.toThrow("the download took longer than 50 ms");
    const stop = new AbortController();
    const reason = new Error("the process is stopping");
    vendor.fault = () => {
      stop.abort(reason);
      return true;
    };
    await expect(fetched(optionsFor(vendor), stop.signal)).rejects.toBe(reason);
    expect(existsSync(join(options.directory, `${EDITION}.mmdb`))).toBe(false);
  });
});
