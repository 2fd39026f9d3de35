import { describe, expect, it } from "vitest";
import { configureDaemon } from "../../src/commands/configuration.ts";
import { validate } from "../../src/commands/validate.ts";

const none = { config: undefined, demo: false };

describe("the daemon's configuration", () => {
  it("is the demo, in a folder of its own, when there is nothing", () => {
    expect(configureDaemon(none, { HOME: "/home/ada" })).toMatchObject({
      demo: { demo: true }, stateRoot: "/home/ada/.local/state/steward", stateDirectory: "/home/ada/.local/state/steward/demo", warnings: [],
    });
  });

  it("is not the demo when something is set", () => {
    expect(configureDaemon(none, { HOME: "/home/ada", STEWARD_STATE__DIRECTORY: "/s" })).toMatchObject({ demo: { demo: false }, stateDirectory: "/s" });
  });

  it("refuses a demo that other machines could reach, token or not", () => {
    const environment = { HOME: "/home/ada", STEWARD_GATEWAY__LISTEN: "0.0.0.0:1", STEWARD_AUTH__TOKEN: "0123456789abcdef" };
    expect(() => configureDaemon({ config: undefined, demo: true }, environment)).toThrow("the demo only listens on this machine");
  });

  it("names all problems, one a line", () => {
    expect(() => configureDaemon(none, { HOME: "/", STEWARD_LOGGING__LEVEL: "loud", STEWARD_POOL__THREADS: "-1" })).toThrow(
      /not valid:\n {2}ERROR logging\.level: .*\n {2}ERROR pool\.threads: [^\n]*$/);
  });
});

describe("-validate", () => {
  function run(environment: Record<string, string>, options: { json: boolean; warningsAsErrors: boolean } = { json: false, warningsAsErrors: false }): { code: number; stdout: string; stderr: string } {
    const seen = { stdout: "", stderr: "" };
    const code = validate({ ...none, ...options }, environment, { stdout: (text) => void (seen.stdout += text), stderr: (text) => void (seen.stderr += text) });
    return { code, ...seen };
  }

  it("prints one JSON array with everything when asked", () => {
    const { code, stdout, stderr } = run({ HOME: "/", STEWARD_LOGGING__LEVEL: "loud", STEWARD_LOGING__LEVEL: "x" }, { json: true, warningsAsErrors: false });
    expect([code, stderr]).toEqual([1, ""]);
    expect(JSON.parse(stdout)).toEqual([
      expect.objectContaining({ severity: "error", path: "logging.level", message: expect.stringContaining("must be one of") as string }),
      expect.objectContaining({ severity: "warning", path: "STEWARD_LOGING__LEVEL", remediation: expect.stringContaining("STEWARD_LOGGING__LEVEL") as string }),
    ]);
    expect(JSON.parse(run({ HOME: "/" }, { json: true, warningsAsErrors: false }).stdout)).toEqual([]);
  });

  it("ends 1 on a warning when warnings count as errors", () => {
    const warned = { HOME: "/", STEWARD_LOGING__LEVEL: "x" };
    expect(run(warned).code).toBe(0);
    expect(run(warned, { json: false, warningsAsErrors: true })).toMatchObject({ code: 1, stderr: "a warning counts as an error\n" });
    expect(run({ HOME: "/" }, { json: false, warningsAsErrors: true }).code).toBe(0);
  });

  it("prints errors to standard error and ends 1", () => {
    expect(run({ HOME: "/", STEWARD_LOGGING__LEVEL: "loud", STEWARD_LOGING__LEVEL: "x" })).toEqual({
      code: 1, stderr: "ERROR logging.level: must be one of debug, info, warn, error, got \"loud\" (STEWARD_LOGGING__LEVEL)\n",
      stdout: "WARNING STEWARD_LOGING__LEVEL: is not a known variable and is ignored — did you mean STEWARD_LOGGING__LEVEL?\n",
    });
  });

  it("prints config OK and ends 0", () => {
    expect(run({ HOME: "/" })).toEqual({ code: 0, stdout: "config OK\n", stderr: "" });
  });
});
