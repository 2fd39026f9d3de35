/** Explains pairs of stored texts. */
import type { TaskControl } from "../control.ts";
import { stopped } from "../control.ts";
import { explain } from "../score/explain.ts";
import type { TokenSets } from "../score/token-sets.ts";
import { tokensOf } from "../score/tokens.ts";
import { storedText } from "../text/compress.ts";
import { sampleOfText } from "../text/sample.ts";
import type { ExplainInput } from "./tasks.ts";

/** In input order. Throws `cancelled`. */
export function run(
  { pairs, ngramSize, sampleUnits }: ExplainInput,
  control: TaskControl,
): string[][] {
  const tokens = (text: Uint8Array): TokenSets =>
    tokensOf(sampleOfText(storedText(text), sampleUnits));
  return pairs.map(({ a, b, jaccard, fuzzy }) => {
    if (control.cancelled()) throw stopped();
    control.step(1);
    return explain(tokens(a), tokens(b), { jaccard, fuzzy, sameText: false, ngramSize });
  });
}
