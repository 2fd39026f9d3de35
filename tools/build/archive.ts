/** Packs a built tree into the archive that is handed out: `steward-VERSION-linux-x64.tar.zst`. */
import { execFileSync, spawn } from "node:child_process";
import { createWriteStream, cpSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { constants, createZstdCompress } from "node:zlib";

export interface ArchiveOptions {
  /** Of zstd, 1 to 19. 12 takes half a minute and leaves a third; 19 takes five times as long. */
  readonly level?: number;
  /** Throws when the archive is larger. */
  readonly limitBytes?: number;
}

const LEVEL = 12;
const LIMIT_BYTES = 50e6;

/**
 * Writes the archive of `tree` to the folder `target`; its path. Everything lies in one folder
 * named after the version. Symbols of Node's binary, which only a debugger reads, are left out:
 * 18 of 127 MB. Needs `strip` and GNU `tar`.
 */
export async function packTree(
  tree: string,
  target: string,
  { level = LEVEL, limitBytes = LIMIT_BYTES }: ArchiveOptions = {},
): Promise<string> {
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
    await compress(copy, file, level);
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

async function compress(folder: string, file: string, level: number): Promise<void> {
  // Equal trees give equal archives, whoever packs them and when.
  const same = ["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mtime=@0"];
  const tar = spawn("tar", ["-c", ...same, "-C", dirname(folder), basename(folder)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise<void>((resolve, reject) => {
    tar.once("error", reject);
    tar.once("close", (code) =>
      code === 0 ? resolve() : reject(new Error(`tar ended with ${code}`)),
    );
  });
  await Promise.all([
    ended,
    pipeline(
      tar.stdout,
      createZstdCompress({ params: { [constants.ZSTD_c_compressionLevel]: level } }),
      createWriteStream(file),
    ),
  ]);
}
