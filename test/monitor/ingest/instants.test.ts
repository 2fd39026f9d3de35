import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseTime } from "../../../src/kernel/wire/time.ts";
import { createInstantReader } from "../../../src/monitor/ingest/instants.ts";

const two = fc.integer({ min: 0, max: 99 }).map((number) => String(number).padStart(2, "0"));

describe("the reader of times", () => {
  it("finds what the general parser finds, invalid dates included", () => {
    fc.assert(
      fc.property(
        fc.constantFrom("1969", "1970", "2024", "2025"),
        fc.tuple(two, two, two, two, two),
        fc.constantFrom("", ".000", ".120", ".1", ".123456789"),
        fc.constantFrom("Z", "z", "+02:00"),
        (year, [month, day, hour, minute, second], fraction, zone) => {
          const text = `${year}-${month}-${day}T${hour}:${minute}:${second}${fraction}${zone}`;
          const parsed = parseTime(text);
          const read = createInstantReader().read(text);
          const expected =
            parsed === undefined
              ? "invalid"
              : {
                  ms: Number(parsed.seconds) * 1_000 + Math.floor(parsed.nanos / 1_000_000),
                  key: `${parsed.seconds}${parsed.nanos === 0 ? "" : `.${parsed.nanos}`}`,
                  text,
                };
          expect([text, read]).toEqual([text, expected]);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it("refuses the last days of short months", () => {
    const reader = createInstantReader();
    expect(
      ["2025-02-29", "2025-02-30", "2025-04-31", "2024-02-29", "2025-01-31"].map(
        (day) => reader.read(`${day}T00:00:00Z`) === "invalid",
      ),
    ).toEqual([true, true, true, false, false]);
  });
});
