import { afterEach, expect, it } from "vitest";
import { logConsole } from "../../../src/kernel/base/console-log.ts";

const original = { ...console };
afterEach(() => void Object.assign(console, original));

it("what a library writes to the console is a warning of the log: one line, an error without its stack, bounded", () => {
  const lines: unknown[] = [];
  logConsole({ warn: (message, fields) => void lines.push([message, fields?.["text"]]) });
  console.error(new Error("Input/output error\nsecond line"));
  console.warn("%s of %d", "three", 4, { more: true });
  console.log("x".repeat(2_000));
  console.error();
  expect(lines).toEqual([
    ["a library wrote to the console", "Error: Input/output error"],
    ["a library wrote to the console", "three of 4 { more: true }"],
    ["a library wrote to the console", "x".repeat(500)],
    ["a library wrote to the console", ""],
  ]);
});
