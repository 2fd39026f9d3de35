/** The commands of docs/move.md, on a machine with documents and tokens, and on an empty one. */
import { execFileSync, spawnSync } from "node:child_process";
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { LAUNCHER } from "../support/launcher.ts";
import { cleanEnvironment, removeTemporaryFolders, temporaryFolder } from "./daemon.ts";
import { snippetsOf, startShell } from "./page-snippets.ts";

afterAll(removeTemporaryFolders);

const page = readFileSync(join(import.meta.dirname, "../../docs/move.md"), "utf8");
const commands = snippetsOf(page).filter(({ language }) => language === "sh");
const missing = ["bash", "tar"].filter(
  (name) => spawnSync("sh", ["-c", `command -v ${name}`], { env: cleanEnvironment }).status !== 0,
);

/** A daemon behind `systemctl`, as the page starts and stops it. */
const SYSTEMCTL = `
steward() { /opt/steward/bin/steward "$@"; }
systemctl() {
  if [ "$1" = start ]; then
    /opt/steward/bin/steward -config /etc/steward/steward.yaml >>log 2>&1 &
    echo $! >pid
  else
    kill "$(cat pid)" && wait "$(cat pid)"
  fi
}`;

describe.skipIf(missing.length > 0)("docs/move.md", () => {
  it("has commands that take documents and tokens to an empty machine", async () => {
    const machine = temporaryFolder();
    for (const folder of ["etc/steward", "opt", "var/lib/steward", "var/backups", "srv/papers"])
      mkdirSync(join(machine, folder), { recursive: true, mode: 0o700 });
    symlinkSync(dirname(dirname(LAUNCHER)), join(machine, "opt/steward"));
    writeFileSync(join(machine, "srv/papers/a.txt"), "minutes of the council ".repeat(40));
    const port = freePort();
    writeFileSync(
      join(machine, "etc/steward/steward.yaml"),
      JSON.stringify({
        gateway: { listen: `127.0.0.1:${port}` },
        services: { monitor: false },
        state: { directory: join(machine, "var/lib/steward") },
        dedup: {
          archives: [{ name: "papers", kind: "folder", path: join(machine, "srv/papers") }],
        },
      }),
      { mode: 0o600 },
    );
    const shell = startShell({ cwd: machine, env: cleanEnvironment });
    onTestFinished(() => shell.close());
    const here = (text: string): string =>
      text
        .replaceAll(/(?<=^|[ =(])\/(?=(?:etc|opt|var)\/)/gm, `${machine}/`)
        .replaceAll(" steward-move.tar.gz", ` ${machine}/steward-move.tar.gz`);
    await shell.run(here(SYSTEMCTL));
    await shell.run("systemctl start steward");
    await shell.run(
      here("until steward -healthcheck -config /etc/steward/steward.yaml; do sleep 1; done"),
    );
    await shell.run(here("steward sync --follow --config /etc/steward/steward.yaml"));
    expect(commands.length).toBe(2);
    const documents = async (): Promise<string | undefined> =>
      /\b\d+ documents?\b/.exec(
        await shell.run(here("steward status --config /etc/steward/steward.yaml")),
      )?.[0];
    expect(await documents()).toBe("1 document");
    const [leave, arrive] = commands.map(({ text }) => here(text));
    expect(await shell.run(leave ?? "")).toContain("complete: ");
    // The new machine has nothing but what was carried over, and Steward.
    renameSync(
      join(machine, "var/backups/steward-move.tar.gz"),
      join(machine, "steward-move.tar.gz"),
    );
    for (const folder of ["etc/steward", "var/lib/steward", "var/backups/steward-move"])
      rmSync(join(machine, folder), { recursive: true });
    const printed = await shell.run(arrive ?? "");
    expect(printed).toContain("config OK");
    expect(printed).toContain("stores are intact");
    expect(readdirSync(join(machine, "var/lib/steward"))).toEqual(
      expect.arrayContaining(["dedup.mdb", "tokens.mdb", "tokens.key", "audit.log"]),
    );
    expect(await documents()).toBe("1 document");
    await shell.run("systemctl stop steward");
  });
});

function freePort(): number {
  const script =
    "const s=require('net').createServer().listen(0,'127.0.0.1',()=>{console.log(s.address().port);s.close()})";
  return Number(execFileSync(process.execPath, ["-e", script], { encoding: "utf8" }));
}
