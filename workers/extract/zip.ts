/**
 * Reads members of a zip archive in memory (APPNOTE 6.3): only what is asked for is unpacked, and
 * never more than a limit.
 */
import { crc32, inflateRawSync } from "node:zlib";
import { Refusal } from "./extractor.ts";

const MIB = 1024 * 1024;
/** All that is unpacked of one archive. */
const UNPACKED_BYTES = 64 * MIB;
const MAX_MEMBERS = 20_000;

const END_SIGNATURE = 0x06054b50;
const END_BYTES = 22;
const ENTRY_SIGNATURE = 0x02014b50;
const ENTRY_BYTES = 46;
const LOCAL_BYTES = 30;
const ENCRYPTED_FLAG = 1;
const STORED = 0;
const DEFLATED = 8;

interface Entry {
  readonly encrypted: boolean;
  readonly method: number;
  readonly crc: number;
  readonly packedBytes: number;
  readonly offset: number;
}

/** An archive whose members can be read. */
export interface Zip {
  has(name: string): boolean;
  /** The member as UTF-8 text. Throws `Refusal` when it is absent, encrypted, broken or too large. */
  text(name: string): string;
}

/** Opens an archive. Throws `Refusal` when its directory cannot be read. */
export function openZip(bytes: Uint8Array, label: string): Zip {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const broken = (): Refusal => new Refusal(`broken ${label}`, `cannot be read as ${label}`);
  let entries: ReadonlyMap<string, Entry>;
  try {
    entries = readDirectory(buffer);
  } catch {
    throw broken();
  }
  let leftBytes = UNPACKED_BYTES;
  return {
    has: (name) => entries.has(name),
    text(name) {
      const entry = entries.get(name);
      if (entry === undefined) throw broken();
      if (entry.encrypted) throw new Refusal("encrypted", "is encrypted");
      let unpacked: Buffer;
      try {
        unpacked = unpack(buffer, entry, leftBytes);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE")
          throw new Refusal("too large", "unpacks to more than 64 MiB");
        throw broken();
      }
      leftBytes -= unpacked.byteLength;
      return new TextDecoder().decode(unpacked);
    },
  };
}

// Throws RangeError when an offset leads out of the archive.
function readDirectory(buffer: Buffer): Map<string, Entry> {
  const end = findEnd(buffer);
  const count = buffer.readUInt16LE(end + 10);
  if (count > MAX_MEMBERS) throw new RangeError("too many members");
  const entries = new Map<string, Entry>();
  let at = buffer.readUInt32LE(end + 16);
  for (let i = 0; i < count; i++) {
    if (buffer.readUInt32LE(at) !== ENTRY_SIGNATURE) throw new RangeError("no entry");
    const nameBytes = buffer.readUInt16LE(at + 28);
    const name = buffer.toString("utf8", at + ENTRY_BYTES, at + ENTRY_BYTES + nameBytes);
    entries.set(name.replaceAll("\\", "/"), {
      encrypted: (buffer.readUInt16LE(at + 8) & ENCRYPTED_FLAG) !== 0,
      method: buffer.readUInt16LE(at + 10),
      crc: buffer.readUInt32LE(at + 16),
      packedBytes: buffer.readUInt32LE(at + 20),
      offset: buffer.readUInt32LE(at + 42),
    });
    at += ENTRY_BYTES + nameBytes + buffer.readUInt16LE(at + 30) + buffer.readUInt16LE(at + 32);
  }
  return entries;
}

// The record is the last of the archive, followed by a comment of at most 65,535 bytes.
function findEnd(buffer: Buffer): number {
  const last = buffer.byteLength - END_BYTES;
  for (let at = last; at >= Math.max(0, last - 65_535); at--)
    if (buffer.readUInt32LE(at) === END_SIGNATURE) return at;
  throw new RangeError("no directory");
}

function unpack(buffer: Buffer, entry: Entry, limitBytes: number): Buffer {
  const { offset, method, packedBytes, crc } = entry;
  const start =
    offset + LOCAL_BYTES + buffer.readUInt16LE(offset + 26) + buffer.readUInt16LE(offset + 28);
  const packed = buffer.subarray(start, start + packedBytes);
  if (method !== STORED && method !== DEFLATED) throw new RangeError("unknown method");
  const unpacked =
    method === STORED ? packed : inflateRawSync(packed, { maxOutputLength: limitBytes });
  if (crc32(unpacked) !== crc) throw new RangeError("wrong checksum");
  return unpacked;
}
