/** Takes raw texts to identity, words, compressed text and, in the same pass, signature. */
import { createHash } from "node:crypto";
import { writeBlock } from "../block.ts";
import type { Signature } from "../block.ts";
import { stopped } from "../control.ts";
import type { TaskControl } from "../control.ts";
import { pack } from "../packed.ts";
import type { Packed } from "../packed.ts";
import type { SignatureParameters } from "../parameters.ts";
import { compressText } from "../text/compress.ts";
import { identify, identifyAndSign } from "../text/signature.ts";

/** Raw texts, as extracted. */
export interface DigestInput {
  readonly texts: readonly string[];
  /** What lies beyond each text and belongs to its identity; "" for a whole text, as when absent. */
  readonly beyond?: readonly string[];
  /** 1 for a text that is not to be compressed, since it can be read again; none when absent. */
  readonly rereadable?: Uint8Array;
  /** Sign the texts, too; of those with at least `ngramSize` words. */
  readonly sign?: { readonly parameters: SignatureParameters; readonly fingerprint: Uint8Array };
}

/** Per text, in input order. */
export interface DigestOutput {
  /** 32 bytes each: SHA-256 of the normalised text, and of what lies beyond it. */
  readonly hashes: Uint8Array<ArrayBuffer>;
  /** Words of the normalised text. */
  readonly wordCounts: Uint32Array<ArrayBuffer>;
  /** The whole text in UTF-8 under zstd, or nothing; read an item by `itemOf`. */
  readonly zstd: Packed;
  /** A block of signatures, when they were wanted. */
  readonly block?: ArrayBuffer;
}

const LEVEL = 3;
const NOTHING = new Uint8Array(0);

/** Digests a batch. Throws `cancelled`. */
export function run(input: DigestInput, control: TaskControl): DigestOutput {
  const hashes = new Uint8Array(input.texts.length * 32);
  const wordCounts = new Uint32Array(input.texts.length);
  const texts: Uint8Array[] = [];
  const signatures: Signature[] = [];
  for (const [i, text] of input.texts.entries()) {
    if (control.cancelled()) throw stopped();
    const {
      hash: ofText,
      words,
      signature,
    } = input.sign
      ? identifyAndSign(text, input.sign.parameters)
      : { ...identify(text), signature: undefined };
    const hash = wholeIdentity(ofText, input.beyond?.[i] ?? "");
    hashes.set(hash, i * 32);
    wordCounts[i] = words;
    if (signature && signature.shingles > 0) signatures.push({ hash, ...signature });
    texts.push(input.rereadable?.[i] === 1 ? NOTHING : compressText(text, LEVEL));
    control.step(1);
  }
  const zstd = pack(texts);
  for (const buffer of [hashes.buffer, wordCounts.buffer, zstd.bytes.buffer, zstd.ends.buffer])
    control.transfer(buffer);
  if (!input.sign) return { hashes, wordCounts, zstd };
  const { fingerprint, parameters } = input.sign;
  const shape = { sketchSize: parameters.numPermutations, numBands: parameters.numBands };
  const block = writeBlock(fingerprint, shape, signatures);
  control.transfer(block);
  return { hashes, wordCounts, zstd, block };
}

/** Two texts that were cut at the same place are equal only if what was cut off is. */
function wholeIdentity(ofText: Uint8Array, beyond: string): Uint8Array {
  return beyond === "" ? ofText : createHash("sha256").update(ofText).update(beyond).digest();
}
