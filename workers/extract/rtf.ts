/** The text of an RTF (Rich Text Format 1.9.1): what is printed, without headers and pictures. */
import { Refusal } from "./extractor.ts";
import type { Extractor } from "./extractor.ts";
import { characterSets, decodePage, pageOfCharset } from "./rtf-pages.ts";
import { formulas, HIDING, printed, symbols, UNREAD } from "./rtf-words.ts";

const MAX_DEPTH = 1_000;

/** A control word or symbol, an escaped byte, a brace, or plain text. */
const TOKEN =
  /\\([a-zA-Z]{1,32})(-?\d{1,9})? ?|\\'([0-9a-fA-F]{2})|\\([^a-zA-Z])|([{}])|([^\\{}\r\n]+)|[\r\n]+|\\/y;

interface Group {
  /** "text", or the destination that is not. */
  destination: string;
  /** How many bytes stand after `\u` for readers that do not know it. */
  fallback: number;
  font: number;
  /** Those of `HIDING` that are in force. */
  hiding: readonly string[];
  /** Written at its end. */
  closing: string;
}

/** A field of a form; that of a text shows its value itself. */
interface FormField {
  /** 1 is a check box, 2 a list. */
  type: number;
  result: number;
  default: number;
  readonly entries: string[];
}

/** The result of a field that has its default. */
const UNCHANGED = 25;
const MAX_ENTRIES = 1_000;

