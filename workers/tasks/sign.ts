/** Takes stored texts to a block of signatures. */
import { writeBlock } from "../block.ts";
import type { Signature } from "../block.ts";
import { stopped } from "../control.ts";
import type { TaskControl } from "../control.ts";
import { itemOf } from "../packed.ts";
import type { Packed } from "../packed.ts";
import type { SignatureParameters } from "../parameters.ts";
import { hashTokens } from "../score/discriminative.ts";
import { tokensOf } from "../score/tokens.ts";
import { compressText, decompressText } from "../text/compress.ts";
import { normalise, sampleOf } from "../text/normalise.ts";
import { shingleSet } from "../text/shingles.ts";
import { identify, signText } from "../text/signature.ts";

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
    if (bytes.length > 0) {
      const signature = signatureOf(decompressText(bytes), hash, input.parameters);
      if (signature) signatures.push(signature);
    }
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

/** The signature of a text, or nothing when it has not the hash that is expected. */
function signatureOf(
  text: string,
  hash: Uint8Array,
  parameters: SignatureParameters,
): Signature | undefined {
  if (Buffer.compare(identify(text).hash, hash) !== 0) return undefined;
  const signed = signText(text, parameters);
  const sample = sampleOf(normalise(text), parameters.fuzzySampleSize);
  const { words, counts } = hashTokens(tokensOf(sample));
  const tokens = new Uint32Array(counts.length / 2 + words.length);
  new Uint16Array(tokens.buffer).set(counts);
  tokens.set(words, counts.length / 2);
  return {
    hash,
    bands: signed.bands,
    sketch: signed.sketch,
    tokens,
    set: shingleSet(text, parameters.ngramSize),
    sample: compressText(sample, LEVEL),
  };
}
