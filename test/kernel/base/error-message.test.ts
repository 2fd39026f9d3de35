import { describe, expect, it } from "vitest";
import { readError, writeError } from "../../../src/kernel/base/error-message.ts";
import { StewardError } from "../../../src/kernel/base/errors.ts";

/** As a message between threads is. */
function sent(thrown: unknown): StewardError {
  return readError("thread monitor", structuredClone(writeError(thrown)));
}

describe("an error on its way between threads", () => {
  it("arrives whole, with the place it was thrown at as its cause", () => {
    const parts = {
      field: "a.b",
      rule: "unique",
      remedy: "take another",
      details: [{ path: ["a", 1], message: "twice", code: "twice" }],
      facts: { held: 2 },
      retryAfterMs: 7,
    };
    const error = sent(new StewardError("conflict", "it is there already", parts));
    expect(error).toBeInstanceOf(StewardError);
    expect(error).toMatchObject({ code: "conflict", message: "it is there already", ...parts });
    expect((error.cause as Error).message).toMatch(
      /^thread monitor: StewardError: it is there already\n +at /,
    );
  });

  it("brings the stack of its own cause", () => {
    const error = sent(
      new StewardError("internal", "it broke", { cause: new TypeError("x is undefined") }),
    );
    expect((error.cause as Error).message).toMatch(/^thread monitor: TypeError: x is undefined\n/);
  });

  it("keeps the code that a task gave an error of its own, and lends none to the system's", () => {
    expect(sent(Object.assign(new Error("a line too many"), { code: "too_large" }))).toMatchObject({
      code: "too_large",
      message: "a line too many",
    });
    expect(sent(Object.assign(new Error("no room"), { code: "ENOSPC" }))).toMatchObject({
      code: "disk_full",
    });
    expect(sent(Object.assign(new Error("inside"), { code: "toString" }))).toMatchObject({
      code: "internal",
      message: "internal error",
    });
    expect(sent("a text")).toMatchObject({ code: "internal" });
  });
});
