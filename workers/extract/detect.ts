/** Finds out what a file is, from its beginning first and from its name where that says nothing. */
import { decodeText } from "../text/decode.ts";
import { Refusal } from "./extractor.ts";
import { formatByName, formats, stemOf } from "./formats.ts";
import type { FormatName } from "./formats.ts";

/** The beginning of a file that `detectFormat` wants to see, or all of a shorter one. */
export const HEAD_BYTES = 8 * 1024;

/** A PDF may begin a little later than its file. */
const PDF_WITHIN = 1_024;
const ZIP = "PK\x03\x04";
/** Old Office files, and new ones that are encrypted. */
const COMPOUND_FILE = "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";

const BZIP2_MAGICS: readonly string[] = ["1AY&SY", "\x17rE8P\x90"];

const zipTypes: readonly (readonly [RegExp, FormatName])[] = [
  [/^application\/epub\+zip/, "epub"],
  [/^application\/vnd\.oasis\.opendocument\.text/, "odt"],
];

// A comment ends at its first "-->". If it could end at a later one, there would be exponentially
// many ways to divide the beginning into comments.
const HTML_START =
  /^(<\?xml[^>]*>\s*)?(<!--(?:(?!-->)[\s\S]){0,2000}-->\s*)*<(!doctype\s+html|html)[\s>]/i;

/** What an editor, a download or a person appends to the name of an older copy. */
const COPY_ENDING = /(?:~|\.(?:bak|old|orig|save|tmp|\d+))$/i;

const MAIL_HEADERS =
  /^(from|to|cc|subject|date|message-id|received|return-path|delivered-to|mime-version|content-type)$/i;

/** The kind of a file, with what a reader should know about how it was found. */
export interface Detected {
  readonly format: FormatName;
  readonly note?: string;
}

/** The kind of a file. Throws `Refusal` for one that is not read. */
export function detectFormat(name: string, head: Uint8Array): Detected {
  const named = formatByName(name);
  const latin = Buffer.from(head.buffer, head.byteOffset, head.byteLength).toString("latin1");
  const packed = byMagic(latin, named);
  if (packed !== undefined) return { format: packed };
  const whole = head.byteLength < HEAD_BYTES;
  const decoded = decodeText(head, whole);
  if ("notText" in decoded)
    throw named === undefined
      ? new Refusal("not text", decoded.notText, false)
      : isTextual(named)
        ? new Refusal("not text", decoded.notText)
        : broken(named);
  const format = byText(decoded.text, name, whole);
  if (format !== undefined) return { format };
  if (named === undefined) return { format: "text" };
  if (isTextual(named) || head.byteLength === 0)
    return { format: isTextual(named) ? named : "text" };
  return {
    format: "text",
    note: `read as text, although its name says ${formats[named].label}`,
  };
}

/** What is said of a file that cannot be read as what it is. */
export function broken(format: FormatName): Refusal {
  const { label } = formats[format];
  return new Refusal(`broken ${label}`, `cannot be read as ${label}`);
}

function byMagic(latin: string, named: FormatName | undefined): FormatName | undefined {
  if (latin.startsWith(COMPOUND_FILE))
    throw named === "docx"
      ? new Refusal("encrypted", "is encrypted")
      : new Refusal("other type", "is an old or an encrypted Office file", false);
  if (latin.startsWith(ZIP)) return zipFormat(latin, named);
  if (latin.slice(0, PDF_WITHIN + 5).includes("%PDF-")) {
    // A text may speak of PDFs; a PDF holds other bytes soon after its mark.
    if (named === "pdf" || latin.startsWith("%PDF-")) return "pdf";
  }
  for (const [name, { magic }] of Object.entries(formats))
    if (magic !== undefined && latin.startsWith(magic) && isPacked(latin, name as FormatName))
      return name as FormatName;
  return undefined;
}

// "BZh" may begin a text; the magic number of a first block, or of an empty file, may not.
function isPacked(latin: string, format: FormatName): boolean {
  return format !== "bzip2" || BZIP2_MAGICS.includes(latin.slice(4, 10));
}

function zipFormat(latin: string, named: FormatName | undefined): FormatName {
  // The first member of EPUB and ODT is "mimetype", stored as it is.
  const type = latin.slice(38, 138);
  if (latin.slice(30, 38) === "mimetype")
    for (const [pattern, format] of zipTypes) if (pattern.test(type)) return format;
  if (named === "docx" || named === "odt" || named === "epub") return named;
  if (/\[Content_Types\]\.xml|_rels\/\.rels|word\//.test(latin)) return "docx";
  throw new Refusal("other type", "is a zip archive", false);
}

function byText(text: string, name: string, whole: boolean): FormatName | undefined {
  const named = formatByName(name);
  const start = text.trimStart();
  if (HTML_START.test(start) && !isSource(name)) return named === "mail" ? undefined : "html";
  if (/^<\?xml[\s]/.test(start)) return named === "html" ? "html" : "xml";
  if (named === "mail") return "mail";
  return named === undefined && isMail(text, whole) ? "mail" : undefined;
}

/**
 * The name has an ending of no kind that is read, such as `.php` or `.vue`: what begins as a page
 * holds code, too, which a page would not show.
 */
function isSource(name: string): boolean {
  let bare = name;
  while (COPY_ENDING.test(bare)) bare = bare.replace(COPY_ENDING, "");
  return /[^.]\.[a-z][a-z\d]{0,9}$/i.test(bare) && formatByName(bare) === undefined;
}

/** A head of mail headers, two of which are those of mails; it may go on beyond the text. */
function isMail(text: string, whole: boolean): boolean {
  const [head = ""] = text.split(/\r?\n\r?\n/, 1);
  const ends = head.length < text.length;
  if (!ends && whole) return false;
  // The last line is cut off where the text is.
  const complete = head.split(/\r?\n/).slice(0, ends ? undefined : -1);
  const lines = complete.filter((line) => !/^[ \t]/.test(line));
  const names = lines.map((line) => /^([!-9;-~]+):/.exec(line)?.[1]);
  const isHead = names.every((name, at) => name !== undefined || (at === 0 && isMboxLine(lines)));
  return isHead && names.filter((name) => MAIL_HEADERS.test(name ?? "")).length >= 2;
}

function isMboxLine([line = ""]: readonly string[]): boolean {
  return line.startsWith("From ");
}

function isTextual(format: FormatName): boolean {
  return ["text", "markdown", "org", "tex", "csv", "html", "xml", "mail"].includes(format);
}

/** The title of a document that has none of its own. */
export function titleByName(name: string): string {
  return stemOf(name) || name;
}
