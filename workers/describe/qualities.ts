/** Computes the quality of stored texts, once normalised: equal texts have the same one. */
import type { TaskControl } from "../control.ts";
import { stopped } from "../control.ts";
import { storedText } from "../text/compress.ts";
import { sampleOfText } from "../text/sample.ts";
import { QUALITY_UNITS, textQuality } from "./text-quality.ts";

/** In input order. Throws `cancelled`. */
export function run(texts: readonly Uint8Array[], control: TaskControl): number[] {
  return texts.map((text) => {
    if (control.cancelled()) throw stopped();
    control.step(1);
    return textQuality(sampleOfText(storedText(text), QUALITY_UNITS));
  });
}
