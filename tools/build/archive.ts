/** Packs a built tree into the archive that is handed out: `steward-VERSION-linux-x64.tar.zst`. */
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { constants, zstdCompressSync } from "node:zlib";

export interface ArchiveOptions {
  /** Of zstd, 1 to 19. 12 takes half a minute and leaves a third; 19 takes five times as long. */
  readonly level?: number;
  /** Throws when the archive is larger. */
  readonly limitBytes?: number;
}

const LEVEL = 12;
const LIMIT_BYTES = 50e6;
const MAX_TREE_BYTES = 2 ** 30;

/**
 * Writes the archive of `tree` to the folder `target`; its path. Everything lies in one folder
 * named after the version. Symbols of Node's binary, which only a debugger reads, are left out:
 * 18 of 127 MB. Needs `strip` and GNU `tar`.
 */
export function packTree(
  tree: string,
  target: string,
  { level = LEVEL, limitBytes = LIMIT_BYTES }: ArchiveOptions = {},
): string {
  const { name, version } = JSON.parse(readFileSync(join(tree, "package.json"), "utf8")) as {
    readonly name: string;
    readonly version: string;
  };
  const file = join(target, `${name}-${version}-${process.platform}-${process.arch}.tar.zst`);
  const staging = mkdtempSync(join(target, "dist."));
  try {
    const copy = join(staging, `${name}-${version}`);
    cpSync(tree, copy, { recursive: true });
    stripBinary(join(copy, "node_modules", `node-${process.platform}-${process.arch}`, "bin/node"));
    compress(copy, file, level);
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
  const { size } = statSync(file);
  if (size > limitBytes)
    throw new Error(`${file} has ${size} bytes, more than the limit of ${limitBytes}`);
  return file;
}

/** The copy is a file of its own; the tree's may be the same file as that of the package. */
function stripBinary(file: string): void {
  try {
    execFileSync("strip", [file], { stdio: ["ignore", "ignore", "inherit"] });
  } catch (error) {
    throw new Error("`strip` cannot be run: install binutils", { cause: error });
  }
}

function compress(folder: string, file: string, level: number): void {
  // Equal trees give equal archives, whoever packs them and when.
  const same = ["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mtime=@0"];
  const tar = execFileSync("tar", ["-c", ...same, "-C", dirname(folder), basename(folder)], {
    stdio: ["ignore", "pipe", "inherit"],
    maxBuffer: MAX_TREE_BYTES,
  });
  // In one go: the bytes of a compressing stream depend on how the input was cut.
  const params = { [constants.ZSTD_c_compressionLevel]: level };
  writeFileSync(file, zstdCompressSync(tar, { params }));
}
