import { describe, expect, it } from "vitest";
import { parseArguments } from "../../src/commands/arguments.ts";

function message(...args: string[]): string {
  try {
    parseArguments(args);
  } catch (error) {
    expect(error).toMatchObject({ code: "invalid", rule: "usage" });
    return (error as Error).message;
  }
  return "no error";
}

describe("the daemon's flags", () => {
  it.each([
    [[], { command: "serve", options: { config: undefined, demo: false } }],
    [["-config", "a.yaml"], { command: "serve", options: { config: "a.yaml", demo: false } }],
    [
      ["--config=a=b.yaml", "--demo"],
      { command: "serve", options: { config: "a=b.yaml", demo: true } },
    ],
    [["-config=", "-demo"], { command: "serve", options: { config: undefined, demo: true } }],
    [
      ["-validate", "-config", "a.yaml"],
      {
        command: "validate",
        options: { config: "a.yaml", demo: false, json: false, warningsAsErrors: false },
      },
    ],
    [
      ["-validate", "-json", "--warnings-as-errors"],
      {
        command: "validate",
        options: { config: undefined, demo: false, json: true, warningsAsErrors: true },
      },
    ],
    [
      ["-print-effective-config"],
      {
        command: "print-effective-config",
        options: { config: undefined, demo: false, format: "json", provenance: false },
      },
    ],
    [
      ["-print-effective-config-yaml", "-config", "a.yaml"],
      { command: "print-config-file", options: { config: "a.yaml", demo: false } },
    ],
    [
      [
        "-print-effective-config",
        "-print-effective-config-format=yaml",
        "-print-effective-config-provenance",
      ],
      {
        command: "print-effective-config",
        options: { config: undefined, demo: false, format: "yaml", provenance: true },
      },
    ],
    [
      ["-healthcheck"],
      { command: "healthcheck", options: { config: undefined, demo: false, timeoutMs: 5_000 } },
    ],
    [
      ["-healthcheck", "-healthcheck-timeout", "250ms"],
      { command: "healthcheck", options: { config: undefined, demo: false, timeoutMs: 250 } },
    ],
    [
      ["-print-effective-config", "-validate", "-healthcheck"],
      { command: "healthcheck", options: { config: undefined, demo: false, timeoutMs: 5_000 } },
    ],
    [["-version", "-validate"], { command: "version" }],
    [["--version"], { command: "version" }],
    [["-help"], { command: "help", options: { topic: undefined } }],
    [["-h"], { command: "help", options: { topic: undefined } }],
    [["help"], { command: "help", options: { topic: undefined } }],
    [["help", "dedup"], { command: "help", options: { topic: "dedup" } }],
    [["version"], { command: "version" }],
    [["version", "--help"], { command: "help", options: { topic: "version" } }],
  ])("%j are read with one dash or two", (args, expected) => {
    expect(parseArguments(args)).toMatchObject(expected);
  });

  it("takes a switch that is given twice, which means the same", () => {
    expect(parseArguments(["-validate", "-validate"])).toMatchObject({ command: "validate" });
  });

  it.each([
    [
      ["-json"],
      "steward: -json goes with -validate or -exposition-check or -preflight or -once; see steward --help",
    ],
    [
      ["-healthcheck", "-healthcheck-timeout", "soon"],
      'steward: -healthcheck-timeout must be a duration above 0 such as 5s or 1m30s, got "soon"; see steward --help',
    ],
    [
      ["-print-effective-config", "-print-effective-config-format", "xml"],
      'steward: -print-effective-config-format must be json or yaml, got "xml"; see steward --help',
    ],
    [["-verson"], "steward: unknown option -verson, did you mean -version? see steward --help"],
    [["--verson"], "steward: unknown option --verson, did you mean --version? see steward --help"],
    [
      ["--threshold", "1"],
      "steward: --threshold is an option of steward dedup and steward verify; see steward --help",
    ],
    [["-check"], "steward: -check is a command: steward check; see steward --help"],
    [
      ["serve"],
      "steward: the daemon starts without a command: steward -config FILE; see steward --help",
    ],
    [
      ["dedup", "--healthcheck", "a"],
      "steward dedup: --healthcheck is an option of the daemon; see steward dedup --help",
    ],
    [["version", "x"], 'steward version: unexpected argument "x"; see steward version --help'],
    [["--elephant"], "steward: unknown option --elephant; see steward --help"],
    [["--constructor"], "steward: unknown option --constructor; see steward --help"],
    [["-config"], "steward: -config needs a value; see steward --help"],
    [["-config", "-demo"], "steward: -config needs a value; see steward --help"],
    [["-demo=yes"], "steward: -demo takes no value; see steward --help"],
    [
      ["-validate", "-config", "a", "--config", "b"],
      "steward: --config is given twice; see steward --help",
    ],
    [
      ["-preflight", "-preflight-timeout", "1s", "-preflight-timeout=1s"],
      "steward: -preflight-timeout is given twice; see steward --help",
    ],
    [
      ["dedup", "--csv", "a", "--csv", "b", "p"],
      "steward dedup: --csv is given twice; see steward dedup --help",
    ],
    [
      ["dedup", "--explain", "a", "b", "--explain", "c", "d", "p"],
      "steward dedup: --explain is given twice; see steward dedup --help",
    ],
    [
      ["events", "-n", "5", "--limit", "6"],
      "steward events: --limit is given twice; see steward events --help",
    ],
    [
      ["-demo", "dedup"],
      "steward: the command must come first: steward dedup ...; see steward --help",
    ],
    [["-"], 'steward: unexpected argument "-"; see steward --help'],
    [["dedupe"], 'steward: unknown command "dedupe", did you mean dedup? see steward --help'],
    [
      ["help", "dedpu"],
      'steward: there is no help on "dedpu", did you mean dedup? see steward --help',
    ],
    [["\u001b[2J"], 'steward: unknown command "\\u001b[2J"; see steward --help'],
    [["--\u001b[2J"], "steward: unknown option --\\u001b[2J; see steward --help"],
  ])("%j are refused in one line", (args, expected) => {
    expect(message(...args)).toBe(expected);
  });
});

