import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { makeFolder } from "../../../../src/kernel/base/system/folder.ts";

const root = mkdtempSync(join(tmpdir(), "steward-folder-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

describe("makeFolder", () => {
  it("makes what is missing, for this user alone, and is content with what is there", () => {
    const path = join(root, "a/b/c");
    makeFolder(path);
    makeFolder(path);
    expect(statSync(path).mode & 0o777).toBe(0o700);
    expect(statSync(join(root, "a")).mode & 0o777).toBe(0o700);
  });

  it("says what the system says where no folder can be", () => {
    writeFileSync(join(root, "file"), "");
    expect(() => makeFolder(join(root, "file/x"))).toThrow("ENOTDIR");
  });

  it.runIf(existsSync("/proc/self"))("ends where the kernel makes no folders", () => {
    expect(() => makeFolder("/proc/nope/deeper")).toThrow(/ENOENT|EACCES|EPERM/);
  });
});
