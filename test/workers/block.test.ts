import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readBlock, signatureAt, writeBlock } from "../../workers/block.ts";
import type { Signature } from "../../workers/block.ts";
import { itemOf, pack } from "../../workers/packed.ts";

const fingerprint = Uint8Array.from({ length: 32 }, (_, i) => i);
const shape = { sketchSize: 10, numBands: 5 };
const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
const words = (minLength: number, maxLength: number) => fc.uint32Array({ minLength, maxLength });
const signature: fc.Arbitrary<Signature> = fc.record({
  hash: bytes(32),
  bands: words(5, 5),
  sketch: bytes(10),
});

describe("a block", () => {
  it("gives back what was written, whatever it holds", () => {
    fc.assert(
      fc.property(fc.array(signature, { maxLength: 8 }), (signatures) => {
        const block = readBlock(writeBlock(fingerprint, shape, signatures));
        expect(block).toMatchObject({ classes: signatures.length, ...shape });
        expect(block.fingerprint).toEqual(fingerprint);
        for (const [i, expected] of signatures.entries()) {
          const { sketch, ...rest } = signatureAt(block, i);
          const { sketch: expectedSketch, ...expectedRest } = expected;
          expect(rest).toEqual(expectedRest);
          expect([...sketch]).toEqual([...expectedSketch, 0, 0]);
        }
      }),
    );
  });

  it("can be written again from its own views", () => {
    const [one] = fc.sample(signature, 1);
    const first = writeBlock(fingerprint, shape, one ? [one, one] : []);
    const block = readBlock(first);
    expect(
      new Uint8Array(
        writeBlock(fingerprint, shape, [signatureAt(block, 0), signatureAt(block, 1)]),
      ),
    ).toEqual(new Uint8Array(first));
  });

  it("that is cut or has a damaged head is corrupt", () => {
    const whole = writeBlock(fingerprint, shape, fc.sample(signature, 3));
    const corrupt = expect.objectContaining({ code: "corrupt" }) as Error;
    for (const length of [0, 4, 60, whole.byteLength - 4, whole.byteLength - 1])
      expect(() => readBlock(whole.slice(0, length))).toThrow(corrupt);
    for (const word of [0, 1, 2, 3, 4, 5]) {
      const damaged = new Uint32Array(whole.slice(0));
      damaged[word] = (damaged[word] ?? 0) + 1_000;
      expect(() => readBlock(damaged.buffer)).toThrow(corrupt);
    }
  });
});

it("packs byte strings end to end", () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 10 })), (items) => {
      const packed = pack(items);
      expect(items.map((_, i) => itemOf(packed, i))).toEqual(items);
    }),
  );
});
