import { execFileSync } from "node:child_process";
import { cpSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { canMakeDebianPackages, makeDebianPackage } from "../../tools/release/debian.ts";
import { removeTemporaryFolders, temporaryFolder } from "../contract/daemon.ts";
import { RUNS_SOURCES } from "../support/launcher.ts";
import { canCopyRoot, inCopyOfRoot } from "./root-copy.ts";

const root = join(import.meta.dirname, "../..");
const commit = { hash: "0".repeat(40), time: 1_700_000_000 };

const possible = canMakeDebianPackages() && !RUNS_SOURCES;
const canInstall = possible && canCopyRoot();

/** The tree that the tests start, as version `version`. */
function treeOf(version: string): string {
  const tree = join(temporaryFolder(), `steward-${version}`);
  cpSync(join(root, "dist"), tree, { recursive: true });
  // As it is now: the built tree is not made anew for it.
  cpSync(join(root, "deploy"), join(tree, "deploy"), { recursive: true });
  const manifest = JSON.parse(readFileSync(join(tree, "package.json"), "utf8")) as object;
  writeFileSync(join(tree, "package.json"), JSON.stringify({ ...manifest, version }));
  return tree;
}

function make(version: string, target: string): string {
  const architecture = process.arch === "arm64" ? "arm64" : "x64";
  return makeDebianPackage({ tree: treeOf(version), architecture, commit, target, level: 1 });
}

afterAll(removeTemporaryFolders);

describe.skipIf(!possible)("the Debian package (skipped without dpkg-deb)", () => {
  const target = temporaryFolder();
  let file = "";
  beforeAll(() => {
    file = make("1.0.0", target);
    make("1.0.1", target);
  });

  it("has the same bytes when it is made again from another folder under another umask", () => {
    const umask = process.umask(0o077);
    try {
      expect(readFileSync(make("1.0.0", temporaryFolder())).equals(readFileSync(file))).toBe(true);
    } finally {
      process.umask(umask);
    }
  });

  it("holds the program, unit, configuration, rotation, completions and manual, all of root", () => {
    const listed = execFileSync("dpkg-deb", ["--contents", file], { encoding: "utf8" });
    const lines = listed.trim().split("\n");
    expect(lines.filter((line) => !line.includes(" root/root "))).toEqual([]);
    for (const path of [
      "./etc/steward/steward.yaml",
      "./etc/logrotate.d/steward",
      "./usr/bin/steward -> ../lib/steward/bin/steward",
      "./usr/lib/steward/lib/main.js",
      "./usr/lib/systemd/system/steward.service",
      "./usr/share/bash-completion/completions/steward",
      "./usr/share/doc/steward/copyright",
      "./usr/share/man/man1/steward.1.gz",
    ])
      expect(lines.some((line) => line.endsWith(` ${path}`))).toBe(true);
    expect(listed).not.toContain("deploy/debian");
  });

  it("names its dependencies and the files that an administrator may change", () => {
    const control = execFileSync("dpkg-deb", ["--info", file], { encoding: "utf8" });
    expect(control).toMatch(/^ Depends: libc6 \(>= 2\.28\), /m);
    expect(control).toMatch(/^ Version: 1\.0\.0$/m);
    const conffiles = execFileSync("dpkg-deb", ["--info", file, "conffiles"], { encoding: "utf8" });
    expect(conffiles).toBe("/etc/steward/steward.yaml\n/etc/logrotate.d/steward\n");
  });

  it("refuses a tree whose unit does not have the dynamic user that it replaces", () => {
    const tree = treeOf("1.0.0");
    writeFileSync(join(tree, "deploy/systemd/steward.service"), "[Service]\nUser=other\n");
    expect(() =>
      makeDebianPackage({ tree, architecture: "x64", commit, target: temporaryFolder(), level: 1 }),
    ).toThrow("deploy/systemd/steward.service: has no DynamicUser=yes");
  });

  it.skipIf(!canInstall)(
    "installs, validates, is upgraded with a changed configuration, is removed, installed again and purged (skipped where nothing may be mounted)",
    () => {
      const { status, output } = inCopyOfRoot(
        target,
        `set -e
        say() { echo "== $*"; }
        dpkg --force-unsafe-io --no-triggers --install /files/steward_1.0.0_*.deb >/dev/null
        say installed $(stat -c '%U:%G %a' /etc/steward /etc/steward/steward.yaml /var/lib/steward)
        say version $(steward -version)
        say valid $(setpriv --reuid=steward --regid=steward --clear-groups steward -validate -config /etc/steward/steward.yaml)
        say verified "$(dpkg --verify steward)"
        ! command -v systemd-analyze >/dev/null || say unit "$(systemd-analyze verify /usr/lib/systemd/system/steward.service 2>&1 | grep steward || true)"
        grep -E '^(User|ExecStart)=' /usr/lib/systemd/system/steward.service
        echo '# mine' >>/etc/steward/steward.yaml
        echo kept >/var/lib/steward/data
        mkdir -p /run/systemd/system
        printf '#!/bin/sh\\necho "systemctl $*"\\n' >/usr/bin/systemctl
        chmod 755 /usr/bin/systemctl
        dpkg --force-unsafe-io --no-triggers --install /files/steward_1.0.1_*.deb | grep ^systemctl
        say upgraded $(steward -version) $(tail -n 1 /etc/steward/steward.yaml) $(cat /var/lib/steward/data) $(stat -c %a /etc/steward/steward.yaml)
        dpkg --remove steward | grep ^systemctl
        say removed $(ls /usr/lib/steward /usr/bin/steward 2>&1 | grep -c 'No such') $(cat /var/lib/steward/data) $(ls /etc/steward)
        dpkg --force-unsafe-io --no-triggers --install /files/steward_1.0.1_*.deb | grep ^systemctl
        say again $(cat /var/lib/steward/data) $(tail -n 1 /etc/steward/steward.yaml) $(ls /run | grep -c steward)
        dpkg --purge steward >/dev/null
        say purged $(ls -d /etc/steward /etc/logrotate.d/steward /var/lib/steward 2>&1 | grep -c 'No such') $(getent passwd steward | wc -l)
        `,
      );
      expect({ status, lines: output.trim().split("\n") }).toEqual({
        status: 0,
        lines: [
          "== installed root:steward 750 root:steward 640 steward:steward 700",
          "== version 1.0.0",
          "== valid config OK",
          "== verified ",
          ...(existsSync("/usr/bin/systemd-analyze") ? ["== unit "] : []),
          "ExecStart=/usr/lib/steward/bin/steward -config ${CREDENTIALS_DIRECTORY}/steward.yaml",
          "User=steward",
          "systemctl is-active --quiet steward.service",
          "systemctl stop steward.service",
          "systemctl daemon-reload",
          "systemctl daemon-reload",
          "systemctl start steward.service",
          "== upgraded 1.0.1 # mine kept 640",
          "systemctl is-active --quiet steward.service",
          "systemctl is-enabled --quiet steward.service",
          "systemctl stop steward.service",
          "systemctl disable steward.service",
          "systemctl daemon-reload",
          "== removed 2 kept steward.yaml",
          "systemctl daemon-reload",
          "systemctl enable steward.service",
          "systemctl start steward.service",
          "== again kept # mine 0",
          "== purged 3 0",
        ],
      });
    },
  );
});
