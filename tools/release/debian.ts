/** Makes the Debian package of a release's tree with `dpkg-deb`; its own files are in `deploy/debian`. */
import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  cpSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative } from "node:path";
import { gzipSync } from "node:zlib";
import type { Commit } from "./source.ts";
import { setModes, type Architecture } from "./tree.ts";

export interface DebianOptions {
  /** A finished tree, which is copied. */
  readonly tree: string;
  readonly architecture: Architecture;
  readonly commit: Commit;
  /** The folder of the package. */
  readonly target: string;
  /** Of zstd, 1 to 19; 12 by default. */
  readonly level?: number;
}

const DEBIAN_NAMES: Readonly<Record<Architecture, string>> = { x64: "amd64", arm64: "arm64" };
const PROGRAM = "usr/lib/steward";
/** Where the unit of `deploy/systemd` has the program. */
const UNPACKED = "/opt/steward";
const SCRIPTS = ["postinst", "prerm", "postrm"];
const COMPLETIONS = {
  bash: "usr/share/bash-completion/completions/steward",
  zsh: "usr/share/zsh/vendor-completions/_steward",
  fish: "usr/share/fish/vendor_completions.d/steward.fish",
};

export function canMakeDebianPackages(): boolean {
  return spawnSync("dpkg-deb", ["--version"]).status === 0;
}

/** Writes `steward_VERSION_ARCHITECTURE.deb`; its path. Throws what dpkg-deb says. */
export function makeDebianPackage({
  tree,
  architecture,
  commit,
  target,
  level = 12,
}: DebianOptions): string {
  const { version } = JSON.parse(readFileSync(join(tree, "package.json"), "utf8")) as {
    readonly version: string;
  };
  const staging = join(target, ".deb");
  const file = join(target, `steward_${version}_${DEBIAN_NAMES[architecture]}.deb`);
  try {
    placeFiles(tree, staging);
    writeControl(staging, version, DEBIAN_NAMES[architecture]);
    setModes(staging);
    setTimes(staging, commit.time);
    execFileSync(
      "dpkg-deb",
      ["--root-owner-group", "-Zzstd", `-z${level}`, "--threads-max=1", "--build", staging, file],
      {
        env: { ...process.env, SOURCE_DATE_EPOCH: String(commit.time) },
        stdio: ["ignore", "ignore", "inherit"],
      },
    );
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
  return file;
}

function placeFiles(tree: string, staging: string): void {
  const program = join(staging, PROGRAM);
  cpSync(tree, program, { recursive: true });
  const own = join(program, "deploy/debian");
  const put = (path: string, data: string | Buffer): void => {
    mkdirSync(dirname(join(staging, path)), { recursive: true });
    writeFileSync(join(staging, path), data);
  };
  mkdirSync(join(staging, "usr/bin"));
  symlinkSync(`../lib/steward/bin/steward`, join(staging, "usr/bin/steward"));
  put("etc/steward/steward.yaml", readFileSync(join(own, "steward.yaml")));
  put("etc/logrotate.d/steward", readFileSync(join(own, "logrotate")));
  put("usr/lib/systemd/system/steward.service", unitText(program));
  put(
    "usr/share/man/man1/steward.1.gz",
    gzipSync(readFileSync(join(program, "deploy/man/steward.1")), { level: 9 }),
  );
  put("usr/share/doc/steward/copyright", copyrightText(program));
  put(
    "usr/share/doc/steward/changelog.gz",
    gzipSync(readFileSync(join(program, "CHANGELOG.md")), { level: 9 }),
  );
  for (const [shell, path] of Object.entries(COMPLETIONS))
    put(path, completionText(program, shell));
  mkdirSync(join(staging, "DEBIAN"));
  for (const name of SCRIPTS) {
    renameSync(join(own, name), join(staging, "DEBIAN", name));
    chmodSync(join(staging, "DEBIAN", name), 0o755);
  }
  rmSync(own, { recursive: true });
}

/** The unit of the tree with the fixed user and the paths of the package. */
function unitText(program: string): string {
  const unit = readFileSync(join(program, "deploy/systemd/steward.service"), "utf8");
  const [head = "", body = ""] = unit.split(/^(?=\[Unit\])/m);
  if (!body.includes("DynamicUser=yes") || !head.startsWith("#"))
    throw new Error(
      "deploy/systemd/steward.service: has no DynamicUser=yes to replace by the fixed user",
    );
  return body
    .replace("DynamicUser=yes", "User=steward\nGroup=steward")
    .replaceAll(UNPACKED, `/${PROGRAM}`);
}

function copyrightText(program: string): string {
  return ["LICENSE", "LICENSES-OF-PACKAGES.txt"]
    .map((name) => readFileSync(join(program, name), "utf8"))
    .join(`\n${"=".repeat(80)}\n`);
}

/** Said by the bundle itself, run by this Node: the tree's may be for another machine. */
function completionText(program: string, shell: string): string {
  return execFileSync(process.execPath, [join(program, "lib/main.js"), "completion", shell], {
    encoding: "utf8",
  });
}

function writeControl(staging: string, version: string, architecture: string): void {
  const files = readdirSync(staging, { recursive: true, encoding: "utf8" })
    .map((path) => join(staging, path))
    .filter((path) => !path.startsWith(join(staging, "DEBIAN")) && lstatSync(path).isFile())
    .sort();
  const bytes = files.reduce((sum, path) => sum + statSync(path).size, 0);
  const control = {
    Package: "steward",
    Version: version,
    Architecture: architecture,
    Maintainer: "Steward <release@steward.invalid>",
    "Installed-Size": String(Math.ceil(bytes / 1024)),
    Depends: "libc6 (>= 2.28), libstdc++6, libgcc-s1, passwd",
    Recommends: "systemd (>= 250), logrotate",
    Section: "net",
    Priority: "optional",
    Description:
      "monitor of private networks, deduplication of documents, short-lived tokens\n One daemon for a small estate: it exports metrics and events of a Tailscale or\n Headscale network, finds near-duplicate documents, and mints GitHub tokens.",
  };
  const put = (name: string, text: string): void =>
    writeFileSync(join(staging, "DEBIAN", name), text);
  put(
    "control",
    Object.entries(control)
      .map(([name, value]) => `${name}: ${value}\n`)
      .join(""),
  );
  put("conffiles", "/etc/steward/steward.yaml\n/etc/logrotate.d/steward\n");
  put(
    "md5sums",
    files
      .filter((path) => !path.startsWith(join(staging, "etc")))
      .map((path) => md5Line(path, staging))
      .join(""),
  );
}

function md5Line(path: string, staging: string): string {
  return `${createHash("md5").update(readFileSync(path)).digest("hex")}  ${relative(staging, path)}\n`;
}

/** dpkg-deb takes later times than the commit's down to it, and leaves earlier ones. */
function setTimes(folder: string, time: number): void {
  for (const path of readdirSync(folder, { recursive: true, encoding: "utf8" }))
    if (path !== "usr/bin/steward") utimesSync(join(folder, path), time, time);
  utimesSync(folder, time, time);
}
