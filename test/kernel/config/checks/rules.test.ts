import { describe, expect, it } from "vitest";
import {
  baseUrl,
  httpUrl,
  isPlainRemote,
  isReadableByOthers,
  noBlank,
  optionally,
  timer,
} from "../../../../src/kernel/config/checks/rules.ts";

describe("an address", () => {
  it.each(["https://host", "http://127.0.0.1:1/path", "https://[::1]:1"])("%s is one", (text) => {
    expect([httpUrl(text), baseUrl(text)]).toEqual([undefined, undefined]);
  });

  it.each(["", "host:1", "ftp://host", "http:host", "https://"])("%j is none", (text) => {
    expect(httpUrl(text)?.rule).toBe("must be an http or https address");
  });

  it("holds no credentials, and a base no query", () => {
    expect(httpUrl("https://ada@host")?.rule).toBe("must not contain credentials");
    expect([
      httpUrl("https://host/?a=1"),
      baseUrl("https://host/?a=1")?.rule,
      baseUrl("https://host/#a")?.rule,
    ]).toEqual([undefined, "must end with host or path", "must end with host or path"]);
    expect([optionally(baseUrl)(""), optionally(baseUrl)("x")?.rule]).toEqual([
      undefined,
      "must be an http or https address",
    ]);
  });

  it.each([
    ["http://host", true],
    ["http://10.0.0.1", true],
    ["https://host", false],
    ["http://localhost:1", false],
    ["http://127.0.0.2", false],
    ["http://[::1]", false],
    ["host", false],
  ])("%s is plain and remote: %s", (text, expected) => {
    expect([isPlainRemote(text), isReadableByOthers(text)]).toEqual([expected, expected]);
  });

  it.each(["http://100.64.0.9:4318", "http://[fd7a:115c:a1e0::1]"])(
    "%s is plain, and read by nobody else on the way",
    (text) => {
      expect([isPlainRemote(text), isReadableByOthers(text)]).toEqual([true, false]);
    },
  );
});

describe("a time to wait", () => {
  it("is more than nothing and no longer than a timer can wait", () => {
    expect([
      timer(0)?.rule,
      timer(1),
      timer(24 * 86_400_000),
      timer(24 * 86_400_000 + 1)?.rule,
    ]).toEqual(["must be more than 0", undefined, undefined, "must be at most 576h"]);
  });
});

describe("a list", () => {
  it("has something in each entry", () => {
    expect([noBlank([]), noBlank(["a"]), noBlank(["a", " "])?.rule]).toEqual([
      undefined,
      undefined,
      "must not have empty entries",
    ]);
  });
});
