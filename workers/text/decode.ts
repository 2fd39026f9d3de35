/**
 * Bytes to text: UTF-8, UTF-16 with or without a byte order mark, the encoding that markup declares,
 * otherwise Windows-1252 unless control characters show that the bytes are no text.
 */

/** A decoded text, or why the bytes are none. */
export type Decoded =
  | { readonly text: string; readonly note: string | undefined }
  | { readonly notText: string };

/** Enough to tell UTF-16 without a mark from other bytes. */
const SAMPLE_BYTES = 64 * 1024;
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
  const marked = decodeMarked(bytes, whole);
  if (marked !== undefined) return marked;
  const head = Buffer.from(bytes.subarray(0, 1024)).toString("latin1");
  const label = /(?:charset|encoding)\s*=\s*["']?([\w-]{2,40})/i.exec(head)?.[1];
  if (label === undefined || /^utf/i.test(label)) return decodeLegacy(bytes, whole);
  try {
    return { text: decodeAs(label, bytes, whole), note: `read as ${label.toLowerCase()}` };
  } catch {
    return decodeLegacy(bytes, whole);
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
  if (bytes[0] === 0xff && bytes[1] === 0xfe)
    return { text: decodeAs("utf-16le", bytes, whole), note: "read as UTF-16" };
  if (bytes[0] === 0xfe && bytes[1] === 0xff)
    return { text: decodeAs("utf-16be", bytes, whole), note: "read as UTF-16" };
  if (bytes.includes(0)) {
    const encoding = guessUtf16(bytes);
    return encoding === undefined
      ? { notText: "holds NUL bytes" }
      : {
          text: decodeAs(encoding, bytes, whole),
          note: "read as UTF-16 without a byte order mark",
        };
  }
  const text = decodeUtf8(bytes, whole);
  return text === undefined ? undefined : { text, note: undefined };
}

function decodeLegacy(bytes: Uint8Array, whole: boolean): Decoded {
  if (hasControls(bytes)) return { notText: "is neither UTF-8 nor free of control characters" };
  return { text: decodeAs("windows-1252", bytes, whole), note: "read as windows-1252" };
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
