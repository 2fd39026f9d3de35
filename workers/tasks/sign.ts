/** Takes stored texts to a block of signatures. */
import { writeBlock } from "../block.ts";
import type { Signature } from "../block.ts";
import { stopped } from "../control.ts";
import type { TaskControl } from "../control.ts";
import { itemOf } from "../packed.ts";
import type { Packed } from "../packed.ts";
import type { SignatureParameters } from "../parameters.ts";
import { hashTokens } from "../score/discriminative.ts";
import { wordSorted } from "../score/fuzzy.ts";
import { tokensOf } from "../score/tokens.ts";
import { bandKeys } from "../sketch/bands.ts";
import { lowBytes, sketchOf } from "../sketch/sketch.ts";
import { compressText, decompressText } from "../text/compress.ts";
import { normalise, sampleOf, textHash } from "../text/normalise.ts";
import { shingleSet } from "../text/shingles.ts";

/** Texts to sign. */
export interface SignInput {
  /** Under zstd; an empty item is a text that is gone. */
  readonly texts: Packed;
  /** 32 bytes each: the hash that the normalised text must have. */
  readonly hashes: Uint8Array;
  readonly parameters: SignatureParameters;
  /** Names the parameters in the block, 32 bytes. */
  readonly fingerprint: Uint8Array;
}

/** A block of those texts that were there and had their hash, in input order. */
export interface SignOutput {
  readonly block: ArrayBuffer;
}

const LEVEL = 1;

/** Signs a batch. Throws `cancelled`, or `corrupt` for a text that cannot be unpacked. */
export function run(input: SignInput, control: TaskControl): SignOutput {
  const { numPermutations, numBands } = input.parameters;
  const signatures: Signature[] = [];
  for (let i = 0; i < input.texts.ends.length; i += 1) {
    if (control.cancelled()) throw stopped();
    const bytes = itemOf(input.texts, i);
    const hash = input.hashes.subarray(i * 32, (i + 1) * 32);
    const normalised = bytes.length === 0 ? undefined : normalise(decompressText(bytes));
    if (normalised !== undefined && Buffer.compare(textHash(normalised), hash) === 0)
      signatures.push(signatureOf(normalised, hash, input.parameters));
    control.step(1);
  }
  const block = writeBlock(
    input.fingerprint,
    { sketchSize: numPermutations, numBands },
    signatures,
  );
  control.transfer(block);
  return { block };
}

/** The signature of one normalised text. */
export function signatureOf(
  normalised: string,
  hash: Uint8Array,
  parameters: SignatureParameters,
): Signature {
  const set = shingleSet(normalised, parameters.ngramSize);
  const sketch = sketchOf(set, parameters.numPermutations);
  const sample = sampleOf(normalised, parameters.fuzzySampleSize);
  const { words, counts } = hashTokens(tokensOf(sample));
  const tokens = new Uint32Array(counts.length / 2 + words.length);
  new Uint16Array(tokens.buffer).set(counts);
  tokens.set(words, counts.length / 2);
  return {
    hash,
    bands: bandKeys(sketch, parameters.numBands),
    sketch: lowBytes(sketch),
    tokens,
    set,
    sample: compressText(wordSorted(sample), LEVEL),
  };
}
