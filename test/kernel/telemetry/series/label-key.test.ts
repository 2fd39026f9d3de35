import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  KeyMaker,
  labelKey,
  parseLabelKey,
} from "../../../../src/kernel/telemetry/series/label-key.ts";

describe("the key of a series", () => {
  const value = fc.option(fc.string({ unit: "binary" }), { nil: undefined });

  it("gives its values back, whatever they are", () => {
    fc.assert(
      fc.property(fc.array(value, { maxLength: 6 }), (values) => {
        expect(parseLabelKey(labelKey(values))).toEqual(values.map((each) => each ?? null));
      }),
    );
  });

  it("is another for other values", () => {
    fc.assert(
      fc.property(
        fc.array(value, { minLength: 2, maxLength: 2 }),
        fc.array(value, { minLength: 2, maxLength: 2 }),
        (left, right) => {
          expect(labelKey(left) === labelKey(right)).toBe(
            left.every((each, index) => each === right[index]),
          );
        },
      ),
    );
  });

  it("is that of the values whatever was asked before", () => {
    const mixed = fc.oneof(value, fc.integer(), fc.boolean());
    fc.assert(
      fc.property(fc.array(fc.array(mixed, { maxLength: 3 }), { maxLength: 20 }), (asked) => {
        const keys = new KeyMaker();
        for (const values of asked)
          for (const again of [values, [...values]])
            expect(keys.keyOf(again)).toBe(labelKey(values));
      }),
    );
  });
});
