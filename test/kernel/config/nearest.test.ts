import { describe, expect, it } from "vitest";
import { nearestName } from "../../../src/kernel/config/nearest.ts";

describe("nearestName", () => {
  const known = ["gateway.listen", "gateway.allowed_hosts", "auth.token", "--json", "dedup"];

  it.each([["gateway.lisetn", "gateway.listen"], ["auth.tokne", "auth.token"], ["--jsno", "--json"], ["dedupe", "dedup"], ["DEDUP", "dedup"]])("takes %s for %s", (name, expected) => {
    expect(nearestName(name, known)).toBe(expected);
  });

  it.each(["elephant", "", "x", "a".repeat(101)])("takes %j for nothing", (name) => {
    expect(nearestName(name, known)).toBeUndefined();
  });
});
