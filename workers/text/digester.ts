/** Digests texts one by one, for the tasks that have them: identity, words, what is stored, signature. */
import { createHash, hash } from "node:crypto";
import { writeBlock } from "../block.ts";
import type { Signature } from "../block.ts";
import { stopped } from "../control.ts";
import type { TaskControl } from "../control.ts";
import { pack } from "../packed.ts";
import type { Packed } from "../packed.ts";
import type { SignatureParameters } from "../parameters.ts";
import { compressText } from "./compress.ts";
import { cutText } from "./decode.ts";
import { identify, identifyAndSign } from "./signature.ts";

/** How texts are digested. */
export interface DigestRequest {
  /** What is kept of a text: UTF-16 units, and bytes under zstd. */
  readonly limits: { readonly units: number; readonly bytes: number };
  /**
   * Sign the texts, too (those of at least `ngramSize` words), and do not compress those that can
   * be read again.
   */
  readonly sign?: { readonly parameters: SignatureParameters; readonly fingerprint: Uint8Array };
}

/** A text to digest. */
export interface TextToDigest {
  readonly text: string;
  /** What lies beyond the text and belongs to its identity; absent for a whole text. */
  readonly beyond?: string | undefined;
  /** It can be read again where it came from. */
  readonly rereadable: boolean;
}

/** Digests in the order of their texts. */
export interface DigestedTexts {
  /** 32 bytes each: SHA-256 of the normalised text, and of what lies beyond it. */
  readonly hashes: Uint8Array<ArrayBuffer>;
  /** Words of the normalised text. */
  readonly wordCounts: Uint32Array<ArrayBuffer>;
  /** The text in UTF-8 under zstd, or nothing where it can be read again; read by `itemOf`. */
  readonly zstd: Packed;
  /** UTF-16 units that were kept of a text that was cut; 0 for a whole one. */
  readonly keptUnits: Uint32Array<ArrayBuffer>;
  /** A block of signatures, when they were wanted. */
  readonly block?: ArrayBuffer;
  /** Where the signature of each text stands in the block; -1 for a text that has none. */
  readonly slots?: Int32Array<ArrayBuffer>;
}

/** Takes texts until `end`. */
export interface Digester {
  /** Throws `cancelled`. */
  add(text: TextToDigest): void;
  /** Everything, its buffers marked to be moved. */
  end(): DigestedTexts;
}

const LEVEL = 3;
const NOTHING = new Uint8Array(0);

/** A digester for one task. */
export function createDigester(request: DigestRequest, control: TaskControl): Digester {
  const hashes: Uint8Array[] = [];
  const wordCounts: number[] = [];
  const keptUnits: number[] = [];
  const texts: Uint8Array[] = [];
  const signatures: Signature[] = [];
  const slots: number[] = [];
  return {
    add(input) {
      if (control.cancelled()) throw stopped();
      const { hash: identity, words, stored, kept, signature } = digest(input, request);
      hashes.push(identity);
      wordCounts.push(words);
      keptUnits.push(kept);
      texts.push(stored);
      slots.push(signature ? signatures.push(signature) - 1 : -1);
      control.step(1);
    },
    end() {
      const digested = {
        hashes: pack(hashes).bytes,
        wordCounts: Uint32Array.from(wordCounts),
        keptUnits: Uint32Array.from(keptUnits),
        zstd: pack(texts),
      };
      for (const { buffer } of [
        digested.hashes,
        digested.wordCounts,
        digested.keptUnits,
        digested.zstd.bytes,
        digested.zstd.ends,
      ])
        control.transfer(buffer);
      if (!request.sign) return digested;
      const { fingerprint, parameters } = request.sign;
      const shape = { sketchSize: parameters.numPermutations, numBands: parameters.numBands };
      const block = writeBlock(fingerprint, shape, signatures);
      const signed = { block, slots: Int32Array.from(slots) };
      control.transfer(signed.block);
      control.transfer(signed.slots.buffer);
      return { ...digested, ...signed };
    },
  };
}

interface Digested {
  readonly hash: Uint8Array;
  readonly words: number;
  readonly stored: Uint8Array;
  readonly kept: number;
  readonly signature: Signature | undefined;
}

function digest({ text, beyond, rereadable }: TextToDigest, request: DigestRequest): Digested {
  const { limits, sign } = request;
  const kept = cutText(text, limits.units);
  const rest =
    kept.length < text.length ? (beyond ?? hash("sha256", text.slice(limits.units))) : beyond;
  const read = sign
    ? identifyAndSign(kept, sign.parameters)
    : { ...identify(kept), signature: undefined };
  const identity = wholeIdentity(read.hash, rest ?? "");
  const signed =
    read.signature && read.signature.shingles > 0
      ? { hash: identity, ...read.signature }
      : undefined;
  if (sign && rereadable && kept === text)
    return { hash: identity, words: read.words, stored: NOTHING, kept: 0, signature: signed };
  const stored = fit(kept, limits.bytes);
  return {
    hash: identity,
    words: stored.text === kept ? read.words : identify(stored.text).words,
    stored: stored.zstd,
    kept: stored.text.length < text.length ? stored.text.length : 0,
    signature: signed,
  };
}

/** Two texts that were cut at the same place are equal only if what was cut off is. */
function wholeIdentity(ofText: Uint8Array, beyond: string): Uint8Array {
  return beyond === "" ? ofText : createHash("sha256").update(ofText).update(beyond).digest();
}

// Text that hardly packs, such as random characters of three bytes, is halved until it fits.
function fit(text: string, bytes: number): { readonly text: string; readonly zstd: Uint8Array } {
  let kept = text;
  for (;;) {
    const zstd = compressText(kept, LEVEL);
    if (zstd.byteLength <= bytes) return { text: kept, zstd };
    kept = cutText(kept, Math.floor(kept.length / 2));
  }
}
