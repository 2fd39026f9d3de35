import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { equalSecrets, Secret } from "../../../src/kernel/base/secret.ts";

describe("a secret", () => {
  const secret = Secret.of("hunter2-canary", "STEWARD_AUTH__TOKEN");

  it("prints as [secret] whatever prints it", () => {
    const printed = [
      String(secret),
      JSON.stringify({ secret }),
      inspect(secret),
      inspect({ deep: { secret } }),
      Object.values(secret).join(),
    ];
    for (const text of printed) expect(text).not.toContain("canary");
    expect(printed[0]).toBe("[secret]");
  });

  it("hands its value to the one who uses it", () => {
    expect(secret.use((value) => value.length)).toBe(14);
  });

  it("equals the same value and nothing else", () => {
    expect(secret.equals("hunter2-canary")).toBe(true);
    expect(secret.equals(Secret.of("hunter2-canary", "elsewhere"))).toBe(true);
    expect(secret.equals("hunter2-canar")).toBe(false);
    expect(equalSecrets("", "")).toBe(true);
  });
});
