/** Computes the text quality of stored texts. */
import type { TaskControl } from "../control.ts";
import { stopped } from "../control.ts";
import { decompressText } from "../text/compress.ts";
import { textQuality } from "./text-quality.ts";

/** In input order. Throws `cancelled`. */
export function run(texts: readonly Uint8Array[], control: TaskControl): number[] {
  return texts.map((text) => {
    if (control.cancelled()) throw stopped();
    control.step(1);
    return textQuality(decompressText(text));
  });
}
