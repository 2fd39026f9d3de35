import { Code as RpcCode } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import {
  dedupCode,
  errorText,
  httpStatus,
  retryAfterSeconds,
  rpcCode,
  seenError,
  UNKNOWN_ROUTE,
} from "../../gateway/codes.ts";
import { StewardError, type Code } from "../../src/kernel/base/errors.ts";

describe("the table of codes", () => {
  const rows: [Code, number, number, string, number, RpcCode][] = [
    ["invalid", 400, 400, "VALIDATION_FAILED", 400, RpcCode.InvalidArgument],
    ["unauthenticated", 401, 401, "UNAUTHORIZED", 403, RpcCode.Unauthenticated],
    ["denied", 403, 401, "UNAUTHORIZED", 403, RpcCode.PermissionDenied],
    ["not_found", 404, 404, "NOT_FOUND", 404, RpcCode.NotFound],
    ["unsupported", 405, 405, "METHOD_NOT_ALLOWED", 405, RpcCode.Unimplemented],
    ["conflict", 409, 409, "CONFLICT", 400, RpcCode.FailedPrecondition],
    ["already_running", 409, 409, "JOB_ALREADY_RUNNING", 400, RpcCode.AlreadyExists],
    ["too_large", 413, 413, "PAYLOAD_TOO_LARGE", 413, RpcCode.ResourceExhausted],
    ["exhausted", 503, 429, "TOO_MANY_REQUESTS", 429, RpcCode.ResourceExhausted],
    ["upstream", 502, 502, "BAD_GATEWAY", 502, RpcCode.Unavailable],
    ["deadline", 504, 502, "BAD_GATEWAY", 504, RpcCode.DeadlineExceeded],
    ["not_ready", 503, 503, "SERVICE_UNAVAILABLE", 503, RpcCode.Unavailable],
    ["sealed", 503, 503, "SERVICE_UNAVAILABLE", 503, RpcCode.Unavailable],
    ["cancelled", 503, 503, "SERVICE_UNAVAILABLE", 503, RpcCode.Canceled],
    ["disk_full", 503, 507, "INSUFFICIENT_STORAGE", 507, RpcCode.ResourceExhausted],
    ["corrupt", 500, 500, "INTERNAL_ERROR", 500, RpcCode.Internal],
    ["internal", 500, 500, "INTERNAL_ERROR", 500, RpcCode.Internal],
  ];
  it.each(rows)("says what %s means on every surface", (code, monitor, dedup, name, vault, rpc) => {
    const error = new StewardError(code, "m");
    expect([
      httpStatus(error, "monitor"),
      httpStatus(error, "dedup"),
      dedupCode(error),
      httpStatus(error, "vault"),
      rpcCode(error, "dedup"),
    ]).toEqual([monitor, dedup, name, vault, rpc]);
  });

  it("has the exceptions that a code alone does not tell", () => {
    expect(dedupCode(new StewardError("invalid", "m", { rule: "bad_request" }))).toBe(
      "BAD_REQUEST",
    );
    expect(dedupCode(new StewardError("not_ready", "m", { facts: {} }))).toBe("NOT_READY");
    expect(rpcCode(new StewardError("unauthenticated", "m"), "vault")).toBe(
      RpcCode.PermissionDenied,
    );
    expect(rpcCode(new StewardError("not_found", "m", { rule: UNKNOWN_ROUTE }), "dedup")).toBe(
      RpcCode.Unimplemented,
    );
  });

  it.each([
    [{ retryAfterMs: 1 }, 1],
    [{ retryAfterMs: 1001 }, 2],
    [{}, 1],
  ])("rounds the waiting of %o up to %s s", (options, seconds) => {
    expect(retryAfterSeconds(new StewardError("exhausted", "m", options))).toBe(seconds);
  });

  it("asks for no waiting where nobody said how long", () => {
    expect(retryAfterSeconds(new StewardError("not_ready", "m"))).toBeUndefined();
  });
});

describe("what may be seen of an error", () => {
  it("is all of an error of the house", () => {
    const error = new StewardError("conflict", "the group is deleted");
    expect(seenError(error, "r")).toBe(error);
    const abort = new DOMException("aborted", "AbortError");
    expect(
      seenError(Object.assign(new Error("x", { cause: error }), { name: "AbortError" }), "r"),
    ).toBe(error);
    expect(seenError(abort, "r").code).toBe("cancelled");
  });

  it.each([
    ["an assertion", new StewardError("internal", "assertion failed: /secret"), "internal"],
    ["damage", new StewardError("corrupt", "row 7 of /secret"), "corrupt"],
    [
      "a missing file",
      Object.assign(new Error("ENOENT: open '/secret'"), { code: "ENOENT" }),
      "internal",
    ],
    [
      "a refused connection",
      Object.assign(new Error("connect ECONNREFUSED secret:1"), { code: "ECONNREFUSED" }),
      "internal",
    ],
    [
      "a full disk",
      Object.assign(new Error("ENOSPC: write '/secret'"), { code: "ENOSPC" }),
      "disk_full",
    ],
    ["any other error", new TypeError("secret is undefined"), "internal"],
    ["something that is no error", "secret", "internal"],
  ])("is nothing of %s but its kind", (_what, thrown, code) => {
    const seen = seenError(thrown, "req-1");
    expect(seen.code).toBe(code);
    expect(seen.message).not.toContain("secret");
    expect(seen.cause).toBe(thrown);
  });
});

describe("the text of an error", () => {
  it("says the remedy once, and leaves a text alone that clients know letter by letter", () => {
    expect(errorText(new StewardError("invalid", "x is wrong", { remedy: "write y" }))).toBe(
      "x is wrong; write y",
    );
    expect(
      errorText(new StewardError("invalid", "x is wrong; write y", { remedy: "write y" })),
    ).toBe("x is wrong; write y");
    expect(
      errorText(
        new StewardError("invalid", "1 error occurred:\n\t* unknown field: x\n\n", {
          remedy: "ask for help",
        }),
      ),
    ).toBe("1 error occurred:\n\t* unknown field: x\n\n");
  });
});
