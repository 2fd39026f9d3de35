/**
 * The sources, as `npm start` runs them on a clone without a build: all other tests start the built
 * tree (test/support/launcher.ts).
 */
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it, vi } from "vitest";
import { spawn } from "../support/spawn.ts";
import { smallArchive, writeFiles } from "./corpus.ts";
import {
  cleanEnvironment,
  commandEnd,
  removeTemporaryFolders,
  rest,
  temporaryFolder,
  watchStart,
} from "./daemon.ts";

const root = join(import.meta.dirname, "../..");
const SOON = { timeout: 60_000, interval: 100 };

afterAll(removeTemporaryFolders);

function startSources(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  // Otherwise the launcher runs the built tree.
  expect(existsSync(join(root, "lib"))).toBe(false);
  return spawn(join(root, "bin/steward"), args, {
    env: { ...cleanEnvironment, ...env },
    cwd: tmpdir(),
  });
}

it("of all three services run: the demo finds groups, mints a token, is scraped, and ends", async () => {
  const daemon = await watchStart(
    startSources([], {
      XDG_STATE_HOME: temporaryFolder(),
      STEWARD_DEMO: "true",
      STEWARD_DEMO_ROOT_TOKEN: "demo",
      STEWARD_GATEWAY__LISTEN: "127.0.0.1:0",
    }),
  );
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
  const metrics = await vi.waitFor(() => {
    const address = /curl -s (http:\/\/127\.0\.0\.1:\d+\/metrics)/.exec(daemon.stderr.join("\n"));
    return address?.[1] ?? expect.fail("the pull endpoint is not named yet");
  }, SOON);
  await vi.waitFor(
    async () =>
      expect(await (await fetch(metrics)).text()).toMatch(/^vpn_device_online_ratio\{.*\} 1/m),
    SOON,
  );
  expect(await daemon.stop()).toEqual({ code: 0, signal: null });
});

it("of a command run: duplicates of a folder are found", async () => {
  const folder = temporaryFolder();
  writeFiles(folder, smallArchive);
  const result = await commandEnd(startSources(["dedup", "--json", "--quiet", folder]));
  expect([result.code, result.stderr]).toEqual([0, ""]);
  expect(JSON.parse(result.stdout).groups.length).toBeGreaterThan(0);
});
