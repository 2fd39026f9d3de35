/**
 * Bytes of a request to a JSON value: UTF-8, nesting and names given twice are checked in one walk over the text before
 * it is parsed, so that neither the parser nor what walks its result meets an unbounded nesting.
 */
import { type Issues, type JsonPath, MAX_ISSUES } from "./issues.ts";

/** Objects and lists inside each other, the outermost included. */
export const MAX_DEPTH = 32;

/** The value, or undefined after noting what is wrong. `bytes` is bounded by the caller. */
export function parseJson(bytes: Uint8Array, issues: Issues): { readonly value: unknown } | undefined {
  const text = decode(bytes);
  if (text === undefined) {
    issues.add([], "the body is not UTF-8 text", "syntax");
    return undefined;
  }
  const scan = scanJson(text);
  if (scan.tooDeep) {
    issues.add([], `the body is nested more than ${MAX_DEPTH} levels deep`, "too_deep", "depth");
    return undefined;
  }
  try {
    const value: unknown = JSON.parse(text);
    for (const path of scan.twice) issues.add(path, "is given twice", "duplicate_field");
    return { value };
  } catch (error) {
    const position = /position (\d+)/.exec((error as Error).message)?.[1];
    issues.add([], `the body is not valid JSON${position === undefined ? "" : ` (at character ${position})`}`, "syntax");
    return undefined;
  }
}

/** Whether a body counts as absent: nothing but white space. */
export function isBlank(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09);
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

interface Frame {
  /** Names seen so far; undefined in a list. */
  readonly names: Set<string> | undefined;
  at: string | number;
  nameNext: boolean;
}

/** What the walk found. On text that is no JSON the names mean nothing, and nobody looks at them. */
interface Scan {
  readonly tooDeep: boolean;
  readonly twice: readonly JsonPath[];
}

function scanJson(text: string): Scan {
  const frames: Frame[] = [];
  const twice: JsonPath[] = [];
  for (let at = 0; at < text.length; at++) {
    const frame = frames[frames.length - 1];
    switch (text[at]) {
      case "{":
      case "[":
        if (frames.length === MAX_DEPTH) return { tooDeep: true, twice };
        frames.push(text[at] === "{" ? { names: new Set(), at: "", nameNext: true } : { names: undefined, at: 0, nameNext: false });
        break;
      case "}":
      case "]":
        frames.pop();
        break;
      case ",":
        if (frame?.names !== undefined) frame.nameNext = true;
        else if (frame !== undefined) frame.at = Number(frame.at) + 1;
        break;
      case '"': {
        const end = endOfString(text, at);
        if (frame?.names !== undefined && frame.nameNext) enter(frame, text.slice(at, end + 1), frames, twice);
        at = end;
        break;
      }
    }
  }
  return { tooDeep: false, twice };
}

function enter(frame: Frame, quoted: string, frames: readonly Frame[], twice: JsonPath[]): void {
  frame.at = unquote(quoted);
  frame.nameNext = false;
  if (frame.names?.has(frame.at) === true && twice.length < MAX_ISSUES) twice.push(frames.map((outer) => outer.at));
  frame.names?.add(frame.at);
}

function unquote(quoted: string): string {
  if (!quoted.includes("\\")) return quoted.slice(1, -1);
  try {
    return JSON.parse(quoted) as string;
  } catch {
    return quoted;
  }
}

/** Position of the closing quote, or the text's end. */
function endOfString(text: string, from: number): number {
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === '"') return at;
  }
  return text.length;
}
