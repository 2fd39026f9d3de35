/**
 * Bytes to text: UTF-8, UTF-16 with or without a byte order mark, the encoding that markup declares,
 * otherwise Windows-1252 unless control characters show that the bytes are no text.
 */
import { isAscii } from "node:buffer";

/** A decoded text, or why the bytes are none. */
export type Decoded = DecodedText | { readonly notText: string };

interface DecodedText {
  readonly text: string;
  /** By the name that `TextDecoder` has for it, e.g. "utf-8". */
  readonly encoding: string;
  readonly note: string | undefined;
}

/** Enough to tell UTF-16 without a mark from other bytes. */
const SAMPLE_BYTES = 64 * 1024;
/** Begins a sequence that shifts to another set of characters. */
const ESCAPE = 0x1b;
/** Share of white space below which a guess of UTF-16 is not believed. */
const MIN_SPACES = 0.01;

const CONTROL_CHARACTER = new Uint8Array(256);
for (let byte = 0; byte < 32; byte++)
  if (![8, 9, 10, 12, 13, 27].includes(byte)) CONTROL_CHARACTER[byte] = 1;
CONTROL_CHARACTER[127] = 1;

/** Decodes bytes; `whole` means that the last character is complete. */
export function decodeText(bytes: Uint8Array, whole: boolean): Decoded {
  return decodeMarked(bytes, whole) ?? decodeLegacy(bytes, whole);
}

/**
 * Decodes HTML or XML: as `decodeText`, but what is neither UTF-8 nor UTF-16 is read in the encoding
 * that its first kilobyte declares.
 */
export function decodeMarkup(bytes: Uint8Array, whole: boolean): Decoded {
  const head = Buffer.from(bytes.subarray(0, 1024)).toString("latin1");
  const label = /(?:charset|encoding)\s*=\s*["']?([\w-]{2,40})/i.exec(head)?.[1];
  const encoding = label === undefined ? undefined : byteEncoding(label);
  // Its bytes are those of ASCII, which would be read as other characters.
  const isShifted = encoding === "iso-2022-jp" && bytes.includes(ESCAPE) && isAscii(bytes);
  const marked = isShifted ? undefined : decodeMarked(bytes, whole);
  if (marked !== undefined) return marked;
  if (label === undefined || encoding === undefined) return decodeLegacy(bytes, whole);
  return {
    text: decodeAs(encoding, bytes, whole),
    encoding,
    note: `read as ${label.toLowerCase()}`,
  };
}

/**
 * The encoding of a label, by the name that `TextDecoder` has for it; undefined for one that is not
 * known, and for UTF-8 and UTF-16, in which bytes that declare it by ASCII are not.
 */
export function byteEncoding(label: string): string | undefined {
  try {
    const { encoding } = new TextDecoder(label);
    return encoding.startsWith("utf-") ? undefined : encoding;
  } catch {
    return undefined;
  }
}

/** Text of UTF-8 bytes without its byte order mark; undefined when they are not UTF-8. */
export function decodeUtf8(bytes: Uint8Array, whole: boolean): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: !whole });
  } catch {
    return undefined;
  }
}

/** The first `units` UTF-16 units of a text, never half a character. */
export function cutText(text: string, units: number): string {
  if (text.length <= units) return text;
  const last = text.charCodeAt(units - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? units - 1 : units);
}

// What its mark or its structure shows beyond doubt; undefined for a legacy encoding.
function decodeMarked(bytes: Uint8Array, whole: boolean): Decoded | undefined {
  const as = (encoding: string, note: string): Decoded => ({
    text: decodeAs(encoding, bytes, whole),
    encoding,
    note,
  });
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return as("utf-16le", "read as UTF-16");
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return as("utf-16be", "read as UTF-16");
  if (bytes.includes(0)) {
    const encoding = guessUtf16(bytes);
    return encoding === undefined
      ? { notText: "holds NUL bytes" }
      : as(encoding, "read as UTF-16 without a byte order mark");
  }
  const text = decodeUtf8(bytes, whole);
  return text === undefined ? undefined : { text, encoding: "utf-8", note: undefined };
}

function decodeLegacy(bytes: Uint8Array, whole: boolean): Decoded {
  if (hasControls(bytes)) return { notText: "is neither UTF-8 nor free of control characters" };
  const encoding = "windows-1252";
  return { text: decodeAs(encoding, bytes, whole), encoding, note: `read as ${encoding}` };
}

// A loop: a callback a byte would hold the thread for tens of milliseconds.
function hasControls(bytes: Uint8Array): boolean {
  for (const byte of bytes) if (CONTROL_CHARACTER[byte] === 1) return true;
  return false;
}

/**
 * The byte order in which the bytes are text: no unpaired surrogates, controls or unassigned
 * characters, and white space between words. Read in the wrong order, ASCII's spaces and line ends
 * are other characters, so at most one order fits.
 */
function guessUtf16(bytes: Uint8Array): "utf-16le" | "utf-16be" | undefined {
  const shares = (["utf-16le", "utf-16be"] as const).map(
    (encoding) => [encoding, spacesIn(encoding, bytes)] as const,
  );
  const [best] = shares.toSorted((a, b) => b[1] - a[1]);
  return best !== undefined && best[1] >= MIN_SPACES ? best[0] : undefined;
}

// The share of white space, 0 for what is no text.
function spacesIn(encoding: string, bytes: Uint8Array): number {
  if (bytes.byteLength % 2 !== 0 && bytes.byteLength <= SAMPLE_BYTES) return 0;
  const sample = bytes.subarray(0, SAMPLE_BYTES);
  let text: string;
  try {
    text = new TextDecoder(encoding, { fatal: true }).decode(sample, { stream: true });
  } catch {
    return 0;
  }
  if (text === "" || /(?![\t\n\f\r])[\p{Cc}\p{Cn}\p{Co}]/u.test(text)) return 0;
  return (text.match(/[ \n\u3000]/g)?.length ?? 0) / text.length;
}

function decodeAs(encoding: string, bytes: Uint8Array, whole: boolean): string {
  return new TextDecoder(encoding).decode(bytes, { stream: !whole }).toWellFormed();
}
