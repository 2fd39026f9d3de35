import { describe, expect, it } from "vitest";
import { newFileFor, withFoundFile } from "../../src/commands/config-search.ts";

const none = { config: undefined, demo: false };
const own = "/home/ada/.config/steward/steward.yaml";
const global = "/etc/steward/steward.yaml";

function found(
  environment: Record<string, string>,
  existing: readonly string[],
  options = none,
): string | undefined {
  return withFoundFile<typeof none | { config: string; demo: boolean }>(
    options,
    environment,
    (path) => existing.includes(path),
  ).config;
}

describe("the file of a configuration that nobody names", () => {
  it.each([
    ["the user's", { HOME: "/home/ada" }, [own, global], own],
    [
      "the user's, where XDG_CONFIG_HOME says",
      { HOME: "/home/ada", XDG_CONFIG_HOME: "/c" },
      [own, "/c/steward/steward.yaml"],
      "/c/steward/steward.yaml",
    ],
    ["the machine's, when the user has none", { HOME: "/home/ada" }, [global], global],
    ["the machine's, for somebody without a home", {}, [own, global], global],
    ["none, when there is none", { HOME: "/home/ada" }, [], undefined],
    [
      "none, when a variable says what to run with",
      { HOME: "/home/ada", STEWARD_GATEWAY__LISTEN: ":1" },
      [own],
      undefined,
    ],
    [
      "none, when the demo is asked for or forbidden",
      { HOME: "/home/ada", STEWARD_DEMO: "false" },
      [own],
      undefined,
    ],
    [
      "none, when an archive is named",
      { HOME: "/home/ada", PAPERLESS_URL: "http://p" },
      [own],
      undefined,
    ],
    [
      "the user's, when such a variable is empty",
      { HOME: "/home/ada", STEWARD_DEMO: "" },
      [own],
      own,
    ],
  ])("is %s", (_case, environment, existing, expected) => {
    expect(found(environment, existing)).toBe(expected);
  });

  it("is not looked for with -config or -demo", () => {
    expect(
      withFoundFile({ config: "a.yaml", demo: false }, { HOME: "/home/ada" }, () => true).config,
    ).toBe("a.yaml");
    expect(
      withFoundFile({ config: undefined, demo: true }, { HOME: "/home/ada" }, () => true).config,
    ).toBeUndefined();
  });
});

describe("the file of a new configuration", () => {
  it("is one that is found: the machine's for root, else the user's", () => {
    expect(newFileFor({ HOME: "/root" }, true)).toBe(global);
    expect(newFileFor({ HOME: "/home/ada" }, false)).toBe(own);
    expect(newFileFor({ HOME: "/home/ada", XDG_CONFIG_HOME: "/c" }, false)).toBe(
      "/c/steward/steward.yaml",
    );
    expect(newFileFor({}, false)).toBe(global);
  });
});
