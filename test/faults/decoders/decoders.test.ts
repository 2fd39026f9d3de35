import { randomInt } from "node:crypto";
import { describe, expect, it } from "vitest";
import { decoders } from "./decoders.ts";
import { fuzz, FUZZ_MS, inputOf } from "./fuzz.ts";

/** `STEWARD_TEST_CASE` runs from the case that an earlier run reported. */
const first = Number(process.env["STEWARD_TEST_CASE"] ?? randomInt(2 ** 30));

describe(`the decoder, from case ${first} on,`, () => {
  it.each(Object.entries(decoders))(
    "of %s decodes or refuses whatever comes, soon",
    { timeout: FUZZ_MS + 60_000 },
    async (_name, decoder) => {
      expect(await fuzz(decoder, first)).toBeGreaterThan(0);
    },
  );

  it.each(Object.entries(decoders))("of %s accepts what is valid", async (_name, decoder) => {
    for (const seed of decoder.seeds) await decoder.decode(Buffer.from(seed));
  });
});

describe("fuzzing", () => {
  it("makes the same input of the same number", () => {
    const [decoder] = Object.values(decoders);
    if (decoder === undefined) throw new Error("there are decoders");
    expect(inputOf(decoder, first)).toEqual(inputOf(decoder, first));
  });

  it("reports the case that broke a promise", async () => {
    const decode = (): void => {
      throw new TypeError("broken");
    };
    await expect(fuzz({ seeds: ["x"], words: ["y"], decode }, 7)).rejects.toThrow("case 7:");
  });
});
