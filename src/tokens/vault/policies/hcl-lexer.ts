/**
 * Cuts a policy's text into words: the part of HashiCorp's configuration language (version 1) that
 * policies use, and JSON.
 */
import { StewardError } from "../../../kernel/base/errors.ts";

/** `text` is decoded. */
export interface Word {
  /** `mark` is one of `{ } [ ] = : ,`. */
  readonly kind: "string" | "name" | "number" | "mark" | "end";
  readonly text: string;
  /** Where it begins, in UTF-16 units. */
  readonly at: number;
}

/** Gives words one by one; after the last one, `end` for ever. */
export interface Lexer {
  readonly json: boolean;
  next(): Word;
  /** An error at a place of the text, to be thrown. */
  error(at: number, why: string): StewardError;
}

const BLANK = /(?:[ \t\r\n\uFEFF]+|#[^\n]*|\/\/[^\n]*)*/y;
const NAME = /[\p{L}_][\p{L}\p{Nd}_.-]*/uy;
const NUMBER = /-?(?:0[xX][0-9a-fA-F]+|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)/y;
const MARK = /[{}[\]=:,]/y;
const STRING_END = /[^"\\\n]*/y;
const HEREDOC = /<<(-?)([\p{L}\p{Nd}_]+)\r?\n/uy;
const ESCAPE =
  /\\(?:(["\\/abfnrtv])|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{3}))/y;
const SINGLE: Readonly<Record<string, string>> = {
  '"': '"',
  "\\": "\\",
  "/": "/",
  a: "\x07",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
};

/**
 * A lexer over a whole text. A text whose first sign is `{` is JSON. Words throw `invalid` with
 * line and column.
 */
export function createLexer(source: string): Lexer {
  return new TextLexer(source);
}

/** An error at a place of a policy's text. */
export function policyError(source: string, at: number, why: string): StewardError {
  const before = source.slice(0, at);
  const line = before.split("\n").length;
  const column = at - before.lastIndexOf("\n");
  return new StewardError(
    "invalid",
    `failed to parse policy: line ${line}, column ${column}: ${why}`,
    { field: "policy", rule: "policy", remedy: "correct the policy at this position" },
  );
}

class TextLexer implements Lexer {
  readonly json: boolean;
  readonly #source: string;
  #at = 0;

  constructor(source: string) {
    this.#source = source;
    this.#skipBlanks();
    this.json = source[this.#at] === "{";
  }

  next(): Word {
    this.#skipBlanks();
    const at = this.#at;
    if (at >= this.#source.length) return { kind: "end", text: "", at };
    const mark = this.#take(MARK);
    if (mark !== undefined) return { kind: "mark", text: mark[0], at };
    if (this.#source[at] === '"') return { kind: "string", text: this.#string(), at };
    const number = this.#take(NUMBER);
    if (number !== undefined) return { kind: "number", text: number[0], at };
    const name = this.#take(NAME);
    if (name !== undefined) return { kind: "name", text: name[0], at };
    const heredoc = this.json ? undefined : this.#take(HEREDOC);
    if (heredoc !== undefined)
      return { kind: "string", text: this.#heredoc(at, heredoc[2] ?? "", heredoc[1] === "-"), at };
    throw this.error(
      at,
      `${JSON.stringify(String.fromCodePoint(this.#source.codePointAt(at) ?? 0))} is not allowed at this position of a policy`,
    );
  }

  error(at: number, why: string): StewardError {
    return policyError(this.#source, at, why);
  }

  #take(form: RegExp): RegExpExecArray | undefined {
    form.lastIndex = this.#at;
    const found = form.exec(this.#source);
    if (found === null) return undefined;
    this.#at = form.lastIndex;
    return found;
  }

  #skipBlanks(): void {
    for (;;) {
      this.#take(BLANK);
      if (!this.#source.startsWith("/*", this.#at)) return;
      const end = this.#source.indexOf("*/", this.#at + 2);
      if (end === -1) throw this.error(this.#at, "this comment is not closed");
      this.#at = end + 2;
    }
  }

  #string(): string {
    const from = this.#at;
    const parts: string[] = [];
    this.#at += 1;
    for (;;) {
      parts.push(this.#take(STRING_END)?.[0] ?? "");
      const sign = this.#source[this.#at];
      if (sign === '"') {
        this.#at += 1;
        return this.#wellFormed(from, parts.join(""));
      }
      if (sign !== "\\") throw this.error(from, "this string is not closed on its line");
      parts.push(this.#escape());
    }
  }

  #escape(): string {
    const at = this.#at;
    const found = this.#take(ESCAPE);
    if (found === undefined)
      throw this.error(at, "this escape is unknown; a backslash itself is written as two");
    const [, single, byte, unit, point, octal] = found;
    if (single !== undefined) return SINGLE[single] ?? single;
    const code =
      octal === undefined
        ? Number.parseInt(byte ?? unit ?? point ?? "", 16)
        : Number.parseInt(octal, 8);
    if (code > 0x10_ffff) throw this.error(at, "this escape is not a Unicode character");
    return unit === undefined ? String.fromCodePoint(code) : String.fromCharCode(code);
  }

  #heredoc(at: number, name: string, indented: boolean): string {
    const lines: string[] = [];
    while (this.#at < this.#source.length) {
      const end = this.#source.indexOf("\n", this.#at);
      const line = this.#source.slice(this.#at, end === -1 ? this.#source.length : end);
      this.#at = end === -1 ? this.#source.length : end + 1;
      if (line.trim() === name)
        return this.#wellFormed(
          at,
          (indented ? withoutIndent(lines) : lines).map((one) => `${one}\n`).join(""),
        );
      lines.push(line);
    }
    throw this.error(at, `this text is not closed: a line with only ${name} is missing`);
  }

  #wellFormed(at: number, text: string): string {
    if (!text.isWellFormed()) throw this.error(at, "this string contains half of a surrogate pair");
    return text;
  }
}

function withoutIndent(lines: readonly string[]): readonly string[] {
  const indentOf = (line: string): number => line.length - line.trimStart().length;
  const least = lines.reduce(
    (least, line) => (line.trim() === "" ? least : Math.min(least, indentOf(line))),
    Number.POSITIVE_INFINITY,
  );
  return lines.map((line) => line.slice(Math.min(least, indentOf(line))));
}
