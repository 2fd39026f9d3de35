/**
 * The commands of docs/upgrade.md, in order, on a running daemon with a network: the old and the new
 * version are the same tree under two names.
 */
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { freePort } from "../support/free-port.ts";
import { LAUNCHER } from "../support/launcher.ts";
import { AS_USER, canBeService, GROUP, USER } from "../support/service-user.ts";
import { cleanEnvironment, removeTemporaryFolders, temporaryFolder } from "./daemon.ts";
import { bothNetworks, startEstate } from "./monitor-estate.ts";
import { snippetsOf, startShell } from "./page-snippets.ts";

afterAll(removeTemporaryFolders);

const root = join(import.meta.dirname, "../..");
const tree = dirname(dirname(LAUNCHER));
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  readonly version: string;
};
const page = readFileSync(join(root, "docs/upgrade.md"), "utf8");
const commands = snippetsOf(page).filter(({ language }) => language === "sh");
const missing = ["bash", "curl", "diff"].filter(
  (name) => spawnSync("sh", ["-c", `command -v ${name}`], { env: cleanEnvironment }).status !== 0,
);

/** Where it is possible, the service has a user of its own and the commands are root's. */
const hasUser = canBeService();

/** A daemon behind `systemctl`, as the page starts and stops it. */
const SYSTEMCTL = `
systemctl() {
  if [ "$1" = start ]; then
    ${hasUser ? `setpriv ${AS_USER.join(" ")} ` : ""}/opt/steward/bin/steward -config /etc/steward/steward.yaml >>log 2>&1 &
    echo $! >pid
  else
    kill "$(cat pid)" && wait "$(cat pid)"
  fi
}`;

describe.skipIf(missing.length > 0)("docs/upgrade.md", () => {
  it("has commands that run as they stand there, forth and back", async () => {
    await using estate = await startEstate();
    const machine = temporaryFolder();
    const state = join(machine, "var/lib/steward");
    for (const folder of ["etc/steward", "opt", "var/lib/steward", "var/backups"])
      mkdirSync(join(machine, folder), { recursive: true, mode: 0o700 });
    for (const open of [".", "var", "var/lib"]) chmodSync(join(machine, open), 0o755);
    if (hasUser) chownSync(state, USER, GROUP);
    for (const name of ["steward-old", "steward-new"])
      symlinkSync(tree, join(machine, "opt", name));
    symlinkSync("steward-old", join(machine, "opt/steward"));
    const port = await freePort();
    writeFileSync(
      join(machine, "etc/steward/steward.yaml"),
      JSON.stringify({
        ...bothNetworks(estate),
        gateway: { listen: `127.0.0.1:${await freePort()}` },
        state: { directory: state },
        scrape: { enabled: true, listen: `127.0.0.1:${port}` },
        dedup: { archives: [] },
      }),
      { mode: 0o600 },
    );
    const shell = startShell({ cwd: machine, env: cleanEnvironment });
    onTestFinished(() => shell.close());
    const here = (text: string): string =>
      text
        .replaceAll(/(?<=^|[ =(])\/(?=(?:etc|opt|var)\/)/gm, `${machine}/`)
        .replaceAll("127.0.0.1:2112", `127.0.0.1:${port}`);
    await shell.run(here(SYSTEMCTL));
    await shell.run(here(`steward() { /opt/steward/bin/steward "$@"; }`));
    await shell.run("systemctl start steward");
    await shell.run(
      here("until steward -healthcheck -config /etc/steward/steward.yaml; do sleep 1; done"),
    );
    expect(commands.length).toBe(5);
    const printed: string[] = [];
    const linked: string[] = [];
    for (const { text } of commands) {
      printed.push(await shell.run(here(text)));
      linked.push(basename(readlinkSync(join(machine, "opt/steward"))));
    }
    expect(linked.slice(1)).toEqual(["steward-old", "steward-new", "steward-new", "steward-old"]);
    expect(printed[0]).toContain("complete: ");
    expect(printed[1]).toContain("config OK");
    expect(printed[2]?.trim().split("\n").at(-1)).toBe(version);
    expect(printed[3]).toMatch(/^Steward .*: healthy|^Steward /m);
    expect(printed[3]).toMatch(/^svc_up_ratio\b.* 1$/m);
    expect(printed[4]).toContain("stores are intact");
    expect(printed[4]?.trim().split("\n").at(-1)).toBe(version);
    // Files of another user than the service's are refused by its services, and not by readiness.
    expect(await shell.run(here("steward status --config /etc/steward/steward.yaml"))).toMatch(
      /^dedup +ready .*\ntokens +ready/m,
    );
    const owner = statSync(state).uid;
    expect(
      readdirSync(state).filter(
        (name) => /\.mdb/.test(name) && statSync(join(state, name)).uid !== owner,
      ),
    ).toEqual([]);
    await shell.run("systemctl stop steward");
  });

  it.each(["docs/upgrade.md", "docs/install.md"])(
    "%s puts no link into a folder that is in the place of the link",
    async (name) => {
      const machine = temporaryFolder();
      mkdirSync(join(machine, "opt/steward"), { recursive: true });
      const links = readFileSync(join(root, name), "utf8").match(/\bln -s.*/g) ?? [];
      expect(links.length).toBeGreaterThan(1);
      for (const link of links) {
        const { status } = spawnSync("sh", ["-c", link.replaceAll("/opt/", `${machine}/opt/`)], {
          env: { ...cleanEnvironment, VERSION: "new" },
        });
        expect([link, status]).toEqual([link, 1]);
      }
      expect(readdirSync(join(machine, "opt/steward"))).toEqual([]);
    },
  );

  it("begins with what docs/install.md makes of a clone, also for a second version", async () => {
    const machine = temporaryFolder();
    mkdirSync(join(machine, "dist/bin"), { recursive: true });
    mkdirSync(join(machine, "opt"));
    const clone = readFileSync(join(root, "docs/install.md"), "utf8");
    const [install = "false"] = /^cp .*$/m.exec(clone) ?? [];
    for (const version of ["a", "b", "b"]) {
      writeFileSync(join(machine, "dist/bin/steward"), version);
      const { status } = spawnSync("sh", ["-c", install.replaceAll("/opt/", `${machine}/opt/`)], {
        cwd: machine,
        env: { ...cleanEnvironment, VERSION: version },
      });
      expect(status).toBe(0);
      expect(readFileSync(join(machine, "opt/steward/bin/steward"), "utf8")).toBe(version);
    }
    expect(readdirSync(join(machine, "opt")).sort()).toEqual(["steward", "steward-a", "steward-b"]);
    const unit = readFileSync(join(root, "deploy/systemd/steward.service"), "utf8");
    expect(unit).toContain(install);
  });
});
