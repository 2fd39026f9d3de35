import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { cleanEnvironment, rest, watchStart } from "../contract/daemon.ts";
import { RUNS_SOURCES } from "../support/launcher.ts";
import { spawn } from "../support/spawn.ts";

const root = join(import.meta.dirname, "../..");

/** Without it: `test/contract/tokens.test.ts`. */
describe.skipIf(RUNS_SOURCES)("the tree of a release", () => {
  const parent = mkdtempSync(join(tmpdir(), "steward-test-"));
  afterAll(() => rmSync(parent, { recursive: true }));

  it("answers github/info with the build information in its manifest", async () => {
    const tree = join(parent, "tree");
    cpSync(join(root, "dist"), tree, { recursive: true });
    const manifest = JSON.parse(readFileSync(join(tree, "package.json"), "utf8")) as object;
    const release = {
      projectName: "steward",
      projectDocs: "docs/README.md",
      version: "1.2.3",
      revision: "a".repeat(40),
      branch: "HEAD",
      date: "2026-01-02T03:04:05.000Z",
      user: "release@steward",
    };
    writeFileSync(join(tree, "package.json"), JSON.stringify({ ...manifest, release }));
    const child = spawn(join(tree, "bin/steward"), ["-demo"], {
      env: {
        ...cleanEnvironment,
        STEWARD_STATE__DIRECTORY: join(parent, "state"),
        STEWARD_GATEWAY__LISTEN: "127.0.0.1:0",
      },
      cwd: parent,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const daemon = await watchStart(child);
    try {
      expect((await rest(daemon, "GET", "/v1/github/info")).json.data).toEqual({
        project_name: "steward",
        project_docs: "docs/README.md",
        build_version: "1.2.3",
        build_revision: "a".repeat(40),
        build_branch: "HEAD",
        build_date: "2026-01-02T03:04:05.000Z",
        build_user: "release@steward",
      });
    } finally {
      await daemon.stop();
    }
  });
});