/** Reads one file; `read` runs once. */
class RtfReader {
  readonly #source: string;
  readonly #groups: Group[] = [
    { destination: "text", fallback: 1, font: -1, hiding: [], closing: "" },
  ];
  readonly #fontPages = new Map<number, number>();
  #page = 1252;
  #defaultFont = -1;
  #field: FormField | undefined;
  /** Bytes of the text that are not decoded yet, as Latin-1. */
  #bytes = "";
  #text = "";
  #title = "";
  /** What the next bytes stand for is written already. */
  #skip = 0;
  /** The group began with `\*`: its destination may be ignored. */
  #optional = false;

  constructor(source: string) {
    this.#source = source;
  }

  /** The text until the end of the file or at least `units`. */
  read(units: number): { readonly text: string; readonly title: string; readonly whole: boolean } {
    const source = this.#source;
    for (TOKEN.lastIndex = 0; TOKEN.lastIndex < source.length;) {
      if (this.#text.length > units) return { text: this.#text, title: this.#title, whole: false };
      const at = TOKEN.lastIndex;
      const token = TOKEN.exec(source);
      if (token === null) throw broken();
      const [, word, parameter, escaped, symbol, brace, plain] = token;
      if (word === "bin") TOKEN.lastIndex += Math.max(0, Number(parameter ?? 0));
      else if (word !== undefined) this.#control(word, parameter);
      else if (escaped !== undefined) this.#add(String.fromCharCode(parseInt(escaped, 16)));
      else if (symbol !== undefined) this.#symbol(symbol);
      else if (brace !== undefined) this.#brace(brace);
      else if (plain !== undefined) this.#add(plain);
      if (TOKEN.lastIndex <= at) break;
    }
    this.#flush();
    return { text: this.#text, title: this.#title.trim(), whole: true };
  }

  get #group(): Group {
    return this.#groups.at(-1) as Group;
  }

  #brace(brace: string): void {
    this.#flush();
    this.#skip = 0;
    if (brace === "{") {
      if (this.#groups.length === MAX_DEPTH) throw broken();
      this.#groups.push({ ...this.#group, closing: "" });
    } else if (this.#groups.length > 1) {
      this.#write(this.#group.closing);
      const { destination } = this.#groups.pop() as Group;
      // The end of what is printed of a group that is not read.
      if (destination === "text" && this.#group.destination !== "text") this.#text += "\n";
    }
    this.#optional = false;
  }

  #control(word: string, parameter: string | undefined): void {
    const number = parameter === undefined ? undefined : Number(parameter);
    if (word === "u" && number !== undefined) {
      this.#flush();
      this.#write(String.fromCharCode(number & 0xffff));
      this.#skip = this.#group.fallback;
    } else if (
      !this.#isFallback(symbols[word]) &&
      !this.#setPage(word, number) &&
      !this.#setField(word, number) &&
      !this.#setDestination(word) &&
      !this.#hide(word, number) &&
      Object.hasOwn(symbols, word)
    ) {
      this.#flush();
      this.#write(symbols[word] ?? "");
    }
    this.#optional = false;
  }

  /**
   * Whether a word or symbol stands for a character that is written already: each counts as one.
   * Breaks are written all the same, since many files have nothing for older readers.
   */
  #isFallback(written = ""): boolean {
    if (this.#skip === 0) return false;
    this.#flush();
    this.#skip -= 1;
    return written !== "" && !/[\n\t]/.test(written);
  }

  /** Code page and font of the bytes that follow. */
  #setPage(word: string, number: number | undefined): boolean {
    const group = this.#group;
    const page = characterSets.get(word);
    if (page !== undefined) this.#page = page;
    else if (word === "uc") group.fallback = Math.min(100, Math.max(0, number ?? 1));
    else if (word === "ansicpg") this.#page = number ?? 1252;
    else if ((word === "f" || word === "deff") && number !== undefined) {
      this.#flush();
      group.font = number;
      if (word === "deff") this.#defaultFont = number;
    } else if (word === "fcharset" && number !== undefined)
      this.#fontPages.set(group.font, pageOfCharset(number) ?? this.#page);
    else if (word === "cpg" && number !== undefined && group.destination === "fonttbl")
      this.#fontPages.set(group.font, number);
    else return false;
    return true;
  }

  /** Whether the group is read, and as what. */
  #setDestination(word: string): boolean {
    const group = this.#group;
    const formula = formulas.get(word);
    if (printed.get(word) === group.destination) {
      this.#flush();
      group.destination = "text";
      this.#write("\n");
    } else if (word === "title" && group.destination === "info") group.destination = "title";
    else if (UNREAD.has(word) && group.destination === "text") group.destination = word;
    else if (formula !== undefined && group.destination === "text") {
      this.#flush();
      this.#write(formula[0]);
      group.closing = formula[1];
    } else if (
      this.#optional &&
      group.destination === "text" &&
      // Known words are read although they may be ignored.
      !Object.hasOwn(symbols, word)
    )
      group.destination = word;
    else return false;
    return true;
  }

  #hide(word: string, number: number | undefined): boolean {
    const group = this.#group;
    if (!HIDING.has(word) && word !== "plain") return false;
    this.#flush();
    const others = word === "plain" ? [] : group.hiding.filter((each) => each !== word);
    group.hiding = word === "plain" || number === 0 ? others : [...others, word];
    if (word === "plain") group.font = this.#defaultFont;
    return true;
  }

  /** The answer of a form, which is written where its result would be. */
  #setField(word: string, number = 0): boolean {
    const field = this.#field;
    if (word === "formfield") this.#field = { type: 0, result: UNCHANGED, default: 0, entries: [] };
    else if (word === "fldrslt" && field !== undefined) {
      this.#flush();
      const choice = field.result === UNCHANGED ? field.default : field.result;
      if (field.type === 1) this.#write(choice === 0 ? "\u2610" : "\u2612");
      else if (field.type === 2) this.#write(field.entries[choice] ?? "");
      this.#field = undefined;
    } else if (field === undefined) return false;
    else if (word === "fftype") field.type = number;
    else if (word === "ffres") field.result = number;
    else if (word === "ffdefres") field.default = number;
    else if (word === "ffl" && field.entries.length < MAX_ENTRIES) {
      this.#group.destination = "ffl";
      field.entries.push("");
    } else return false;
    return word !== "formfield";
  }

  #symbol(symbol: string): void {
    if (symbol === "*") this.#optional = true;
    // A backslash may be the second byte of a character.
    else if (symbol === "{" || symbol === "}" || symbol === "\\") this.#add(symbol);
    else if (!this.#isFallback(symbols[symbol]) && Object.hasOwn(symbols, symbol)) {
      this.#flush();
      this.#write(symbols[symbol] ?? "");
    }
  }

  #add(bytes: string): void {
    const skipped = Math.min(this.#skip, bytes.length);
    this.#skip -= skipped;
    this.#bytes += bytes.slice(skipped);
  }

  #flush(): void {
    if (this.#bytes === "") return;
    const bytes = this.#bytes;
    this.#bytes = "";
    this.#write(decodePage(bytes, this.#fontPages.get(this.#group.font) ?? this.#page));
  }

  #write(text: string): void {
    const { destination, hiding } = this.#group;
    // Breaks stay, so that words around what is hidden are not joined.
    const isHidden = hiding.length > 0 && text.trim() !== "";
    if (destination === "text" && !isHidden) this.#text += text;
    else if (destination === "title" && this.#title.length < 1_000) this.#title += text;
    else if (destination === "ffl" && this.#field !== undefined)
      this.#field.entries.push((this.#field.entries.pop() ?? "") + text);
  }
}

/** An RTF file. */
export const extract: Extractor = (bytes, { units }) => {
  const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
  const { text, title, whole } = new RtfReader(source).read(units);
  return { text: text.toWellFormed(), truncated: !whole, title: title.toWellFormed() };
};

function broken(): Refusal {
  return new Refusal("broken RTF", "cannot be read as RTF");
}
