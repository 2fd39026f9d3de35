/** Takes raw texts to what a sync stores of them: identity, words, compressed text. */
import { stopped } from "../control.ts";
import type { TaskControl } from "../control.ts";
import { pack } from "../packed.ts";
import type { Packed } from "../packed.ts";
import { compressText } from "../text/compress.ts";
import { identify } from "../text/signature.ts";

/** Raw texts, as extracted. */
export interface DigestInput {
  readonly texts: readonly string[];
}

/** Per text, in input order. */
export interface DigestOutput {
  /** 32 bytes each: SHA-256 of the normalised text. */
  readonly hashes: Uint8Array<ArrayBuffer>;
  /** Words of the normalised text. */
  readonly wordCounts: Uint32Array<ArrayBuffer>;
  /** The whole text in UTF-8 under zstd; read an item by `itemOf`. */
  readonly zstd: Packed;
}

const LEVEL = 3;

/** Digests a batch. Throws `cancelled`. */
export function run(input: DigestInput, control: TaskControl): DigestOutput {
  const hashes = new Uint8Array(input.texts.length * 32);
  const wordCounts = new Uint32Array(input.texts.length);
  const texts: Uint8Array[] = [];
  for (const [i, text] of input.texts.entries()) {
    if (control.cancelled()) throw stopped();
    const { hash, words } = identify(text);
    hashes.set(hash, i * 32);
    wordCounts[i] = words;
    texts.push(compressText(text, LEVEL));
    control.step(1);
  }
  const zstd = pack(texts);
  for (const buffer of [hashes.buffer, wordCounts.buffer, zstd.bytes.buffer, zstd.ends.buffer])
    control.transfer(buffer);
  return { hashes, wordCounts, zstd };
}
