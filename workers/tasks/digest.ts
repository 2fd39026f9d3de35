/** Digests texts that the caller has; `workers/extract` digests those that it reads. */
import type { TaskControl } from "../control.ts";
import { createDigester } from "../text/digester.ts";
import type { DigestedTexts, DigestRequest } from "../text/digester.ts";

/** Raw texts, as extracted. */
export interface DigestInput {
  readonly texts: readonly string[];
  /** What lies beyond each text; "" for a whole text, as when absent. */
  readonly beyond?: readonly string[];
  /** 1 for a text that can be read again; none when absent. */
  readonly rereadable?: Uint8Array;
  readonly request: DigestRequest;
}

/** Digests a batch. Throws `cancelled`. */
export function run(
  { texts, beyond, rereadable, request }: DigestInput,
  control: TaskControl,
): DigestedTexts {
  const digester = createDigester(request, control);
  for (const [i, text] of texts.entries())
    digester.add({ text, beyond: beyond?.[i], rereadable: rereadable?.[i] === 1 });
  return digester.end();
}
