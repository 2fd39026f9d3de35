import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { isLongRun } from "../support/long-run.ts";

const root = join(import.meta.dirname, "../..");
const TWENTY_MINUTES = 20 * 60_000;

describe.skipIf(!isLongRun)("two releases of one commit (minutes: npm run test:long)", () => {
  const folders = [
    mkdtempSync(join(tmpdir(), "steward-test-")),
    mkdtempSync(join(tmpdir(), "steward-release-")),
  ];
  afterAll(() => {
    for (const folder of folders) rmSync(folder, { recursive: true });
  });

  function clone(folder: string): string {
    const copy = join(folder, "clone");
    execFileSync("git", ["clone", "--quiet", "--shared", root, copy]);
    execFileSync("cp", ["-al", join(root, "node_modules"), copy]);
    return copy;
  }

  function release(copy: string, umask: string): string {
    const script = `umask ${umask} && npm run -s release`;
    execFileSync("sh", ["-c", script], { cwd: copy, stdio: "inherit" });
    return join(copy, "release");
  }

  it(
    "have the same bytes, whatever the folder and the umask",
    () => {
      // Both first: the branch may move meanwhile.
      const clones = folders.map(clone);
      const first = release(clones[0] ?? "", "022");
      const second = release(clones[1] ?? "", "077");
      const sums = readFileSync(join(first, "SHA256SUMS"), "utf8");
      expect(readFileSync(join(second, "SHA256SUMS"), "utf8")).toBe(sums);
      expect(sums).toMatch(/ steward-\S+-linux-arm64\.tar\.zst\n/);
      expect(spawnSync("sha256sum", ["--check", "SHA256SUMS"], { cwd: second }).status).toBe(0);
    },
    TWENTY_MINUTES,
  );
});
