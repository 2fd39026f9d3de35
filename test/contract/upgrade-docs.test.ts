/**
 * The commands of docs/upgrade.md, in order, on a running daemon with a network: the old and the new
 * version are the same tree under two names.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { LAUNCHER } from "../support/launcher.ts";
import { cleanEnvironment, removeTemporaryFolders, temporaryFolder } from "./daemon.ts";
import { bothNetworks, startEstate } from "./monitor-estate.ts";
import { snippetsOf, startShell } from "./page-snippets.ts";

afterAll(removeTemporaryFolders);

const page = readFileSync(join(import.meta.dirname, "../../docs/upgrade.md"), "utf8");
const commands = snippetsOf(page).filter(({ language }) => language === "sh");
const missing = ["bash", "curl", "diff"].filter(
  (name) => spawnSync("sh", ["-c", `command -v ${name}`], { env: cleanEnvironment }).status !== 0,
);

/** A daemon behind `systemctl`, as the page starts and stops it. */
const SYSTEMCTL = `
systemctl() {
  if [ "$1" = start ]; then
    /opt/steward/bin/steward -config /etc/steward/steward.yaml >>log 2>&1 &
    echo $! >pid
  else
    kill "$(cat pid)" && wait "$(cat pid)"
  fi
}`;

describe.skipIf(missing.length > 0)("docs/upgrade.md", () => {
  it("has commands that run as they stand there, forth and back", async () => {
    await using estate = await startEstate();
    const machine = temporaryFolder();
    const root = dirname(dirname(LAUNCHER));
    for (const folder of ["etc/steward", "opt", "var/lib/steward", "var/backups"])
      mkdirSync(join(machine, folder), { recursive: true, mode: 0o700 });
    for (const name of ["steward-old", "steward-new", "steward"])
      symlinkSync(root, join(machine, "opt", name));
    const port = freePort();
    writeFileSync(
      join(machine, "etc/steward/steward.yaml"),
      JSON.stringify({
        ...bothNetworks(estate),
        gateway: { listen: `127.0.0.1:${freePort()}` },
        state: { directory: join(machine, "var/lib/steward") },
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
    for (const { text } of commands) printed.push(await shell.run(here(text)));
    expect(printed[0]).toContain("complete: ");
    expect(printed[1]).toContain("config OK");
    expect(printed[3]).toMatch(/^Steward .*: healthy|^Steward /m);
    expect(printed[3]).toMatch(/^svc_up_ratio\b.* 1$/m);
    expect(printed[4]).toContain("stores are intact");
    await shell.run("systemctl stop steward");
  });
});

function freePort(): number {
  const script =
    "const s=require('net').createServer().listen(0,'127.0.0.1',()=>{console.log(s.address().port);s.close()})";
  return Number(execFileSync(process.execPath, ["-e", script], { encoding: "utf8" }));
}
