import { describe, expect, it } from "vitest";
import { isOperator, presentedCredential } from "../../../gateway/access/operator.ts";
import { Secret } from "../../../src/kernel/base/secret.ts";

const token = Secret.of("s3cret:with:colons", "test");
const basic = (pair: string): string => `Basic ${Buffer.from(pair).toString("base64")}`;

describe("the operator's token", () => {
  it.each([
    ["as Bearer", "Bearer s3cret:with:colons"],
    ["as bearer in lower case", "bearer  s3cret:with:colons"],
    ["as password of any user", basic("anyone:s3cret:with:colons")],
    ["as password of nobody", basic(":s3cret:with:colons")],
  ])("is accepted %s", (_name, header) => {
    expect(isOperator(token, header)).toBe(true);
  });

  it.each([
    ["nothing", undefined],
    ["an empty header", ""],
    ["another token", "Bearer s3cret"],
    ["a longer token", "Bearer s3cret:with:colons2"],
    ["an empty Bearer", "Bearer "],
    ["the token as user", basic("s3cret:with:colons:")],
    ["no pair", basic("s3cret")],
    ["another scheme", "Digest s3cret:with:colons"],
    ["the token alone", "s3cret:with:colons"],
    ["two values", "Bearer s3cret:with:colons, Bearer x"],
  ])("is not %s", (_name, header) => {
    expect(isOperator(token, header)).toBe(false);
  });

  it("is not asked for where none is set", () => {
    expect(isOperator(undefined, undefined)).toBe(true);
  });

  it("is read from Basic up to its end, in UTF-8", () => {
    expect(presentedCredential(basic("me:pässwörd:1"))).toBe("pässwörd:1");
  });
});
