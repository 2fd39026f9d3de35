import { describe, expect, it } from "vitest";
import { nearest } from "../../../src/kernel/base/nearest.ts";

describe("the nearest name", () => {
  it.each([
    ["statsu", "status"], ["STATUS", "status"], ["group_ids", "groupIds"], ["groupId", "groupIds"], ["confrim", "confirm"], ["stauts", "status"], ["", undefined], ["zzzzzz", undefined], ["x".repeat(65), undefined],
  ])("of %s is %s", (name, expected) => {
    expect(nearest(name, ["status", "groupIds", "confirm", "documentId"])).toBe(expected);
  });

  it("is the closest of several", () => {
    expect(nearest("docC", ["docAlpha", "docB", "offset"])).toBe("docB");
  });

  it("forgives two swapped letters in a short name", () => {
    expect(nearest("nmae", ["name", "kind"])).toBe("name");
  });
});
