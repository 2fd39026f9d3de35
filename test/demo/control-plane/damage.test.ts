import { describe, expect, it } from "vitest";
import {
  numbersAsStrings,
  unknownEnums,
  withoutMembers,
  wrongTypes,
} from "../../../src/demo/control-plane/damage.ts";

const body = { list: [{ id: 7, role: "admin", nested: { role: "member", on: true, none: null } }] };

describe("damage", () => {
  it("turns numbers into text and nothing else", () => {
    expect(numbersAsStrings(body)).toEqual({ list: [{ ...body.list[0], id: "7" }] });
  });

  it("gives every leaf another type", () => {
    expect(wrongTypes(body)).toEqual({
      list: [{ id: true, role: 17, nested: { role: 17, on: "yes", none: {} } }],
    });
  });

  it("takes members away at any depth", () => {
    expect(JSON.parse(JSON.stringify(withoutMembers(body, ["role"])))).toEqual({
      list: [{ id: 7, nested: { on: true, none: null } }],
    });
  });

  it("puts unknown words where the vendor enumerates them, or where it is told to", () => {
    expect(unknownEnums(body)).toEqual({
      list: [
        { id: 7, role: "SOMETHING_NEW", nested: { role: "SOMETHING_NEW", on: true, none: null } },
      ],
    });
    expect(unknownEnums(body, ["id", "on"])).toEqual(body);
  });
});
