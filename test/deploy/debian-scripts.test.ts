/** The maintainer scripts in a small package of their own: upgrades and removals that dpkg gives up. */
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmodSync, cpSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { canMakeDebianPackages } from "../../tools/release/debian.ts";
import { removeTemporaryFolders, temporaryFolder } from "../contract/daemon.ts";
import { canCopyRoot, inCopyOfRoot } from "./root-copy.ts";

const scripts = join(import.meta.dirname, "../../deploy/debian");
const possible = canMakeDebianPackages() && canCopyRoot();

/** Writes `NAME_VERSION.deb` into the folder; its path. */
function makePackage(
  folder: string,
  control: Readonly<Record<string, string>> & {
    readonly Package: string;
    readonly Version: string;
  },
  files: Readonly<Record<string, string | Buffer>>,
): string {
  const staging = temporaryFolder();
  const fields = { Architecture: "all", Maintainer: "A <a@steward.invalid>", Description: "a" };
  const lines = Object.entries({ ...control, ...fields }).map(
    ([name, value]) => `${name}: ${value}\n`,
  );
  for (const [path, data] of Object.entries({ ...files, "DEBIAN/control": lines.join("") })) {
    mkdirSync(dirname(join(staging, path)), { recursive: true });
    writeFileSync(join(staging, path), data);
    if (path.startsWith("DEBIAN/")) chmodSync(join(staging, path), 0o755);
  }
  chmodSync(staging, 0o755);
  const file = join(folder, `${control.Package}_${control.Version}.deb`);
  execFileSync("dpkg-deb", ["--root-owner-group", "-Znone", "--build", staging, file], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  return file;
}

function makeSteward(folder: string, version: string): string {
  return makePackage(
    folder,
    { Package: "steward", Version: version },
    {
      ...Object.fromEntries(
        ["postinst", "prerm", "postrm"].map((name) => [
          `DEBIAN/${name}`,
          readFileSync(join(scripts, name)),
        ]),
      ),
      "DEBIAN/conffiles": "/etc/steward/steward.yaml\n",
      "etc/steward/steward.yaml": "",
      "usr/lib/steward/program": randomBytes(100_000),
    },
  );
}

/** Packages whose installation removes or deconfigures Steward and then fails. */
const FAILING: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  rival: { Conflicts: "steward", Replaces: "steward" },
  breaker: { Breaks: "steward" },
};

/** Whether the service is enabled and runs is a file in `/fake`. */
const SYSTEMCTL = `#!/bin/sh
case "$1" in
  is-active) [ -e /fake/running ] ;;
  is-enabled) [ -e /fake/enabled ] ;;
  start) touch /fake/running ;;
  stop) rm -f /fake/running ;;
  enable) touch /fake/enabled ;;
  disable) rm -f /fake/enabled ;;
esac
`;

const PREPARE = `
set -e
mkdir -p /run/systemd/system /fake
cp /files/systemctl /usr/bin/systemctl
install() { dpkg --force-unsafe-io --no-triggers --auto-deconfigure --install "/files/$1.deb" >/dev/null 2>&1; }
fails() { if install "$1"; then echo "$1 was installed"; exit 1; fi; }
state() { echo "$1:" $(dpkg-query --show --showformat '\${Version} \${db:Status-Status}' steward) $(ls /fake) $(ls /run | grep steward); }
install steward_1.0.0
state installed
`;

/** The states that the script prints, after that of the installed package. */
function statesAfter(script: string): string[] {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "systemctl"), SYSTEMCTL, { mode: 0o755 });
  makeSteward(folder, "1.0.0");
  cpSync(makeSteward(folder, "1.0.1"), join(folder, "cut.deb"));
  // Its scripts are whole: dpkg finds out while it unpacks, as on a full disk.
  truncateSync(join(folder, "cut.deb"), 50_000);
  for (const [name, relations] of Object.entries(FAILING))
    makePackage(
      folder,
      { Package: name, Version: "1", ...relations },
      { "DEBIAN/preinst": "#!/bin/sh\nexit 1\n" },
    );
  const { status, output } = inCopyOfRoot(folder, `${PREPARE}${script}`);
  const [installed, ...states] = output.trim().split("\n");
  expect({ status, installed }, output).toEqual({
    status: 0,
    installed: "installed: 1.0.0 installed enabled running",
  });
  return states;
}

afterAll(removeTemporaryFolders);

describe.skipIf(!possible)(
  "the scripts of the Debian package (skipped without dpkg-deb or where nothing may be mounted)",
  () => {
    it("start the service again when an upgrade fails, and a later upgrade, too", () => {
      expect(statesAfter("fails cut; state failed; install steward_1.0.1; state upgraded")).toEqual(
        ["failed: 1.0.0 installed enabled running", "upgraded: 1.0.1 installed enabled running"],
      );
    });

    it("leave a service stopped and disabled that was both before the upgrade", () => {
      expect(
        statesAfter("rm /fake/*; fails cut; state failed; install steward_1.0.1; state upgraded"),
      ).toEqual(["failed: 1.0.0 installed", "upgraded: 1.0.1 installed"]);
    });

    it("enable and start the service of a new installation after a failed upgrade and a removal", () => {
      expect(
        statesAfter(
          "fails cut; dpkg --remove steward >/dev/null; state removed; install steward_1.0.1; state again",
        ),
      ).toEqual(["removed: 1.0.0 config-files", "again: 1.0.1 installed enabled running"]);
    });

    it.each(Object.keys(FAILING))(
      "leave the service as it was when the installation of a %s fails",
      (name) => {
        expect(
          statesAfter(
            `fails ${name}_1; state failed; rm -f /fake/running; fails ${name}_1; state stopped; rm -f /fake/enabled; fails ${name}_1; state disabled`,
          ),
        ).toEqual([
          "failed: 1.0.0 installed enabled running",
          "stopped: 1.0.0 installed enabled",
          "disabled: 1.0.0 installed",
        ]);
      },
    );
  },
);
