import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { LAUNCHER } from "../support/launcher.ts";

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
});
