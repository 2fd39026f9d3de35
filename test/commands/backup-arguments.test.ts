import { expect, it } from "vitest";
import { parseArguments } from "../../src/commands/arguments.ts";

it("reads what backup and check are asked for", () => {
  expect(parseArguments(["backup", "/mnt/b"])).toMatchObject({
    command: "backup",
    options: { config: undefined, demo: false, target: "/mnt/b" },
  });
  expect(parseArguments(["backup", "-config", "s.yaml", "/mnt/b"])).toMatchObject({
    command: "backup",
    options: { config: "s.yaml", demo: false, target: "/mnt/b" },
  });
  expect(parseArguments(["check"])).toMatchObject({
    command: "check",
    options: { config: undefined, demo: false, directory: undefined },
  });
  expect(parseArguments(["check", "--demo", "/mnt/b"])).toMatchObject({
    command: "check",
    options: { config: undefined, demo: true, directory: "/mnt/b" },
  });
  expect(parseArguments(["backup", "--help"])).toMatchObject({
    command: "help",
    options: { topic: "backup" },
  });
  expect(parseArguments(["help", "check"])).toMatchObject({
    command: "help",
    options: { topic: "check" },
  });
});

it.each([
  [["backup"], /^steward backup: DIR is needed/],
  [["backup", ""], /^steward backup: DIR is needed/],
  [["backup", "a", "b"], /^steward backup: unexpected argument "b"/],
  [["check", ""], /^steward check: DIR must not be empty/],
  [["check", "a", "b"], /^steward check: unexpected argument "b"/],
  [["bakup", "a"], /did you mean backup\?/],
])("refuses %j in one line", (args, line) => {
  expect(() => parseArguments(args)).toThrow(line);
});

it("reads what root-token is asked for", () => {
  expect(parseArguments(["root-token", "--config", "s.yaml"])).toMatchObject({
    command: "root-token",
    options: { config: "s.yaml", demo: false },
  });
  expect(parseArguments(["help", "root-token"])).toMatchObject({
    command: "help",
    options: { topic: "root-token" },
  });
  expect(() => parseArguments(["root-token", "x"])).toThrow(
    /^steward root-token: unexpected argument "x"/,
  );
  expect(() => parseArguments(["root-tokn"])).toThrow(/did you mean root-token\?/);
});

it("reads what rotate-key is asked for", () => {
  expect(parseArguments(["rotate-key", "--key-file", "k"])).toMatchObject({
    command: "rotate-key",
    options: { config: undefined, demo: false, keyFile: "k" },
  });
  expect(parseArguments(["help", "rotate-key"])).toMatchObject({
    command: "help",
    options: { topic: "rotate-key" },
  });
  expect(() => parseArguments(["rotate-key", "x"])).toThrow(
    /^steward rotate-key: unexpected argument "x"/,
  );
  expect(() => parseArguments(["rotate-key", "--key-file="])).toThrow(
    /^steward rotate-key: --key-file needs a file/,
  );
});
