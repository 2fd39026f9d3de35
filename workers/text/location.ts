/**
 * Where a text can be read again, for a source that keeps its texts: a file on this machine. A
 * location travels as bytes in the place of a text; it begins with a byte that no UTF-8 holds.
 */
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { decodeUtf8 } from "./decode.ts";
import { identify } from "./signature.ts";

/** A stretch of a file. */
export interface TextLocation {
  readonly path: string;
  readonly offset: number;
  readonly length: number;
  /** `line`: a JSON object that holds the text in `field`; `text`: the text in UTF-8. */
  readonly form: "line" | "text";
  readonly field?: string;
  /** State of the file when the text was read, as `versionOf` gives it. */
  readonly version: string;
  /** Identity of the text, in hexadecimal; looked at when the file has changed since. */
  readonly identity: string;
}

const MARK = 0xff;

/** A location as bytes. */
export function writeLocation(location: TextLocation): Uint8Array {
  const json = Buffer.from(JSON.stringify(location));
  const bytes = new Uint8Array(1 + json.length);
  bytes[0] = MARK;
  bytes.set(json, 1);
  return bytes;
}

/** Whether bytes are a location and not a text. */
export function isLocation(bytes: Uint8Array): boolean {
  return bytes[0] === MARK;
}

/** Identifies the state of a file: size, time of its last change, and inode. */
export function versionOf(facts: {
  readonly size: bigint;
  readonly mtimeNs: bigint;
  readonly ino: bigint;
}): string {
  return `${facts.size}:${facts.mtimeNs}:${facts.ino}`;
}

/**
 * The text at a location, empty when it is gone or another one by now. Blocks the thread for the
 * read. Throws the system's error for a file that is there and cannot be read.
 */
export function readLocation(bytes: Uint8Array): Uint8Array {
  const json = Buffer.from(bytes.buffer, bytes.byteOffset + 1, bytes.byteLength - 1);
  const location = JSON.parse(json.toString("utf8")) as TextLocation;
  const found = readStretch(location);
  const text =
    found && (location.form === "text" ? found.bytes : textOfLine(found.bytes, location.field));
  if (!found || !text) return GONE;
  const same =
    found.version === location.version ||
    Buffer.from(identify(text).hash).toString("hex") === location.identity;
  return same ? text : GONE;
}

const GONE = new Uint8Array(0);

/** The text of a line; nothing when the file has changed and this is no line any more. */
function textOfLine(line: Buffer, field = "content"): Uint8Array | undefined {
  try {
    // As lines are read first: a line may begin with a byte order mark.
    const json = decodeUtf8(line, true) ?? "";
    const value = JSON.parse(json) as Readonly<Record<string, unknown>> | null;
    const text = value?.[field];
    return typeof text === "string" ? Buffer.from(text.toWellFormed()) : undefined;
  } catch {
    return undefined;
  }
}

interface Stretch {
  readonly bytes: Buffer;
  readonly version: string;
}

function readStretch({ path, offset, length }: TextLocation): Stretch | undefined {
  let file: number;
  try {
    // A pipe that took the file's place must not hold the thread.
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  try {
    const version = versionOf(fstatSync(file, { bigint: true }));
    const bytes = Buffer.allocUnsafeSlow(length);
    for (let filled = 0; filled < length;) {
      const read = readSync(file, bytes, filled, length - filled, offset + filled);
      if (read === 0) return undefined;
      filled += read;
    }
    return { bytes, version };
  } finally {
    closeSync(file);
  }
}
