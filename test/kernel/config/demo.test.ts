import { describe, expect, it } from "vitest";
import { formatFinding } from "../../../src/kernel/config/findings.ts";
import {
  assertDemoOnLoopback,
  decideDemo,
  demoVariables,
} from "../../../src/kernel/config/demo.ts";

const nothing = { flag: false, file: undefined, environment: { PATH: "/bin" } };

describe("the demo", () => {
  it.each([
    ["nothing is configured", nothing, true],
    ["there is a file", { ...nothing, file: "a.yaml" }, false],
    [
      "a STEWARD_ variable is set",
      { ...nothing, environment: { STEWARD_GATEWAY__LISTEN: ":0" } },
      false,
    ],
    [
      "a STEWARD_ variable is there but empty",
      { ...nothing, environment: { STEWARD_GATEWAY__LISTEN: "" } },
      true,
    ],
    [
      "only STEWARD_DEMO… variables are set",
      { ...nothing, environment: { STEWARD_DEMO_ROOT_TOKEN: "x" } },
      true,
    ],
    [
      "there is an archive's address",
      { ...nothing, environment: { PAPERLESS_URL: "http://p" } },
      false,
    ],
    [
      "STEWARD_DEMO asks for it",
      { ...nothing, file: "a.yaml", environment: { STEWARD_DEMO: "YES" } },
      true,
    ],
    ["STEWARD_DEMO forbids it", { ...nothing, environment: { STEWARD_DEMO: "false" } }, false],
    [
      "the flag asks for it whatever the variable says",
      { flag: true, file: "a.yaml", environment: { STEWARD_DEMO: "false" } },
      true,
    ],
  ])("is decided when %s", (_case, signs, expected) => {
    expect(decideDemo(signs).demo).toBe(expected);
  });

  it("is not decided by a variable that says neither yes nor no", () => {
    expect(() => decideDemo({ ...nothing, environment: { STEWARD_DEMO: "maybe" } })).toThrow(
      'STEWARD_DEMO must be true or false, got "maybe"',
    );
  });

  it("has variables that warn where they do nothing", () => {
    const shown = (environment: Record<string, string>): string[] =>
      demoVariables({ ...nothing, environment }).map(formatFinding);
    expect(shown({ STEWARD_DEMO_ROOT_TOKEN: "x" })).toEqual([]);
    expect(shown({ STEWARD_DEMO_ROOT_TOKEN: "", STEWARD_GATEWAY__LISTEN: ":0" })).toEqual([]);
    expect(shown({ STEWARD_DEMO_ROOT_TOKEN: "x", STEWARD_GATEWAY__LISTEN: ":0" })).toEqual([
      "WARNING STEWARD_DEMO_ROOT_TOKEN: is ignored: this is no demo, because STEWARD_GATEWAY__LISTEN is set — start with -demo, or unset it.",
    ]);
    expect(
      demoVariables(
        {
          ...nothing,
          environment: { STEWARD_DEMO_ROOT_TOKEN: "x", STEWARD_GATEWAY__LISTEN: ":0" },
        },
        { demo: true, reason: "-demo was given" },
      ),
    ).toEqual([]);
    expect(shown({ STEWARD_DEMO_ROOT_TOKN: "x" })).toEqual([
      "WARNING STEWARD_DEMO_ROOT_TOKN: is not a known variable and is ignored — did you mean STEWARD_DEMO_ROOT_TOKEN?",
    ]);
    expect(shown({ STEWARD_DEMO: "maybe" })).toEqual([
      'ERROR STEWARD_DEMO: must be true or false, got "maybe"',
    ]);
  });

  it("is refused where other machines could reach it", () => {
    expect(() => assertDemoOnLoopback("admin.listen", { host: "0.0.0.0", port: 1 })).toThrow(
      "only listens on this machine, admin.listen is 0.0.0.0:1",
    );
    expect(() => assertDemoOnLoopback("gateway.listen", { host: "::1", port: 1 })).not.toThrow();
    expect(() => assertDemoOnLoopback("admin.listen", undefined)).not.toThrow();
  });
});
