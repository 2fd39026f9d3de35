import { afterEach, expect, it } from "vitest";
import { logConsole } from "../../../../src/kernel/base/log/console-log.ts";

// As a library has it; our own code does not write to it.
const theirs = globalThis["console"];
const original = { ...theirs };
afterEach(() => void Object.assign(theirs, original));

it("what a library writes to the console is a warning of the log: one line, an error without its stack, bounded", () => {
  const lines: unknown[] = [];
  logConsole({ warn: (message, fields) => void lines.push([message, fields?.["text"]]) });
  theirs.error(new Error("Input/output error\nsecond line"));
  theirs.warn("%s of %d", "three", 4, { more: true });
  theirs.log("x".repeat(2_000));
  theirs.error();
  expect(lines).toEqual([
    ["a library wrote to the console", "Error: Input/output error"],
    ["a library wrote to the console", "three of 4 { more: true }"],
    ["a library wrote to the console", "x".repeat(500)],
    ["a library wrote to the console", ""],
  ]);
});
