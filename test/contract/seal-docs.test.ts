/**
 * Runs docs/seal.md from its first command to its last, as it stands there, with OpenBao's own
 * client. Only the daemon's address is replaced.
 */
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { parse } from "yaml";
import {
  cleanEnvironment,
  type Daemon,
  removeTemporaryFolders,
  startDaemon,
  temporaryFolder,
} from "./daemon.ts";
import { type Shell, snippetsOf, startShell } from "./page-snippets.ts";
import { vaultRequest } from "./vault.ts";

const root = join(import.meta.dirname, "../..");
const path = `${join(root, ".cache/python/bin")}:${cleanEnvironment["PATH"] ?? ""}`;
const missing = ["bao", "curl", "jq"].filter(
  (name) => spawnSync("sh", ["-c", `command -v ${name}`], { env: { PATH: path } }).status !== 0,
);
if (missing.length > 0)
  process.stderr.write(
    `skipped: the commands of docs/seal.md (without ${missing.join(", ")}; \`.ci/run\` puts bao into .cache/python where Python is)\n`,
  );

const snippets = [...snippetsOf(readFileSync(join(root, "docs/seal.md"), "utf8"))];

describe.skipIf(missing.length > 0)("the commands of docs/seal.md", () => {
  const work = temporaryFolder();
  let daemon: Daemon;
  let shell: Shell;

  beforeAll(() => {
    shell = startShell({
      cwd: work,
      env: { ...cleanEnvironment, PATH: path, HOME: work },
    });
  });

  afterAll(async () => {
    await shell.close();
    await daemon.stop();
    removeTemporaryFolders();
  });

  /** The next block of the page, which stands under this heading. */
  function take(section: string): string {
    const snippet = snippets.shift();
    expect(snippet?.section).toBe(section);
    return snippet?.text.replaceAll("http://127.0.0.1:8400", daemon?.url ?? "") ?? "";
  }

  const follow = (section: string): Promise<string> => shell.run(take(section));

  it("initialise, unseal, make new shares, generate root tokens and rotate", async () => {
    const settings = take("Initialise");
    expect(parse(settings)).toEqual({ tokens: { seal: { type: "shamir" } } });
    const config = join(work, "steward.yaml");
    writeFileSync(config, settings);
    daemon = await startDaemon({
      args: ["-config", config],
      env: {
        STEWARD_STATE__DIRECTORY: temporaryFolder(),
        STEWARD_GATEWAY__LISTEN: "127.0.0.1:0",
        STEWARD_SERVICES__DEDUP: "false",
      },
    });
    await follow("Initialise");
    expect(await follow("Unseal")).toMatch(/Sealed +false/);
    await follow("New shares");
    expect(await follow("New shares")).toMatch(/Rekey verification successful/i);
    await vi.waitFor(
      () => expect(daemon.stderr.join("\n")).toContain("only its new shares unseal"),
      { timeout: 60_000 },
    );
    const tokens = [await follow("Another root token"), await follow("Another root token")].map(
      (printed) => /hvs\.[0-9A-Za-z]{24}/.exec(printed.trim().split("\n").at(-1) ?? "")?.[0] ?? "",
    );
    for (const token of tokens)
      expect((await vaultRequest(daemon.url, "GET", "sys/mounts", { token })).status).toBe(200);
    expect(await follow("Rotate the data key")).toMatch(/Key Term +3/);
    expect(snippets).toEqual([]);
  });
});
