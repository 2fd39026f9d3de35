import { expect, it } from "vitest";
import { StewardError } from "../../../src/kernel/base/errors.ts";
import { whileReadable } from "../../../src/kernel/state/while-readable.ts";

const throwing = (error: unknown) => () => {
  throw error;
};

it("a read has no result while the store is closed, reopened or damaged", () => {
  expect(whileReadable(() => 1)).toBe(1);
  for (const code of ["not_ready", "corrupt"] as const)
    expect(whileReadable(throwing(new StewardError(code, "x")))).toBeUndefined();
});

it("a mistake in a read is thrown", () => {
  expect(() => whileReadable(throwing(new TypeError("x")))).toThrow(TypeError);
  expect(() => whileReadable(throwing(new StewardError("internal", "x")))).toThrow("x");
});
