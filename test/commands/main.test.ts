import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { removeTemporaryFolders, temporaryFolder } from "../contract/daemon.ts";
import { LAUNCHER } from "../support/launcher.ts";

afterAll(removeTemporaryFolders);

const LONG_NAME = "a".repeat(300);

describe("the command line", () => {
  it.runIf(existsSync("/dev/full"))("ends 1 and says so when its output cannot be written", () => {
    const result = spawnSync("sh", ["-c", `"${LAUNCHER}" --help > /dev/full`], {
      encoding: "utf8",
    });
    expect(result.status).toBe(1);
    expect(result.stderr).toMatch(/the output could not be written: ENOSPC/);
  });

  it("does not mind a reader that goes away", () => {
    const result = spawnSync("sh", ["-c", `("${LAUNCHER}" --help; echo "ended $?" >&2) | true`], {
      encoding: "utf8",
    });
    expect(result.stderr).toBe("ended 0\n");
  });

  it("ends 1 on a configuration that is wrong, 2 on wrong use", () => {
    const env = { PATH: process.env["PATH"], HOME: "/nonexistent", STEWARD_POOL__THREADS: "many" };
    expect(spawnSync(LAUNCHER, ["-validate"], { env, encoding: "utf8" })).toMatchObject({
      status: 1,
      stdout: "",
      stderr: expect.stringMatching(/^ERROR pool\.threads: .*\n$/) as string,
    });
    expect(spawnSync(LAUNCHER, [], { env, encoding: "utf8" })).toMatchObject({
      status: 1,
      stdout: "",
      stderr: expect.stringMatching(
        /^steward: the configuration is not valid:\n {2}ERROR pool/,
      ) as string,
    });
    expect(spawnSync(LAUNCHER, ["-valdate"], { env, encoding: "utf8" })).toMatchObject({
      status: 2,
      stdout: "",
    });
  });

  it.each([
    ["check file", "file is not a folder; name a state folder or a backup"],
    ["check loop", "ELOOP: too many symbolic links encountered, scandir "],
    ["backup file", "file is not a folder; choose a new or an empty folder"],
    ["backup file/x", "file/x is not a folder; choose a new or an empty folder"],
    ["-validate -config loop", "config invalid: loop: cannot be read: ELOOP: "],
    ["-validate -config LONG_NAME", `${LONG_NAME}: cannot be read: ENAMETOOLONG: `],
    ["-config folder", "ERROR folder: cannot be read: EISDIR: "],
    ["migrate-config folder", "folder cannot be read: EISDIR: "],
    ["init --answers folder", "folder cannot be read: EISDIR: "],
    [
      "status --address http://127.0.0.1:1 --token-file folder",
      "--token-file folder cannot be read: EISDIR: ",
    ],
  ])("says in one line what is wrong with the path: steward %s", (line, problem) => {
    const result = spawnSync(
      LAUNCHER,
      line.replace("LONG_NAME", LONG_NAME).split(" "),
      wrongPaths(),
    );
    expect(result.status).toBe(1);
    expect(result.stderr).toContain(problem);
    expect(result.stderr).not.toMatch(/internal error|\n {4}at /);
  });

  it("prints JSON of a configuration file whose path is wrong", () => {
    const result = spawnSync(LAUNCHER, ["-validate", "-json", "-config", "loop"], wrongPaths());
    expect(JSON.parse(result.stdout)).toMatchObject([{ severity: "error", path: "loop" }]);
  });
});

/** In a folder with a file, a folder and a link to itself, beside a state folder with a store. */
function wrongPaths() {
  const cwd = temporaryFolder();
  const state = join(cwd, "state");
  for (const name of ["folder", "state"]) mkdirSync(join(cwd, name));
  for (const name of ["file", "state/x.mdb"]) writeFileSync(join(cwd, name), "");
  symlinkSync("loop", join(cwd, "loop"));
  const env = { PATH: process.env["PATH"], HOME: "/nonexistent", STEWARD_STATE__DIRECTORY: state };
  return { cwd, env, encoding: "utf8" } as const;
}
