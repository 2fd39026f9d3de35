/** Reads texts into the WebAssembly module, which holds one at a time. */
import { kernel } from "../wasm/kernel.ts";
import { cutText } from "./normalise.ts";

/** A text as a string, or the UTF-8 of one without lone surrogates. */
export type TextInput = string | Uint8Array;

/** What the module read last. */
export interface ReadText {
  /** A view that the next call overwrites. */
  readonly normalForm: Uint8Array;
  readonly words: number;
  /** Windows of words, repeats included; their hashes lie in the module's memory. */
  readonly shingles: number;
}

/** Reads a text: normal form, words, and hashes of all windows of `ngramSize` words. */
export function readText(text: TextInput, ngramSize: number): ReadText {
  const { functions, bytes, words, at } = kernel();
  const cut = cutText(text);
  if (!functions.read(load(cut), ngramSize, false)) {
    const lower = typeof cut === "string" ? cut.toWellFormed() : Buffer.from(cut).toString("utf8");
    functions.read(load(lower.toLowerCase()), ngramSize, true);
  }
  const result = at.result >> 2;
  const start = words[result] ?? 0;
  return {
    normalForm: bytes.subarray(start, start + (words[result + 1] ?? 0)),
    words: words[result + 2] ?? 0,
    shingles: words[result + 3] ?? 0,
  };
}

const encoder = new TextEncoder();

/** Copies a text into the module's memory; its bytes. */
function load(text: TextInput): number {
  const { bytes, at } = kernel();
  if (typeof text === "string") return encoder.encodeInto(text, bytes.subarray(at.text)).written;
  bytes.set(text, at.text);
  return text.length;
}
