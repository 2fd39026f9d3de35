import { describe, expect, it } from "vitest";
import { ownMessage, StewardError, toStewardError } from "../../../src/kernel/base/errors.ts";

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

  it.each([
    ["ENOSPC", "disk_full"],
    ["ENOENT", "not_found"],
    ["EACCES", "denied"],
    ["EROFS", "denied"],
    ["EIO", "internal"],
    ["ENFILE", "exhausted"],
    ["EISDIR", "invalid"],
    ["ENOTDIR", "invalid"],
    ["ELOOP", "invalid"],
    ["ENAMETOOLONG", "invalid"],
  ])("knows the system's %s", (system, code) => {
    expect(toStewardError(Object.assign(new Error("x"), { code: system }))).toMatchObject({
      code,
      message: "x",
    });
  });

  it("finds the reason behind an abort", () => {
    const reason = new StewardError("deadline", "too late");
    expect(
      toStewardError(
        Object.assign(new Error("aborted", { cause: reason }), { name: "AbortError" }),
      ),
    ).toBe(reason);
  });
});

describe("what anybody may read of an error", () => {
  const foreign = Object.assign(new Error("EACCES: permission denied, open '/root/x'"), {
    code: "EACCES",
  });

  it("is the message of one of ours, also where it has a cause", () => {
    expect(ownMessage(new StewardError("conflict", "it runs already", { cause: foreign }))).toBe(
      "it runs already",
    );
    expect(ownMessage(new Error("MDB_CORRUPTED: at /root/x"))).toBe("the store is damaged");
  });

  it("is only the code of somebody else's, also after it was turned into one of ours", () => {
    expect([ownMessage(foreign), ownMessage(toStewardError(foreign))]).toEqual([
      "denied (EACCES); see the log",
      "denied (EACCES); see the log",
    ]);
    expect([ownMessage(new TypeError("x of undefined")), ownMessage("text")]).toEqual([
      "internal error",
      "something that is not an error was thrown",
    ]);
  });
});
