import fs, {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { assertFree, writeFiles, type NewFiles } from "../../../src/commands/init/files.ts";
import { Secret } from "../../../src/kernel/base/secret.ts";

/** As file systems without hard links: vfat, some network ones. */
function refuseLinks(code: string): void {
  vi.spyOn(fs, "linkSync").mockImplementation(() => {
    throw Object.assign(new Error(code), { code });
  });
  syncBuiltinESMExports();
}

let folder: string;

beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "steward-init-"))));
afterEach(() => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
  rmSync(folder, { recursive: true, force: true });
});

function files(path: string, more: Partial<NewFiles> = {}): NewFiles {
  return {
    path,
    files: [
      { name: "key", content: Secret.of("s3cret", "test") },
      { name: "c.yaml", content: "key_file: key\n" },
    ],
    validate: () => undefined,
    force: false,
    ...more,
  };
}

describe("the files of steward init", () => {
  it("are tried as a whole before any of them appears", () => {
    const path = join(folder, "new/deep/c.yaml");
    writeFiles(
      files(path, {
        validate(draft) {
          expect(readFileSync(join(dirname(draft), "key"), "utf8")).toBe("s3cret\n");
          expect(readdirSync(join(folder, "new/deep"))).toHaveLength(1);
        },
      }),
    );
    expect(readdirSync(join(folder, "new/deep"))).toEqual(["c.yaml", "key"]);
    expect(readFileSync(path, "utf8")).toBe("key_file: key\n");
  });

  it("leave no trace when they are not valid, not even their folders", () => {
    const validate = (): never => {
      throw new Error("not valid");
    };
    expect(() => writeFiles(files(join(folder, "new/deep/c.yaml"), { validate }))).toThrow(
      "cannot be written",
    );
    expect(readdirSync(folder)).toEqual([]);
  });

  it("leave no trace when one of them appeared meanwhile, and keep that one", () => {
    const path = join(folder, "c.yaml");
    const validate = (): void => writeFileSync(path, "somebody else's");
    expect(() => writeFiles(files(path, { validate }))).toThrow(`${path} exists already`);
    expect(readdirSync(folder)).toEqual(["c.yaml"]);
    expect(readFileSync(path, "utf8")).toBe("somebody else's");
  });

  it.each(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"])(
    "appear for their owner only, and over no other, where a file system has no links: %s",
    (code) => {
      refuseLinks(code);
      const path = join(folder, "c.yaml");
      writeFiles(files(path));
      expect(readFileSync(path, "utf8")).toBe("key_file: key\n");
      expect(readFileSync(join(folder, "key"), "utf8")).toBe("s3cret\n");
      expect(statSync(join(folder, "key")).mode & 0o777).toBe(0o600);
      rmSync(join(folder, "key"));
      writeFileSync(path, "somebody else's");
      expect(() => writeFiles(files(path))).toThrow(`${path} exists already`);
      expect(readdirSync(folder)).toEqual(["c.yaml"]);
      expect(readFileSync(path, "utf8")).toBe("somebody else's");
    },
  );

  it("replace others only when forced", () => {
    const path = join(folder, "c.yaml");
    writeFileSync(path, "old");
    expect(() => assertFree(path, ["c.yaml"], false)).toThrow("exists already");
    assertFree(path, ["c.yaml"], true);
    writeFiles(files(path, { force: true }));
    expect(readFileSync(path, "utf8")).toContain("key_file");
    expect(readdirSync(folder)).toEqual(["c.yaml", "key"]);
  });

  it("name the file and the remedy where nothing can be written", () => {
    mkdirSync(join(folder, "sub"));
    writeFileSync(join(folder, "sub/file"), "");
    expect(() => writeFiles(files(join(folder, "sub/file/c.yaml")))).toThrow(
      /sub\/file\/c\.yaml cannot be written/,
    );
  });
});
