/**
 * The commands of docs/systemd.md, run as the service's user with the variables that systemd sets.
 */
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { removeTemporaryFolders, temporaryFolder } from "../contract/daemon.ts";
import { LAUNCHER } from "../support/launcher.ts";
import { AS_USER, canBeService, GROUP, USER } from "../support/service-user.ts";

const root = join(import.meta.dirname, "../..");
const tree = join(LAUNCHER, "../..");

afterAll(removeTemporaryFolders);

const page = readFileSync(join(root, "docs/systemd.md"), "utf8");
/** What stands in quotes after each `sh -c` of the page. */
const commands = [...page.matchAll(/sh -c '([^']+)'/g)].map(([, line = ""]) =>
  line.replace("/opt/steward", tree),
);

/** The page's line that runs this command with nothing but the configuration. */
function commandOf(name: string): string {
  return commands.find((line) => line.startsWith(`exec ${LAUNCHER} ${name} `)) ?? "";
}

interface Place {
  readonly state: string;
  readonly credentials: string;
}

function place(): Place {
  const [state, credentials] = [
    join(temporaryFolder(), "state"),
    join(temporaryFolder(), "credentials"),
  ];
  for (const folder of [state, credentials]) mkdirSync(folder);
  for (const folder of [state, credentials]) chmodSync(join(folder, ".."), 0o755);
  writeFileSync(
    join(credentials, "steward.yaml"),
    "gateway:\n  listen: 127.0.0.1:0\ndedup:\n  archives: []\n",
    { mode: 0o400 },
  );
  writeFileSync(join(credentials, "tokens.key"), `${"0".repeat(63)}1\n`, { mode: 0o400 });
  for (const name of ["", "steward.yaml", "tokens.key"])
    chownSync(join(credentials, name), USER, USER);
  chmodSync(credentials, 0o500);
  return { state, credentials };
}

function asService(
  line: string,
  { state, credentials }: Place,
): { code: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync(
    "setpriv",
    [...AS_USER, "sh", "-c", `umask 022; ${line}`],
    {
      cwd: "/",
      encoding: "utf8",
      timeout: 100_000,
      env: {
        PATH: process.env["PATH"],
        STATE_DIRECTORY: state,
        CREDENTIALS_DIRECTORY: credentials,
      },
    },
  );
  return { code: status, output: stdout + stderr };
}

/** Starts the daemon, runs a command as soon as it listens, and stops it. */
function startOnce(where: Place, meanwhile = ":"): string {
  const daemon = `"${LAUNCHER}" -config "$CREDENTIALS_DIRECTORY/steward.yaml"`;
  const { code, output } = asService(
    `exec 3>&1; { ${daemon} 2>&3 & echo "$!" > "$STATE_DIRECTORY/pid"; wait; } | while read -r line; do echo "$line"; (${meanwhile}); kill "$(cat "$STATE_DIRECTORY/pid")"; done`,
    where,
  );
  expect(code).toBe(0);
  return output;
}

