/** The task of `steward sign`. */
import type { TaskRow } from "../control.ts";
import type { LineFields } from "../extract/record.ts";
import type { SignatureParameters } from "../parameters.ts";
import type { DigestRequest } from "../text/digester.ts";

/** Whole lines of JSON Lines, and how their texts are signed. */
export interface SignLinesInput {
  /** In shared memory: a thread that dies takes nothing with it. */
  readonly bytes: Uint8Array<SharedArrayBuffer>;
  /** Number of the first line, from 1. */
  readonly firstLine: number;
  readonly fields: LineFields;
  readonly digest: DigestRequest & { readonly sign: object };
  readonly parameters: SignatureParameters;
  /** Texts with fewer words get no line. */
  readonly minWords: number;
  /** Write the normal form of each text, too. */
  readonly withText: boolean;
}

/** A line of the input that has none in the output. */
export interface LeftOutLine {
  readonly number: number;
  /** Class for counting. */
  readonly reason: string;
  /** The end of a sentence about the line; absent where the reason says it all. */
  readonly wrong?: string;
}

export interface SignLinesOutput {
  /** A line of JSON for each text, in input order. */
  readonly lines: Uint8Array<ArrayBuffer>;
  /** Lines of the input that hold a document, with or without words enough. */
  readonly documents: number;
  readonly leftOut: readonly LeftOutLine[];
}

/** Lines → lines with signatures. */
export const signLines: TaskRow<SignLinesInput, SignLinesOutput> = {
  name: "sign-lines",
  file: new URL("./sign-lines.ts", import.meta.url),
};
