import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { printEffectiveConfig } from "../../src/commands/effective-config.ts";
import { daemonSchema } from "../../src/daemon/configuration.ts";

function run(
  environment: Record<string, string>,
  format: "json" | "yaml" = "json",
  provenance = false,
): { code: number; stdout: string; stderr: string } {
  const seen = { stdout: "", stderr: "" };
  const output = {
    stdout: (text: string) => void (seen.stdout += text),
    stderr: (text: string) => void (seen.stderr += text),
  };
  return {
    code: printEffectiveConfig(
      { config: undefined, demo: false, format, provenance },
      { HOME: "/", ...environment },
      output,
    ),
    ...seen,
  };
}

describe("-print-effective-config", () => {
  it("prints every key, sorted, as JSON or YAML alike", () => {
    const { code, stdout } = run({});
    const rows = JSON.parse(stdout) as { key: string }[];
    expect(code).toBe(0);
    // A list that is not empty by default shows a row for each field of its objects.
    const keys = daemonSchema.flatMap((key) =>
      key.type.fields !== undefined && Array.isArray(key.default) && key.default.length > 0
        ? key.type.fields.map(({ name }) => `${key.path}.0.${name}`)
        : [key.path],
    );
    expect(rows.map((row) => row.key)).toEqual(keys.toSorted());
    expect(parse(run({}, "yaml").stdout)).toEqual(rows);
  });

  it("names the layer of each value when asked, and never a secret", () => {
    const { stdout } = run(
      { STEWARD_AUTH__TOKEN: "canary-canary-canary", STEWARD_POOL__THREADS: "0" },
      "json",
      true,
    );
    expect(stdout).not.toContain("canary");
    const rows = JSON.parse(stdout) as unknown[];
    expect(rows).toContainEqual({
      key: "auth.token",
      secret: true,
      set: true,
      source: "value",
      provenance: "env",
    });
    expect(rows).toContainEqual({ key: "pool.threads", value: 0, provenance: "env" });
    expect(rows).toContainEqual({ key: "logging.level", value: "info", provenance: "default" });
  });

  it("ends 1 with one line when the configuration is not valid", () => {
    const { code, stdout, stderr } = run({ STEWARD_LOGGING__LEVEL: "loud" });
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/^config invalid: logging\.level: [^\n]*\n$/);
  });
});
