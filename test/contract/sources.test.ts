/**
 * The sources, as `npm start` runs them on a clone without a build: all other tests start the built
 * tree (test/support/launcher.ts).
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { smallArchive, writeFiles } from "./corpus.ts";
import {
  removeTemporaryFolders,
  rest,
  runSteward,
  scrape,
  startDaemon,
  temporaryFolder,
} from "./daemon.ts";

const SOON = { timeout: 60_000, interval: 100 };

// Where this is, the launcher runs a built tree.
beforeAll(() => expect(existsSync(join(import.meta.dirname, "../../lib"))).toBe(false));
afterAll(removeTemporaryFolders);

it("of all three services run: the demo finds groups, mints a token, is scraped, and ends", async () => {
  const daemon = await startDaemon({
    sources: true,
    env: {
      XDG_STATE_HOME: temporaryFolder(),
      STEWARD_DEMO: "true",
      STEWARD_DEMO_ROOT_TOKEN: "demo",
      STEWARD_GATEWAY__LISTEN: "127.0.0.1:0",
    },
  });
  await vi.waitFor(
    async () =>
      expect((await rest(daemon, "GET", "/api/v1/duplicates")).json.meta.total).toBeGreaterThan(10),
    SOON,
  );
  const minted = await rest(
    daemon,
    "POST",
    "/v1/github/token",
    { org_name: "example-org" },
    { "x-vault-token": "demo" },
  );
  expect([minted.status, minted.json.data]).toEqual([
    200,
    expect.objectContaining({ token: expect.stringMatching(/^ghs_/) as string }),
  ]);
  await vi.waitFor(
    async () => expect(await scrape(daemon)).toMatch(/^vpn_device_online_ratio\{.*\} 1/m),
    SOON,
  );
  expect(await daemon.stop()).toEqual({ code: 0, signal: null });
});

it("of a command run: duplicates of a folder are found", async () => {
  const folder = temporaryFolder();
  writeFiles(folder, smallArchive);
  const result = await runSteward(["dedup", "--json", "--quiet", folder], { sources: true });
  expect([result.code, result.stderr]).toEqual([0, ""]);
  expect(JSON.parse(result.stdout).groups.length).toBeGreaterThan(0);
});
