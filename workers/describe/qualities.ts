/** Computes the quality of stored texts, once normalised: equal texts have the same one. */
import type { TaskControl } from "../control.ts";
import { stopped } from "../control.ts";
import { decodeStored } from "../text/compress.ts";
import { normalise } from "../text/normalise.ts";
import { textQuality } from "./text-quality.ts";

/** In input order. Throws `cancelled`. */
export function run(texts: readonly Uint8Array[], control: TaskControl): number[] {
  return texts.map((text) => {
    if (control.cancelled()) throw stopped();
    control.step(1);
    return textQuality(normalise(decodeStored(text)));
  });
}
