/**
 * The commands of docs/move.md, on a machine with documents, tokens and a network whose stores have
 * folders of their own, and on an empty one.
 */
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { freePort } from "../support/free-port.ts";
import { LAUNCHER } from "../support/launcher.ts";
import { AS_USER, canBeService, GROUP, USER } from "../support/service-user.ts";
import { cleanEnvironment, removeTemporaryFolders, temporaryFolder } from "./daemon.ts";
import { startEstate } from "./monitor-estate.ts";
import { snippetsOf, startShell } from "./page-snippets.ts";

afterAll(removeTemporaryFolders);

const page = readFileSync(join(import.meta.dirname, "../../docs/move.md"), "utf8");
const commands = snippetsOf(page).filter(({ language }) => language === "sh");
const missing = ["bash", "tar"].filter(
  (name) => spawnSync("sh", ["-c", `command -v ${name}`], { env: cleanEnvironment }).status !== 0,
);

/** Where it is possible, the service has a user of its own and the commands are root's. */
const hasUser = canBeService();

/** A daemon behind `systemctl`, as the page starts and stops it. */
const SYSTEMCTL = `
steward() { /opt/steward/bin/steward "$@"; }
systemctl() {
  if [ "$1" = start ]; then
    ${hasUser ? `setpriv ${AS_USER.join(" ")} ` : ""}/opt/steward/bin/steward -config /etc/steward/steward.yaml >>log 2>&1 &
    echo $! >pid
  else
    kill "$(cat pid)" && wait "$(cat pid)"
  fi
}`;

describe.skipIf(missing.length > 0)("docs/move.md", () => {
  it("has commands that take documents, tokens and the stores outside the state folder to an empty machine, which then makes backups", async () => {
    await using estate = await startEstate();
    const { tailscale } = estate;
    const machine = temporaryFolder();
    const make = (folder: string): void => {
      mkdirSync(join(machine, folder), { recursive: true, mode: 0o700 });
      if (hasUser && folder.startsWith("var/lib/")) chownSync(join(machine, folder), USER, GROUP);
    };
    const elsewhere = ["var/lib/steward-flows", "var/lib/steward-checkpoints"];
    for (const folder of ["etc/steward", "opt", "var/lib/steward", "var/backups", "srv/papers"])
      make(folder);
    for (const folder of elsewhere) make(folder);
    for (const open of [".", "var", "var/lib", "srv", "srv/papers"])
      chmodSync(join(machine, open), 0o755);
    symlinkSync(dirname(dirname(LAUNCHER)), join(machine, "opt/steward"));
    writeFileSync(join(machine, "srv/papers/a.txt"), "minutes of the council ".repeat(40));
    const port = await freePort();
    writeFileSync(
      join(machine, "etc/steward/steward.yaml"),
      JSON.stringify({
        vpn: {
          url: tailscale.url,
          auth: {
            oauth: {
              client_id: tailscale.credentials.clientId,
              client_secret: tailscale.credentials.clientSecret,
            },
          },
        },
        gateway: { listen: `127.0.0.1:${port}` },
        flows: { store: { directory: join(machine, "var/lib/steward-flows") } },
        checkpoint: { file_path: join(machine, "var/lib/steward-checkpoints/checkpoints.mdb") },
        streaming: { enabled: true, listen: "127.0.0.1:0", token: "a-token-of-the-stream" },
        ingress_wal: { enabled: true },
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
    expect(commands.length).toBe(4);
    const documents = async (): Promise<string | undefined> =>
      /\b\d+ documents?\b/.exec(
        await shell.run(here("steward status --config /etc/steward/steward.yaml")),
      )?.[0];
    expect(await documents()).toBe("1 document");
    const [leave = "", ...arrive] = commands.map(({ text }) => here(text));
    expect(await shell.run(leave)).toContain("complete: ");
    const stores = storesOf(join(machine, "var/backups/steward-move"));
    expect(stores).toEqual(
      expect.arrayContaining(["checkpoints.mdb", "ingress.mdb", expect.stringMatching(/^flows-/)]),
    );
    // The new machine has nothing but what was carried over, and Steward.
    renameSync(
      join(machine, "var/backups/steward-move.tar.gz"),
      join(machine, "steward-move.tar.gz"),
    );
    for (const folder of ["etc", "var/lib/steward", "var/backups/steward-move", ...elsewhere])
      rmSync(join(machine, folder), { recursive: true });
    make("var/lib/steward");
    let printed = "";
    for (const commandsThere of arrive) printed += await shell.run(commandsThere);
    expect(printed).toContain("config OK");
    expect(printed).toContain("stores are intact");
    expect(readdirSync(join(machine, "var/lib/steward"))).toEqual(
      expect.arrayContaining(["dedup.mdb", "tokens.mdb", "tokens.key", "audit.log"]),
    );
    expect(await documents()).toBe("1 document");
    for (const folder of ["var/lib/steward", ...elsewhere])
      expect(statSync(join(machine, folder)).uid).toBe(hasUser ? USER : process.geteuid?.());
    expect(
      await shell.run(
        here("steward backup --config /etc/steward/steward.yaml /var/backups/steward-after"),
      ),
    ).toContain("complete: ");
    expect(storesOf(join(machine, "var/backups/steward-after"))).toEqual(stores);
    await shell.run("systemctl stop steward");
  });
});

function storesOf(backup: string): string[] {
  return readdirSync(backup).filter((name) => name.endsWith(".mdb"));
}
