/**
 * Names the charset of what a mail writes in 8-bit characters without one: old programs send texts
 * and headers so, which a parser takes for damaged UTF-8.
 */
import { byteEncoding, decodeMarkup, decodeText, decodeUtf8 } from "../text/decode.ts";

/** A mail whose texts name their charsets, and those that were added, e.g. "windows-1252". */
interface NamedCharsets {
  readonly mail: Uint8Array;
  readonly added: ReadonlySet<string>;
}

const TEXT_TYPE = /^text\/(?:plain|html)(?![^\s;])/i;
const BOUNDARY = /;\s*boundary\s*=\s*(?:"([^"]{1,200})"|([^\s;"]{1,200}))/i;
const CHARSET = /;\s*charset\s*=[\s"]{0,10}([^\s;"]{1,100})/i;

/** The mail with a charset for each text that has none, and its headers in UTF-8. */
export function withCharsets(mail: Uint8Array): NamedCharsets {
  // Latin-1 keeps all bytes.
  const latin = Buffer.from(mail.buffer, mail.byteOffset, mail.byteLength).toString("latin1");
  const lines = latin.split("\n");
  const delimiters = new Set<string>();
  const added = new Set<string>();
  const pieces: string[] = [];
  const isDelimiter = (line: string): boolean => line.startsWith("--") && isOneOf(delimiters, line);
  for (let at = 0; at < lines.length;) {
    const start = indexFrom(lines, at, (line) => line.trim() === "" || isDelimiter(line));
    const head = lines.slice(at, start);
    const type = headerOf(head, "content-type") ?? "text/plain";
    const [, quoted, bare] = BOUNDARY.exec(type) ?? [];
    const boundary = quoted ?? bare;
    if (boundary !== undefined) delimiters.add(`--${boundary}`);
    // The head of a mail in a mail stands where others have their content.
    const isMail = /^message\/rfc822(?![^\s;])/i.test(type);
    const end = isMail ? start : indexFrom(lines, start, isDelimiter);
    const declared = CHARSET.exec(type)?.[1];
    let found: string | undefined;
    if (declared === undefined && TEXT_TYPE.test(type))
      found = encodingOf(lines.slice(start, end).join("\n"), head, type);
    if (found !== undefined) added.add(found);
    if (head.length > 0)
      pieces.push(withCharset(inUtf8(head.join("\n"), declared ?? found), found));
    at = end + 1;
    for (let line = start; line < Math.min(at, lines.length); line++)
      pieces.push(lines[line] ?? "");
  }
  return { mail: Buffer.from(pieces.join("\n"), "latin1"), added };
}

/** The line begins or ends a part. */
function isOneOf(delimiters: ReadonlySet<string>, line: string): boolean {
  const mark = line.trimEnd();
  return delimiters.has(mark) || (mark.endsWith("--") && delimiters.has(mark.slice(0, -2)));
}

/** The value of a header, in one line. */
function headerOf(head: readonly string[], name: string): string | undefined {
  const start = `${name}:`;
  const first = indexFrom(head, 0, (line) => line.slice(0, start.length).toLowerCase() === start);
  if (first === head.length) return undefined;
  const end = indexFrom(head, first + 1, (line) => !/^[ \t]/.test(line));
  return head.slice(first, end).join("").slice(start.length).replaceAll("\r", "").trim();
}

/** Of a content without a charset; undefined when it is UTF-8, which is taken for granted, or no text. */
function encodingOf(content: string, head: readonly string[], type: string): string | undefined {
  const bytes = decodeTransfer(content, headerOf(head, "content-transfer-encoding") ?? "");
  const decode = /^text\/html/i.test(type) ? decodeMarkup : decodeText;
  const decoded = decode(bytes, true);
  return "notText" in decoded || decoded.encoding === "utf-8" ? undefined : decoded.encoding;
}

function decodeTransfer(content: string, encoding: string): Uint8Array {
  if (/base64/i.test(encoding)) return Buffer.from(content, "base64");
  if (!/quoted-printable/i.test(encoding)) return Buffer.from(content, "latin1");
  const plain = content
    .replaceAll(/=\r?\n/g, "")
    .replaceAll(/=([\da-f]{2})/gi, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
  return Buffer.from(plain, "latin1");
}

function withCharset(head: string, charset: string | undefined): string {
  if (charset === undefined) return head;
  const named = head.replace(/^(content-type:\s*[^\s;]+)/im, `$1; charset=${charset}`);
  return named === head ? `Content-Type: text/plain; charset=${charset}\n${head}` : named;
}

/** A head as Latin-1 of its bytes. */
function inUtf8(head: string, charset = ""): string {
  const bytes = Buffer.from(head, "latin1");
  if (decodeUtf8(bytes, true) !== undefined) return head;
  const text = new TextDecoder(byteEncoding(charset) ?? "windows-1252").decode(bytes);
  return Buffer.from(text).toString("latin1");
}

/** The first line from `start` on that fits; the number of lines when none does. */
function indexFrom(
  lines: readonly string[],
  start: number,
  fits: (line: string) => boolean,
): number {
  for (let at = start; at < lines.length; at++) if (fits(lines[at] ?? "")) return at;
  return lines.length;
}
