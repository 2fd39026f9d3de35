/** The text of an RTF (Rich Text Format 1.9.1): what is printed, without headers and pictures. */
import { Refusal } from "./extractor.ts";
import type { Extractor } from "./extractor.ts";

const MAX_DEPTH = 1_000;

/** A control word or symbol, an escaped byte, a brace, or plain text. */
const TOKEN =
  /\\([a-zA-Z]{1,32})(-?\d{1,9})? ?|\\'([0-9a-fA-F]{2})|\\([^a-zA-Z])|([{}])|([^\\{}\r\n]+)|[\r\n]+|\\/y;

/** Groups whose text is not printed, or not where it stands. */
const UNREAD: ReadonlySet<string> = new Set(
  "fonttbl colortbl stylesheet info pict object header headerl headerr headerf footer footerl footerr footerf fldinst listtable listoverridetable rsidtbl generator themedata colorschememapping datastore latentstyles xmlnstbl pgdsctbl filetbl revtbl nonshppict shprslt bkmkstart bkmkend xe tc mmathPr annotation atnid atnauthor".split(
    " ",
  ),
);

/** Groups that are printed although the group around them, which is named here, is not read. */
const printed: ReadonlyMap<string, string> = new Map([
  // The texts of text boxes, and of those of old versions.
  ["shptxt", "shpinst"],
  ["dptxbxtext", "do"],
  // What is shown of an embedded object.
  ["result", "object"],
]);

/** Text between `\name` and `\name0` is not printed. */
const HIDING: ReadonlySet<string> = new Set(["deleted", "v"]);

/** Text written for a control word. */
const symbols: Readonly<Record<string, string>> = {
  par: "\n",
  line: "\n",
  sect: "\n",
  page: "\n",
  row: "\n",
  column: "\n",
  // It stands close to the word that it is a note of.
  footnote: " ",
  tab: "\t",
  cell: "\t",
  nestcell: "\t",
  nestrow: "\n",
  emdash: "\u2014",
  endash: "\u2013",
  bullet: "\u2022",
  lquote: "\u2018",
  rquote: "\u2019",
  ldblquote: "\u201c",
  rdblquote: "\u201d",
  emspace: " ",
  enspace: " ",
  "~": "\u00a0",
  _: "-",
  "\\": "\\",
  "\n": "\n",
  "\r": "\n",
};

/** Encodings by the number of a code page. */
const codePages: Readonly<Record<number, string>> = {
  866: "ibm866",
  874: "windows-874",
  932: "shift_jis",
  936: "gbk",
  949: "euc-kr",
  950: "big5",
  10000: "macintosh",
  65001: "utf-8",
};

/** Code pages by the number of a font's character set. */
const charsets: Readonly<Record<number, number>> = {
  0: 1252,
  77: 10000,
  128: 932,
  129: 949,
  134: 936,
  136: 950,
  161: 1253,
  162: 1254,
  163: 1258,
  177: 1255,
  178: 1256,
  186: 1257,
  204: 1251,
  222: 874,
  238: 1250,
};

interface Group {
  /** "text", or the destination that is not. */
  destination: string;
  /** How many bytes stand after `\u` for readers that do not know it. */
  fallback: number;
  font: number;
  /** Those of `HIDING` that are in force. */
  hiding: readonly string[];
}

/** Reads one file; `read` runs once. */
class RtfReader {
  readonly #source: string;
  readonly #groups: Group[] = [{ destination: "text", fallback: 1, font: -1, hiding: [] }];
  readonly #fontPages = new Map<number, number>();
  #page = 1252;
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
      this.#groups.push({ ...this.#group });
    } else if (this.#groups.length > 1) {
      const { destination } = this.#groups.pop() as Group;
      // The end of what is printed of a group that is not read.
      if (destination === "text" && this.#group.destination !== "text") this.#text += "\n";
    }
    this.#optional = false;
  }

  #control(word: string, parameter: string | undefined): void {
    const group = this.#group;
    const number = parameter === undefined ? undefined : Number(parameter);
    if (word === "u" && number !== undefined) {
      this.#flush();
      this.#write(String.fromCharCode(number & 0xffff));
      this.#skip = group.fallback;
    } else if (word === "uc") group.fallback = Math.min(100, Math.max(0, number ?? 1));
    else if (word === "ansicpg") this.#page = number ?? 1252;
    else if (word === "f" && number !== undefined) {
      this.#flush();
      group.font = number;
    } else if (word === "fcharset" && number !== undefined)
      this.#fontPages.set(group.font, charsets[number] ?? this.#page);
    else if (HIDING.has(word) || word === "plain") {
      this.#flush();
      const others = word === "plain" ? [] : group.hiding.filter((each) => each !== word);
      group.hiding = word === "plain" || number === 0 ? others : [...others, word];
    } else if (printed.get(word) === group.destination) {
      this.#flush();
      group.destination = "text";
      this.#write("\n");
    } else if (word === "title" && group.destination === "info") group.destination = "title";
    else if (UNREAD.has(word) && group.destination === "text") group.destination = word;
    else if (this.#optional && group.destination === "text") group.destination = word;
    else if (Object.hasOwn(symbols, word)) {
      this.#flush();
      this.#write(symbols[word] ?? "");
    }
    this.#optional = false;
  }

  #symbol(symbol: string): void {
    if (symbol === "*") this.#optional = true;
    else if (symbol === "{" || symbol === "}") this.#add(symbol);
    else if (Object.hasOwn(symbols, symbol)) {
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
    const bytes = Buffer.from(this.#bytes, "latin1");
    this.#bytes = "";
    this.#write(decode(bytes, this.#fontPages.get(this.#group.font) ?? this.#page));
  }

  #write(text: string): void {
    const { destination, hiding } = this.#group;
    // Breaks stay, so that words around what is hidden are not joined.
    const isHidden = hiding.length > 0 && text.trim() !== "";
    if (destination === "text" && !isHidden) this.#text += text;
    else if (destination === "title" && this.#title.length < 1_000) this.#title += text;
  }
}

/** An RTF file. */
export const extract: Extractor = (bytes, { units }) => {
  const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
  const { text, title, whole } = new RtfReader(source).read(units);
  return { text: text.toWellFormed(), truncated: !whole, title: title.toWellFormed() };
};

function decode(bytes: Uint8Array, page: number): string {
  const windows = page >= 1250 && page <= 1258 ? `windows-${page}` : "windows-1252";
  return new TextDecoder(codePages[page] ?? windows).decode(bytes);
}

function broken(): Refusal {
  return new Refusal("broken RTF", "cannot be read as RTF");
}
