import { describe, expect, it } from "vitest";
import { Concealment } from "../../../../src/kernel/base/log/concealment.ts";
import { Secret } from "../../../../src/kernel/base/secret.ts";

const VALUE = 's3cr+t/"wörd"=%x';

function concealing(...secrets: (Secret | string)[]): Concealment {
  const concealment = new Concealment();
  concealment.add(secrets);
  return concealment;
}

describe("a text that repeats a secret", () => {
  const base64 = (text: string): string => Buffer.from(text).toString("base64");
  it.each([
    ["as it is", VALUE],
    ["in JSON", JSON.stringify(VALUE).slice(1, -1)],
    ["percent-encoded", encodeURIComponent(VALUE)],
    ["in a form", new URLSearchParams({ v: VALUE }).toString().slice(2)],
    ["in base64", base64(VALUE)],
    ["in URL-safe base64", Buffer.from(VALUE).toString("base64url")],
    ["in hex", Buffer.from(VALUE).toString("hex")],
    ["in upper-case hex", Buffer.from(VALUE).toString("hex").toUpperCase()],
    ["as the password of Basic", base64(`user:${VALUE}`)],
    ["of another user", base64(`users:${VALUE}`)],
    ["of a third one", base64(`user22:${VALUE}`)],
    ["between other bytes in base64", base64(`ab${VALUE}ab`)],
  ])("shows [secret] instead of one %s", (_how, written) => {
    const shown = concealing(Secret.of(VALUE, "test")).apply(`before ${written} after`);
    expect(shown).toMatch(/^before .{0,12}\[secret\].{0,4} after$/);
  });

  it("shows none of a secret that begins another, nor of the parts of an Authorization header", () => {
    expect(concealing("kanarienvogel", "kanarienvogel-zwei").apply("kanarienvogel-zwei")).toBe(
      "[secret]",
    );
    expect(concealing("Bearer kanarienvogel").apply("no kanarienvogel; Bearer kanarienvogel")).toBe(
      "no [secret]; [secret]",
    );
    expect(
      concealing(`Basic ${base64("ada:kanarienvogel")}`).apply("ada may not use kanarienvogel"),
    ).toBe("ada may not use [secret]");
  });

  it("is left as it is while nothing is known, and where a secret is a short word", () => {
    expect(new Concealment().apply("anything")).toBe("anything");
    expect(concealing("short", "").apply("a short text")).toBe("a short text");
  });
});

it("the oldest values are forgotten when thousands were added, not the newest", () => {
  const concealment = new Concealment();
  const values = Array.from({ length: 1_025 }, (_, number) => `kanarienvogel-${number}.`);
  concealment.add(values);
  expect(concealment.apply("kanarienvogel-0. kanarienvogel-1. kanarienvogel-1024.")).toBe(
    "kanarienvogel-0. [secret] [secret]",
  );
});
