/**
 * Large bodies of clients without a credential cost next to no memory: on the running daemon, its
 * limits as shipped.
 */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { folderConfig, smallArchive, writeFiles } from "../contract/corpus.ts";
import {
  type Daemon,
  removeTemporaryFolders,
  rest,
  startDaemon,
  temporaryFolder,
} from "../contract/daemon.ts";
import { largeBodies } from "../support/attacks.ts";

const TOKEN = "operator-token-of-this-test";
const COUNT = 40;
const BYTES = 31 * 2 ** 20;
const MORE_MIB = 64;
const REMAINS_MIB = 20;
const SETTLED_MS = 30_000;

let daemon: Daemon;

beforeAll(async () => {
  const archive = temporaryFolder();
  writeFiles(archive, smallArchive);
  daemon = await startDaemon({
    launched: true,
    config: folderConfig(temporaryFolder(), archive),
    env: { STEWARD_AUTH__TOKEN: TOKEN },
  });
  // What the first requests of a process cost is not theirs.
  for (let round = 0; round < 200; round += 1)
    await rest(daemon, "GET", "/api/v1/jobs", undefined, { authorization: `Bearer ${TOKEN}` });
});

afterAll(async () => {
  await daemon.stop();
  removeTemporaryFolders();
});

function residentMiB(): number {
  return (
    Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${daemon.pid}/status`, "utf8"))?.[1] ?? 0) /
    1_024
  );
}

describe(`${COUNT} bodies of 31 MiB at once without a token`, () => {
  it.each([
    ["/v1/sys/wrapping/unwrap", "length", "h1"],
    ["/v1/sys/wrapping/unwrap", "chunked", "h1"],
    ["/api/v1/sync", "length", "h1"],
    ["/api/v1/sync", "chunked", "h1"],
    ["/steward.dedup.v1.SystemService/GetHealth", "length", "h1"],
    ["/steward.dedup.v1.SystemService/GetHealth", "chunked", "h1"],
    ["/v1/sys/wrapping/unwrap", "length", "h2"],
    ["/v1/sys/wrapping/unwrap", "chunked", "h2"],
    ["/api/v1/sync", "chunked", "h2"],
  ] as const)(
    "to %s, by %s, over %s, are refused without being held",
    async (path, framing, version) => {
      const beforeMiB = residentMiB();
      let mostMiB = 0;
      const watch = setInterval(() => (mostMiB = Math.max(mostMiB, residentMiB())), 5);
      const statuses = await largeBodies(
        { url: daemon.url, version },
        { count: COUNT, bytes: BYTES, path, framing },
      ).finally(() => clearInterval(watch));
      // Each is told why; the connection that is still sending may be gone before its client reads
      // that.
      expect(
        statuses.filter((status) => ![0, 401, 403, 408, 413, 429, 503].includes(status)),
      ).toEqual([]);
      expect(statuses.filter((status) => status !== 0).length).toBeGreaterThan(COUNT / 2);
      expect(mostMiB - beforeMiB).toBeLessThan(MORE_MIB);
      await expect
        .poll(residentMiB, { interval: 500, timeout: SETTLED_MS })
        .toBeLessThan(beforeMiB + REMAINS_MIB);
      expect(
        (await rest(daemon, "GET", "/api/v1/jobs", undefined, { authorization: `Bearer ${TOKEN}` }))
          .status,
      ).toBe(200);
    },
  );
});
