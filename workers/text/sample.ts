/** The sample of a text: the head of its normal form, which is what is looked at closely. */
import { sampleOf } from "./normalise.ts";
import { readText } from "./read-text.ts";
import type { ReadText, TextInput } from "./read-text.ts";

/** UTF-8 takes at most this much a UTF-16 unit. */
const MAX_UNIT_BYTES = 3;

/** A sample in UTF-8 with room to spare, so that it can be decoded later. */
export interface SampleBytes {
  readonly bytes: Buffer;
  readonly units: number;
}

/** The bytes of the sample of a text that was just read; a copy. */
export function sampleBytes({ normalForm }: ReadText, units: number): SampleBytes {
  return { bytes: Buffer.from(normalForm.subarray(0, units * MAX_UNIT_BYTES)), units };
}

/** The sample itself: as many UTF-16 units, or fewer of a shorter text. */
export function decodeSample({ bytes, units }: SampleBytes): string {
  return sampleOf(bytes.toString("utf8"), units);
}

/** The sample of a text: equal to the head of its normal form. */
export function sampleOfText(text: TextInput, units: number): string {
  return decodeSample(sampleBytes(readText(text, 1), units));
}
