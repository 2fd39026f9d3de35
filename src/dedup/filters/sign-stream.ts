/** JSON Lines → a line of signatures for each document, in order. */
import type { LineFields } from "../../../workers/extract/record.ts";
import { signLines } from "../../../workers/filters/tasks.ts";
import type {
  LeftOutLine,
  SignLinesInput,
  SignLinesOutput,
} from "../../../workers/filters/tasks.ts";
import { StewardError, toStewardError } from "../../kernel/base/errors.ts";
import type { Pool } from "../../kernel/pool/types.ts";
import { parametersFingerprint, signatureParametersOf } from "../analysis/parameters.ts";
import type { AnalysisParameters } from "../analysis/parameters.ts";
import { digestRequest } from "../archives/digests.ts";
import { readSlices } from "../archives/jsonl.ts";
import type { JsonlOptions } from "../archives/jsonl.ts";
import { mapInOrder } from "../archives/ordered.ts";
import { failureOf } from "../archives/read-files.ts";
import { halve } from "../archives/slices.ts";
import type { Slice } from "../archives/slices.ts";

/** For the lines of a slice. */
const SLICE_MS = 60_000;

export interface SignStreamInput {
  /** Read one after the other. */
  readonly sources: readonly Pick<JsonlOptions, "name" | "source">[];
  readonly fields: LineFields;
  readonly parameters: AnalysisParameters;
  readonly withText: boolean;
  readonly pool: Pool;
  readonly signal: AbortSignal;
  /** Called for each slice, in order. */
  read(name: string, result: Omit<SignLinesOutput, "lines">): void;
}

/**
 * The lines of all sources, in pieces. Holds one slice of 512 KiB more than there are threads; a
 * line that ends its thread costs only itself. Throws `upstream` when a source cannot be read.
 */
export async function* signStream(input: SignStreamInput): AsyncGenerator<Uint8Array> {
  const { pool, parameters, signal } = input;
  const request = {
    fields: input.fields,
    digest: digestRequest({
      parameters: signatureParametersOf(parameters),
      fingerprint: parametersFingerprint(parameters),
    }) as SignLinesInput["digest"],
    parameters: signatureParametersOf(parameters),
    minWords: parameters.minWords,
    withText: input.withText,
  };
  for (const source of input.sources) {
    const slices = readSlices(pool, source, signal);
    const signed = mapInOrder(slices, pool.status().threads + 1, (slice) =>
      signSlice(slice, request, { pool, signal }),
    );
    for await (const parts of signed)
      for (const { lines, ...result } of parts) {
        input.read(source.name, result);
        if (lines.length > 0) yield lines;
      }
  }
}

async function signSlice(
  slice: Slice,
  request: Omit<SignLinesInput, "bytes" | "firstLine">,
  deps: Pick<SignStreamInput, "pool" | "signal">,
): Promise<readonly SignLinesOutput[]> {
  const { bytes, firstLine } = slice;
  const fail = (leftOut: Omit<LeftOutLine, "number">): SignLinesOutput[] => [
    { lines: new Uint8Array(0), documents: 0, leftOut: [{ number: firstLine, ...leftOut }] },
  ];
  if (bytes === undefined) return fail({ reason: "too large", wrong: "is longer than 64 MiB" });
  try {
    return [await runOne({ ...request, bytes, firstLine }, deps)];
  } catch (error) {
    deps.signal.throwIfAborted();
    const halves = halve(slice);
    const { reason, detail } = failureOf(toStewardError(error).code, SLICE_MS);
    if (halves === undefined) return fail({ reason, wrong: detail });
    return [
      ...(await signSlice(halves[0], request, deps)),
      ...(await signSlice(halves[1], request, deps)),
    ];
  }
}

async function runOne(
  input: SignLinesInput,
  { pool, signal }: Pick<SignStreamInput, "pool" | "signal">,
): Promise<SignLinesOutput> {
  const options = { signal, inFlight: 1, tries: 1, deadlineMs: SLICE_MS } as const;
  for await (const output of pool.map(signLines, [input], options)) return output;
  throw new StewardError("internal", "the task that signs lines gave nothing");
}
