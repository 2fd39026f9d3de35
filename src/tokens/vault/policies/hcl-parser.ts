/**
 * Reads a policy's words as a tree whose every part knows its place. Both spellings, HCL and JSON,
 * give the same tree.
 */
import type { StewardError } from "../../../kernel/base/errors.ts";
import { rawNumber } from "../../logical/json.ts";
import { createLexer, policyError, type Lexer, type Word } from "./hcl-lexer.ts";

/** The longest text of a policy, in UTF-16 units. */
export const MAX_POLICY_LENGTH = 256 * 1024;
/** Objects and lists inside each other. */
const MAX_DEPTH = 16;

export interface HclNode {
  readonly at: number;
  /** Text, number (raw when a double would round it), boolean, null, list or object. */
  readonly value:
    | string
    | number
    | boolean
    | null
    | { readonly rawJSON: string }
    | readonly HclNode[]
    | HclObject;
}

/**
 * Items in the order of the text. Names may come twice: what that means is the reader's decision.
 */
export interface HclObject {
  readonly items: readonly HclItem[];
}

/** `name = value`, or `name "label" … { … }`. */
export interface HclItem {
  readonly at: number;
  readonly name: string;
  readonly labels: readonly { readonly text: string; readonly at: number }[];
  readonly value: HclNode;
}

/** A read text. */
export interface HclDocument {
  readonly json: boolean;
  readonly root: HclObject;
  error(at: number, why: string): StewardError;
}

/** Parses a whole text in one pass. Throws `invalid` with line and column. */
export function parseHcl(text: string): HclDocument {
  if (text.length > MAX_POLICY_LENGTH)
    throw policyError(
      text,
      MAX_POLICY_LENGTH,
      `a policy is at most ${MAX_POLICY_LENGTH} characters long`,
    );
  const lexer = createLexer(text);
  const parser = new Parser(lexer);
  return { json: lexer.json, root: parser.document(), error: (at, why) => lexer.error(at, why) };
}

/** Whether a node is an object. */
export function isObject(value: HclNode["value"]): value is HclObject {
  return typeof value === "object" && value !== null && "items" in value;
}

/** Whether a node is a list. */
export function isList(value: HclNode["value"]): value is readonly HclNode[] {
  return Array.isArray(value);
}

class Parser {
  readonly #lexer: Lexer;
  #word: Word;

  constructor(lexer: Lexer) {
    this.#lexer = lexer;
    this.#word = lexer.next();
  }

  document(): HclObject {
    if (!this.#lexer.json) return this.#items(0);
    this.#advance();
    const root = this.#items(1);
    this.#mark("}");
    if (this.#word.kind !== "end") throw this.#unexpected("the end of the JSON text");
    return root;
  }

  // Until `}` when nested, else until the end of the text.
  #items(depth: number): HclObject {
    const items: HclItem[] = [];
    while (depth === 0 ? this.#word.kind !== "end" : !this.#is("}")) {
      items.push(this.#item(depth));
      const comma = this.#is(",");
      if (comma) this.#advance();
      else if (this.#lexer.json && !this.#is("}")) throw this.#unexpected("a comma or }");
    }
    return { items };
  }

  #item(depth: number): HclItem {
    const { at, text: name } = this.#name("a name");
    if (this.#lexer.json) {
      this.#mark(":");
      return { at, name, labels: [], value: this.#value(depth) };
    }
    const labels: { text: string; at: number }[] = [];
    while (this.#word.kind === "string") labels.push(this.#name("a label"));
    if (labels.length === 0 && this.#is("=")) this.#advance();
    else if (!this.#is("{")) throw this.#unexpected(labels.length === 0 ? "= or {" : "{");
    return { at, name, labels, value: this.#value(depth) };
  }

  #value(depth: number): HclNode {
    const { kind, text, at } = this.#word;
    if (depth >= MAX_DEPTH)
      throw this.#lexer.error(at, `values may be nested at most ${MAX_DEPTH} levels deep`);
    if (this.#is("{")) {
      this.#advance();
      const value = this.#items(depth + 1);
      this.#mark("}");
      return { at, value };
    }
    if (this.#is("[")) return { at, value: this.#list(depth + 1) };
    const value =
      kind === "string"
        ? text
        : kind === "number"
          ? this.#number()
          : kind === "name"
            ? words.get(text)
            : undefined;
    if (value === undefined) throw this.#unexpected("a value; strings need double quotes");
    this.#advance();
    return { at, value };
  }

  #list(depth: number): readonly HclNode[] {
    const items: HclNode[] = [];
    this.#advance();
    while (!this.#is("]")) {
      items.push(this.#value(depth));
      if (this.#is(",")) this.#advance();
      else if (!this.#is("]")) throw this.#unexpected("a comma or ]");
    }
    this.#advance();
    return items;
  }

  #number(): number | { readonly rawJSON: string } {
    const { text, at } = this.#word;
    if (/^-?0[xX]/.test(text)) {
      const number = Number(text.replace("-", "")) * (text.startsWith("-") ? -1 : 1);
      if (!Number.isSafeInteger(number))
        throw this.#lexer.error(at, "this number is too large; write it in decimal");
      return number;
    }
    if (/^-?0\d/.test(text))
      throw this.#lexer.error(
        at,
        "a number begins with 0 only when it is 0; octal numbers are not supported",
      );
    return String(Number(text)) === text ? Number(text) : rawNumber(text);
  }

  #name(wanted: string): { text: string; at: number } {
    const { kind, text, at } = this.#word;
    if (kind !== "string" && (this.#lexer.json || kind !== "name")) throw this.#unexpected(wanted);
    this.#advance();
    return { text, at };
  }

  #is(mark: string): boolean {
    return this.#word.kind === "mark" && this.#word.text === mark;
  }

  #mark(mark: string): void {
    if (!this.#is(mark)) throw this.#unexpected(mark);
    this.#advance();
  }

  #advance(): void {
    this.#word = this.#lexer.next();
  }

  #unexpected(wanted: string): StewardError {
    const { kind, text, at } = this.#word;
    const found = kind === "end" ? "the end" : JSON.stringify(text.slice(0, 40));
    return this.#lexer.error(at, `found ${found}, expected ${wanted}`);
  }
}

const words: ReadonlyMap<string, boolean | null> = new Map<string, boolean | null>([
  ["true", true],
  ["false", false],
  ["null", null],
]);
