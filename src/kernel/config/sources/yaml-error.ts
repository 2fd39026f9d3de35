/**
 * Describes YAML syntax errors with location and excerpt, without values: any of them may be
 * secret.
 */
import { isScalar, visit, type Document, type LineCounter, type YAMLParseError } from "yaml";

const MAX_SHOWN = 60;

/** Messages for common errors; others use the parser's name. */
const MEANINGS: Readonly<Record<string, string>> = {
  BAD_INDENT: "this is indented unlike the lines it belongs to",
  DUPLICATE_KEY: "this key occurs twice",
  TAB_AS_INDENT: "a tab is used where only spaces are allowed",
  MULTILINE_IMPLICIT_KEY: "a key must be on one line, and a colon must be followed by a space",
  BLOCK_AS_IMPLICIT_KEY: "a second colon in one line: put the value in quotes",
};

/** The file that contains the error. */
export interface YamlSource {
  readonly text: string;
  readonly document: Document;
  readonly counter: LineCounter;
  /** Names of keys. */
  readonly words: ReadonlySet<string>;
}

/** The message with column and excerpt, and the line, both from 1. */
export function locateYamlError(
  error: YAMLParseError,
  source: YamlSource,
): { readonly message: string; readonly line: number } {
  const open = error.code === "MISSING_CHAR" ? openQuote(source.document, error.pos[0]) : undefined;
  const { line, col } = source.counter.linePos(open ?? error.pos[0]);
  const atEnd = error.pos[0] >= source.text.trimEnd().length;
  const meaning =
    open !== undefined
      ? "this quote is not closed"
      : atEnd
        ? "the text ends before a bracket is closed"
        : meaningOf(error);
  const excerpt = excerptOf(source.text.split(/\r?\n/)[line - 1] ?? "", source.words);
  return {
    message: `${meaning}, column ${col}${excerpt === "" ? "" : ` of \`${excerpt}\``}`,
    line,
  };
}

/** An unclosed quote is detected at the end of the text; the message points to where it starts. */
function openQuote(document: Document, end: number): number | undefined {
  let begin: number | undefined;
  visit(document, {
    Scalar(_key, node) {
      const quoted =
        isScalar(node) && (node.type === "QUOTE_DOUBLE" || node.type === "QUOTE_SINGLE");
      if (quoted && node.range != null && node.range[0] <= end && node.range[2] >= end)
        begin = node.range[0];
    },
  });
  return begin;
}

function meaningOf({ code }: YAMLParseError): string {
  return MEANINGS[code] ?? code.toLowerCase().replaceAll("_", " ");
}

/** The line with `…` for everything but known key names and punctuation. */
function excerptOf(line: string, words: ReadonlySet<string>): string {
  const shown = line.replaceAll(/[^\s:,"'[\]{}]+/g, (word, at: number) =>
    (words.has(word) && /^\s*:/.test(line.slice(at + word.length))) || word === "-" ? word : "…",
  );
  const short = shown.trim().replaceAll(/…(?:[\s:,]*…)+/g, "…");
  return short.length > MAX_SHOWN ? `${short.slice(0, MAX_SHOWN)}…` : short;
}
