import { describe, expect, it } from "vitest";
import { StewardError, toStewardError } from "../../../src/kernel/base/errors.ts";

describe("toStewardError", () => {
  it("leaves the house's own errors as they are", () => {
    const error = new StewardError("conflict", "no");
    expect(toStewardError(error)).toBe(error);
  });

  it("never shows the text of an unknown error", () => {
    const error = toStewardError(new TypeError("cannot read /root/secret of undefined"));
    expect(error.code).toBe("internal");
    expect(error.message).toBe("internal error");
  });

  it.each([["ENOSPC", "disk_full"], ["ENOENT", "not_found"], ["EACCES", "denied"], ["EROFS", "denied"], ["EIO", "internal"], ["ENFILE", "exhausted"]])("knows the system's %s", (system, code) => {
    expect(toStewardError(Object.assign(new Error("x"), { code: system }))).toMatchObject({ code, message: "x" });
  });

  it("finds the reason behind an abort", () => {
    const reason = new StewardError("deadline", "too late");
    expect(toStewardError(Object.assign(new Error("aborted", { cause: reason }), { name: "AbortError" }))).toBe(reason);
  });
});
