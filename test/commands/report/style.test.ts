import { describe, expect, it } from "vitest";
import { hasColors } from "../../../src/commands/report/style.ts";

describe("colours", () => {
  it.each([
    ["auto", true, {}, true],
    ["auto", false, {}, false],
    ["auto", true, { NO_COLOR: "1" }, false],
    ["auto", true, { NO_COLOR: "" }, true],
    ["auto", true, { TERM: "dumb" }, false],
    ["auto", true, { TERM: "xterm" }, true],
    ["always", false, { NO_COLOR: "1" }, true],
    ["never", true, {}, false],
  ] as const)("%s, terminal %s, %j: %s", (choice, isTerminal, environment, expected) => {
    expect(hasColors({ choice, isTerminal, environment })).toBe(expected);
  });
});
