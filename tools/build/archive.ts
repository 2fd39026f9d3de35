/** Packs a built tree into the archive that is handed out: `steward-VERSION-linux-x64.tar.zst`. */
import { execFileSync } from "node:child_process";
import {
  cpSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { constants, zstdCompressSync } from "node:zlib";
import { withoutSymbols } from "./symbols.ts";

export interface ArchiveOptions {
  /** Of zstd, 1 to 19. 12 takes half a minute and leaves a third; 19 takes five times as long. */
  readonly level?: number;
  /** Throws when the archive is larger. */
  readonly limitBytes?: number;
  /** The time of all files in it, in seconds since 1970; 0 by default. */
  readonly time?: number;
}

const LEVEL = 12;
const LIMIT_BYTES = 50e6;
const MAX_TREE_BYTES = 2 ** 30;

/**
 * Writes the archive of `tree` for this machine's architecture to the folder `target`; its path.
 * Everything lies in one folder named after the version. Needs GNU `tar`.
 */
export function packTree(tree: string, target: string, options: ArchiveOptions = {}): string {
  const { name, version } = JSON.parse(readFileSync(join(tree, "package.json"), "utf8")) as {
    readonly name: string;
    readonly version: string;
  };
  const staging = mkdtempSync(join(target, "dist."));
  try {
    const copy = join(staging, `${name}-${version}`);
    cpSync(tree, copy, { recursive: true });
    stripNode(copy, process.arch);
    return packFolder(copy, target, `${process.platform}-${process.arch}`, options);
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

/**
 * Writes the archive `FOLDER-SYSTEM.tar.zst` of a finished folder to the folder `target`; its path.
 * Equal trees give equal archives, whoever packs them and when. Throws above the limit of bytes.
 */
export function packFolder(
  folder: string,
  target: string,
  system: string,
  { level = LEVEL, limitBytes = LIMIT_BYTES, time = 0 }: ArchiveOptions = {},
): string {
  const file = join(target, `${basename(folder)}-${system}.tar.zst`);
  const same = ["--sort=name", "--owner=0", "--group=0", "--numeric-owner", `--mtime=@${time}`];
  const modes = ["--format=gnu", "--mode=u=rwX,go=rX"];
  const tar = execFileSync(
    "tar",
    ["-c", ...same, ...modes, "-C", dirname(folder), basename(folder)],
    { stdio: ["ignore", "pipe", "inherit"], maxBuffer: MAX_TREE_BYTES },
  );
  // In one go: the bytes of a compressing stream depend on how the input was cut.
  const params = { [constants.ZSTD_c_compressionLevel]: level };
  writeFileSync(file, zstdCompressSync(tar, { params }));
  const { size } = statSync(file);
  if (size > limitBytes)
    throw new Error(`${file} has ${size} bytes, more than the limit of ${limitBytes}`);
  return file;
}

/**
 * Takes the symbols from Node's binary in `tree`. The file is a new one: the old one may be that of
 * the package under a second name.
 */
export function stripNode(tree: string, architecture: string): void {
  const file = join(tree, "node_modules", `node-linux-${architecture}`, "bin/node");
  writeFileSync(`${file}.new`, withoutSymbols(readFileSync(file)), { mode: 0o755 });
  renameSync(`${file}.new`, file);
}
