/** Takes stored texts to a block of signatures. */
import { writeBlock } from "../block.ts";
import type { Signature } from "../block.ts";
import { stopped } from "../control.ts";
import type { TaskControl } from "../control.ts";
import { itemOf } from "../packed.ts";
import type { Packed } from "../packed.ts";
import type { SignatureParameters } from "../parameters.ts";
import { storedText } from "../text/compress.ts";
import { signText } from "../text/signature.ts";

/** Texts to sign. */
export interface SignInput {
  /** As stored; an empty item is a text that is gone. */
  readonly texts: Packed;
  /** 32 bytes each: the identity of the text. Whoever gives the text vouches for it. */
  readonly hashes: Uint8Array;
  readonly parameters: SignatureParameters;
  /** Names the parameters in the block, 32 bytes. */
  readonly fingerprint: Uint8Array;
}

/** A block of those texts that were there, in input order. */
export interface SignOutput {
  readonly block: ArrayBuffer;
}

/** Signs a batch. Throws `cancelled`, or `corrupt` for a text that cannot be unpacked. */
export function run(input: SignInput, control: TaskControl): SignOutput {
  const { numPermutations, numBands } = input.parameters;
  const signatures: Signature[] = [];
  for (let i = 0; i < input.texts.ends.length; i += 1) {
    if (control.cancelled()) throw stopped();
    const bytes = itemOf(input.texts, i);
    const hash = input.hashes.subarray(i * 32, (i + 1) * 32);
    const text = bytes.length === 0 ? bytes : storedText(bytes);
    if (text.length > 0) signatures.push({ hash, ...signText(text, input.parameters) });
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
