/**
 * Parses a request body as JSON: UTF-8, nesting and duplicate names are checked in one pass before
 * parsing, so that neither the parser nor code that walks its result meets unbounded nesting.
 */
import { isUtf8 } from "node:buffer";
import { StewardError, type Detail } from "../base/errors.ts";
import { parseTree } from "../json/tree.ts";
import { skipWhiteSpace, whiteSpaceEnd, withoutMark } from "../json/white-space.ts";
import { type Issues, type JsonPath, MAX_ISSUES } from "./issues.ts";

/** Nesting depth, the outermost container included. */
const MAX_DEPTH = 32;

/** Values of one body, counted while reading: more than any request needs. */
const MAX_VALUES = 100_000;

/** Members of one object in a body above `AT_ONCE_BYTES`. */
const MAX_MEMBERS = 10_000;

/** Bytes of one name in a body above `AT_ONCE_BYTES`. */
const MAX_NAME_BYTES = 64 * 1024;

/** Characters of one number in a body above `AT_ONCE_BYTES`. */
const MAX_NUMBER_LENGTH = 1_024;

/** Larger bodies are parsed in slices of the event loop, others at once. */
const AT_ONCE_BYTES = 64 * 1024;

/** A value, or why there is none. */
export type JsonText =
  | { readonly value: unknown; readonly twice: readonly JsonPath[] }
  | { readonly refused: Detail };

/** Notes the problem of a text; returns its value if any. */
export function noted(text: JsonText, issues: Issues): { readonly value: unknown } | undefined {
  if ("refused" in text) {
    issues.add([], text.refused.message, text.refused.code, text.refused.rule);
    return undefined;
  }
  for (const path of text.twice) issues.add(path, "is given twice", "duplicate_field");
  return text;
}

/**
 * Parses a body without blocking the thread. Undefined when it counts as absent. Throws `too_large`
 * beyond `MAX_VALUES`.
 */
export async function readJsonBody(bytes: Uint8Array): Promise<JsonText | undefined> {
  if (bytes.length <= AT_ONCE_BYTES) return readJsonText(bytes);
  return (await skipWhiteSpace(bytes)) === bytes.length ? undefined : await readLargeText(bytes);
}

async function readLargeText(bytes: Uint8Array): Promise<JsonText> {
  if (!isUtf8(bytes)) return NOT_UTF8;
  const twice: JsonPath[] = [];
  try {
    const value = await parseTree(withoutMark(bytes), {
      limits: {
        depth: MAX_DEPTH,
        values: MAX_VALUES,
        members: MAX_MEMBERS,
        numberLength: MAX_NUMBER_LENGTH,
        nameBytes: MAX_NAME_BYTES,
      },
      twice: (path) => void (twice.length < MAX_ISSUES && twice.push(path)),
    });
    return { value, twice };
  } catch (error) {
    if (!(error instanceof StewardError)) throw error;
    if (error.rule === "depth") return TOO_DEEP;
    if (error.code === "too_large")
      throw new StewardError("too_large", error.message.replace("JSON input", "the body"), {
        rule: error.rule ?? "values",
        remedy: "send less at a time",
      });
    return brokenAt((error.facts as { readonly offset?: number } | undefined)?.offset);
  }
}

const NOT_UTF8: JsonText = {
  refused: { path: [], message: "the body is not UTF-8 text", code: "syntax" },
};
const TOO_DEEP: JsonText = {
  refused: {
    path: [],
    message: `the body is nested more than ${MAX_DEPTH} levels deep`,
    code: "too_deep",
    rule: "depth",
  },
};

function brokenAt(position: number | string | undefined): JsonText {
  return {
    refused: {
      path: [],
      message: `the body is not valid JSON${position === undefined ? "" : ` (at character ${position})`}`,
      code: "syntax",
    },
  };
}

/**
 * Parses a text at once. Undefined when it counts as absent: only white space. The caller bounds
 * `bytes`.
 */
export function readJsonText(bytes: Uint8Array): JsonText | undefined {
  if (whiteSpaceEnd(bytes) === bytes.length) return undefined;
  const text = decode(bytes);
  if (text === undefined) return NOT_UTF8;
  const scan = scanJson(text);
  if (scan.tooDeep) return TOO_DEEP;
  try {
    return { value: JSON.parse(text) as unknown, twice: scan.twice };
  } catch (error) {
    return brokenAt(/position (\d+)/.exec((error as Error).message)?.[1]);
  }
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

/** Result of the pass. For text that is not JSON the names are meaningless and unused. */
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
        frames.push(
          text[at] === "{"
            ? { names: new Set(), at: "", nameNext: true }
            : { names: undefined, at: 0, nameNext: false },
        );
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
        if (frame?.names !== undefined && frame.nameNext)
          enter(frame, text.slice(at, end + 1), frames, twice);
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
  if (frame.names?.has(frame.at) === true && twice.length < MAX_ISSUES)
    twice.push(frames.map((outer) => outer.at));
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
