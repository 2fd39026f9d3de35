/**
 * Bytes to text: UTF-8, UTF-16 with a byte order mark, otherwise Windows-1252 if nothing in it
 * speaks against text.
 */

/** A decoded text, or why the bytes are none. */
export type Decoded =
  | { readonly text: string; readonly note: string | undefined }
  | { readonly notText: string };

const CONTROL_CHARACTER = new Uint8Array(256);
for (let byte = 0; byte < 32; byte++)
  if (![8, 9, 10, 12, 13, 27].includes(byte)) CONTROL_CHARACTER[byte] = 1;
CONTROL_CHARACTER[127] = 1;

/** Decodes bytes; `whole` means that the last character is complete. */
export function decodeText(bytes: Uint8Array, whole: boolean): Decoded {
  if (bytes[0] === 0xff && bytes[1] === 0xfe)
    return { text: decodeAs("utf-16le", bytes, whole), note: "read as UTF-16" };
  if (bytes[0] === 0xfe && bytes[1] === 0xff)
    return { text: decodeAs("utf-16be", bytes, whole), note: "read as UTF-16" };
  if (bytes.includes(0)) return { notText: "holds NUL bytes" };
  const text = decodeUtf8(bytes, whole);
  if (text !== undefined) return { text, note: undefined };
  if (hasControls(bytes)) return { notText: "is neither UTF-8 nor free of control characters" };
  return { text: decodeAs("windows-1252", bytes, whole), note: "read as windows-1252" };
}

// A loop: a callback a byte would hold the thread for tens of milliseconds.
function hasControls(bytes: Uint8Array): boolean {
  for (const byte of bytes) if (CONTROL_CHARACTER[byte] === 1) return true;
  return false;
}

/** Text of UTF-8 bytes without its byte order mark; undefined when they are not UTF-8. */
export function decodeUtf8(bytes: Uint8Array, whole: boolean): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: !whole });
  } catch {
    return undefined;
  }
}

function decodeAs(encoding: string, bytes: Uint8Array, whole: boolean): string {
  return new TextDecoder(encoding).decode(bytes, { stream: !whole }).toWellFormed();
}

/** The first `units` UTF-16 units of a text, never half a character. */
export function cutText(text: string, units: number): string {
  if (text.length <= units) return text;
  const last = text.charCodeAt(units - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? units - 1 : units);
}
