/**
 * Signs lines of JSON Lines on a worker thread. Identity and signature are those of the analysis:
 * the same digester makes them.
 */
import { readBlock, signatureAt } from "../block.ts";
import type { TaskControl } from "../control.ts";
import { linesOf, readLine } from "../extract/read-lines.ts";
import { cutText } from "../text/decode.ts";
import { createDigester } from "../text/digester.ts";
import { MAX_TEXT_UNITS } from "../text/normalise.ts";
import { readText } from "../text/read-text.ts";
import type { LeftOutLine, SignLinesInput, SignLinesOutput } from "./tasks.ts";

interface Document {
  readonly number: number;
  readonly id: string;
  /** Only when it is written. */
  readonly text: string | undefined;
}

/** Signs the lines. Throws `cancelled`. */
export function run(input: SignLinesInput, control: TaskControl): SignLinesOutput {
  const { documents, leftOut, digests } = digestLines(input, control);
  const { numPermutations } = input.parameters;
  const block = digests.block && readBlock(digests.block);
  const lines: string[] = [];
  for (const [at, { number, id, text }] of documents.entries()) {
    const words = digests.wordCounts[at] ?? 0;
    const slot = digests.slots?.[at] ?? -1;
    if (block === undefined || slot < 0 || words < input.minWords) {
      leftOut.push({ number, reason: reasonOf(words, input) });
      continue;
    }
    const { hash, bands, sketch } = signatureAt(block, slot);
    const line = {
      id,
      identity: Buffer.from(hash).toString("hex"),
      words,
      bands: Array.from(bands),
      sketch: Buffer.from(sketch.subarray(0, numPermutations)).toString("base64"),
      ...(text !== undefined && { text: normalFormOf(text) }),
    };
    lines.push(`${JSON.stringify(line)}\n`);
  }
  const bytes = new TextEncoder().encode(lines.join(""));
  control.transfer(bytes.buffer);
  leftOut.sort((a, b) => a.number - b.number);
  return { lines: bytes, documents: documents.length, leftOut };
}

function digestLines(input: SignLinesInput, control: TaskControl) {
  // TextDecoder and JSON take no shared memory.
  const bytes = Buffer.from(input.bytes);
  // What the digester makes stays on this thread.
  const digester = createDigester(input.digest, { ...control, transfer: () => undefined });
  const documents: Document[] = [];
  const leftOut: LeftOutLine[] = [];
  for (const { number, start, end } of linesOf(bytes, input.firstLine)) {
    const line = readLine(bytes.subarray(start, end), number, input.fields);
    if (line === undefined) continue;
    if ("wrong" in line) {
      leftOut.push({ number, reason: line.reason, wrong: line.wrong });
      continue;
    }
    const { id, content } = line.record;
    digester.add({ text: content, rereadable: true });
    const text = input.withText ? cutText(content, input.digest.limits.units) : undefined;
    documents.push({ number, id, text });
  }
  return { documents, leftOut, digests: digester.end() };
}

function reasonOf(words: number, { minWords, parameters }: SignLinesInput): string {
  if (words === 0) return "without text";
  return words < minWords
    ? `of fewer than ${minWords} words`
    : `of fewer than ${parameters.ngramSize} words, too few for a phrase`;
}

/**
 * The normal form, which reads like the text itself. Lower case may be longer: what would be cut
 * when it is read again stays as it is.
 */
function normalFormOf(text: string): string {
  const normalForm = Buffer.from(readText(text, 1).normalForm).toString("utf8");
  return normalForm.length <= MAX_TEXT_UNITS ? normalForm : text;
}
