/**
 * The identity of a text and its sketch: a fast similarity sketch (Dahlgaard, Knudsen and Thorup,
 * FOCS 2017), cut into bands whose keys meet where texts are alike. The share of equal values of two
 * sketches estimates the Jaccard similarity of their shingles, with less variance than as many
 * independent minima. Made in one pass by `workers/wasm/assembly`.
 */
import { hash } from "node:crypto";
import { kernel } from "../wasm/kernel.ts";
import { readText } from "./read-text.ts";
import type { ReadText, TextInput } from "./read-text.ts";

/** The shape of a sketch. */
export interface SketchShape {
  /** Values of a sketch, 16 to 1,024. */
  readonly numPermutations: number;
  /** At most as many as values. */
  readonly numBands: number;
  /** Words of a shingle. */
  readonly ngramSize: number;
}

/** What two equal texts have in common. */
export interface TextIdentity {
  /** SHA-256 of the normal form in UTF-8, 32 bytes. */
  readonly hash: Uint8Array;
  /** Words of the normal form. */
  readonly words: number;
}

/** What two texts that are alike have in common. */
export interface TextSignature {
  /** Windows of `ngramSize` words, repeats included; 0 of a text too short: it has no sketch. */
  readonly shingles: number;
  /** One key per band of floor(values / bands) values; all 0 without shingles. */
  readonly bands: Uint32Array<ArrayBuffer>;
  /** The low byte of every value (b-bit minwise hashing, b = 8); all 0 without shingles. */
  readonly sketch: Uint8Array<ArrayBuffer>;
}

/** The identity and the number of words of a text. */
export function identify(text: TextInput): TextIdentity {
  const { normalForm, words } = readText(text, 1);
  return { hash: hash("sha256", normalForm, "buffer"), words };
}

/** Signs a text. */
export function signText(text: TextInput, shape: SketchShape): TextSignature {
  return signRead(readText(text, shape.ngramSize), shape);
}

/** Both in one reading of the text. */
export function identifyAndSign(
  text: TextInput,
  shape: SketchShape,
): TextIdentity & { readonly signature: TextSignature } {
  const read = readText(text, shape.ngramSize);
  const identity = hash("sha256", read.normalForm, "buffer");
  return { hash: identity, words: read.words, signature: signRead(read, shape) };
}

/** Signs the text that the module has read last. */
function signRead({ shingles }: ReadText, shape: SketchShape): TextSignature {
  const { numPermutations, numBands } = shape;
  const signature = {
    shingles,
    bands: new Uint32Array(numBands),
    sketch: new Uint8Array(numPermutations),
  };
  if (shingles === 0) return signature;
  const { functions, bytes, words, at } = kernel();
  functions.sketch(shingles, numPermutations, numBands);
  signature.bands.set(words.subarray(at.bands >> 2, (at.bands >> 2) + numBands));
  signature.sketch.set(bytes.subarray(at.lowBytes, at.lowBytes + numPermutations));
  return signature;
}