describe("steward dedup", () => {
  it("takes paths and options in any order", () => {
    expect(
      parseArguments([
        "dedup",
        "a",
        "--threshold",
        ".9",
        "-json",
        "-",
        "--min-words=5",
        "--workers",
        "2",
        "--state",
        "s",
        "--include",
        "*.pdf",
        "--exclude=old",
        "--include",
        "*.md",
        "--id-field",
        "url",
        "--text-field=body",
        "--skipped",
        "--quiet",
        "--",
        "--b",
      ]),
    ).toMatchObject({
      command: "dedup",
      options: {
        paths: ["a", "-", "--b"],
        include: ["*.pdf", "*.md"],
        exclude: ["old"],
        idField: "url",
        textField: "body",
        skipped: true,
        json: true,
        quiet: true,
        parameters: { similarityThreshold: 0.9, minWords: 5 },
        workers: 2,
        state: "s",
      },
    });
  });

  it("leaves open what was not said", () => {
    expect(parseArguments(["dedup", "a"])).toMatchObject({
      command: "dedup",
      options: {
        paths: ["a"],
        include: [],
        exclude: [],
        idField: undefined,
        textField: undefined,
        skipped: false,
        json: false,
        quiet: false,
        parameters: {},
        workers: undefined,
        state: undefined,
      },
    });
  });

  it.each([
    ["0", 0],
    ["1", 1],
    ["0.75", 0.75],
  ])("takes %s for a threshold", (text, value) => {
    expect(parseArguments(["dedup", "--threshold", text, "a"])).toMatchObject({
      options: { parameters: { similarityThreshold: value } },
    });
  });

  it("shows its help wherever it is asked for", () => {
    expect(parseArguments(["dedup", "--help"])).toMatchObject({
      command: "help",
      options: { topic: "dedup" },
    });
    expect(parseArguments(["dedup", "a", "-h"])).toMatchObject({
      command: "help",
      options: { topic: "dedup" },
    });
  });

  it.each([
    [[], "at least one PATH is needed: a folder, a file, or - for standard input;"],
    [["--exclude", "", "a"], "--exclude must not be empty;"],
    [["--text-field=", "a"], "--text-field must not be empty;"],
    [["--threshold", "2", "a"], '--threshold must be a number from 0 to 1, got "2";'],
    [["--threshold", "-1", "a"], '--threshold must be a number from 0 to 1, got "-1";'],
    [["--threshold=", "a"], '--threshold must be a number from 0 to 1, got "";'],
    [["--threshold", "1e-1", "a"], '--threshold must be a number from 0 to 1, got "1e-1";'],
    [["--min-words", "2.5", "a"], '--min-words must be a whole number from 1 to 1000, got "2.5";'],
    [["--workers", "0", "a"], '--workers must be a whole number from 1 to 256, got "0";'],
    [["--workers", "--json", "a"], "--workers needs a value;"],
    [["--state=", "a"], "--state must not be empty;"],
    [["--jsn", "a"], "unknown option --jsn, did you mean --json?"],
    [["-x", "a"], "unknown option -x;"],
    [["-", "-"], "standard input (-) can be read only once;"],
    [[""], "a PATH must not be empty;"],
  ])("refuses %j", (args, expected) => {
    expect(message("dedup", ...args)).toBe(`steward dedup: ${expected} see steward dedup --help`);
  });
});