describe.skipIf(!canBeService())("as the service's user (skipped without root and setpriv)", () => {
  it("root-token, check and backup work on the service's state, as the page has them", () => {
    const where = place();
    chownSync(where.state, USER, USER);
    startOnce(where);
    expect(commands).toHaveLength(6);
    expect(asService(commandOf("root-token"), where)).toEqual({
      code: 0,
      output: expect.stringMatching(/^hvs\.\S+\n$/) as string,
    });
    expect(asService(commandOf("check"), where)).toEqual({
      code: 0,
      output: expect.stringContaining(`${where.state}: all 5 stores are intact`) as string,
    });
    expect(asService(commandOf("backup"), where)).toEqual({
      code: 0,
      output: expect.stringContaining("complete: 4 stores") as string,
    });
    expect(asService(commandOf("rotate-key"), where)).toEqual({
      code: 1,
      output: expect.stringContaining(
        `the key is the systemd credential ${where.credentials}/tokens.key`,
      ) as string,
    });
  });

  it("a command of a configuration with drop-ins needs what they hand over, and the page's has all of it", () => {
    const where = place();
    chownSync(where.state, USER, USER);
    startOnce(where);
    const secrets = ["headscale-api-key", "paperless-token", "auth.token"];
    writeFileSync(
      join(where.credentials, "steward.yaml"),
      JSON.stringify({
        gateway: { listen: "0.0.0.0:8400" },
        provider: "headscale",
        headscale: { url: "https://headscale.example.org", api_key_file: secrets[0] },
        dedup: {
          archives: [
            {
              name: "paperless",
              kind: "paperless",
              url: "https://paperless.example.org",
              token_file: secrets[1],
            },
          ],
        },
      }),
    );
    expect(asService(commandOf("check"), where)).toMatchObject({
      code: 1,
      output: expect.stringContaining("headscale.api_key: cannot be read from its file") as string,
    });
    const [whole = ""] = page.split("\n").filter((line) => line.includes("exec env "));
    for (const name of secrets) {
      expect(whole).toContain(` -p LoadCredential=${name}:/etc/steward/${name} `);
      writeFileSync(join(where.credentials, name), "a-secret-of-thirty-two-characters", {
        mode: 0o400,
      });
      chownSync(join(where.credentials, name), USER, USER);
    }
    expect(asService(commandOf("check"), where)).toMatchObject({
      code: 1,
      output: expect.stringContaining("auth.token") as string,
    });
    expect(
      asService(commands.find((line) => line.startsWith("exec env ")) ?? "false", where),
    ).toEqual({
      code: 0,
      output: expect.stringContaining("stores are intact") as string,
    });
  });

  it("status answers while the service runs", () => {
    const where = place();
    chownSync(where.state, USER, USER);
    expect(startOnce(where, commandOf("status"))).toMatch(/^Steward .* up /m);
  });

  it("rotate-key replaces a key that lies in the state folder", () => {
    const where = place();
    rmSync(join(where.credentials, "tokens.key"));
    chownSync(where.state, USER, USER);
    startOnce(where);
    const former = readFileSync(join(where.state, "tokens.key"), "utf8");
    expect(asService(commandOf("rotate-key"), where)).toMatchObject({ code: 0 });
    expect(readFileSync(join(where.state, "tokens.key"), "utf8")).not.toBe(former);
    startOnce(where);
  });

  it("a state folder of another owner keeps its mode, our files are 0600, and a warning says so", () => {
    const where = place();
    chownSync(where.state, 0, GROUP);
    chmodSync(where.state, 0o2775);
    expect(startOnce(where)).toContain(
      `the state folder ${where.state} belongs to another user and keeps its mode 0775`,
    );
    expect(statSync(where.state).mode & 0o7777).toBe(0o2775);
    const open = readdirSync(where.state, { withFileTypes: true }).filter(
      (entry) =>
        entry.isFile() &&
        entry.name !== "pid" &&
        (statSync(join(where.state, entry.name)).mode & 0o777) !== 0o600,
    );
    expect(open.map(({ name }) => name)).toEqual([]);
    expect(readdirSync(where.state)).toEqual(
      expect.arrayContaining(["lock", "tokens.mdb", "audit.log"]),
    );
  });

  it.each([
    [
      "a folder of somebody else",
      (state: string) => chmodSync(state, 0o755),
      "",
      `user ${USER} may not write there (EACCES); give the folder to that user`,
    ],
    [
      "a file",
      (state: string) => writeFileSync(join(state, "file"), ""),
      "/file",
      "it, or a part of its path, is a file (ENOTDIR); choose another folder",
    ],
  ])("%s is refused with path, rule and remedy", (_case, prepare, below, expected) => {
    const where = place();
    prepare(where.state);
    const { code, output } = asService(
      `exec "${LAUNCHER}" -config "$CREDENTIALS_DIRECTORY/steward.yaml"`,
      { ...where, state: `${where.state}${below}` },
    );
    expect([code, output]).toEqual([
      1,
      expect.stringContaining(
        `steward: the state folder ${where.state}${below} cannot be used: ${expected}`,
      ) as string,
    ]);
  });
});
