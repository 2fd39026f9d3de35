/**
 * Writes protobuf fields of OTLP messages into one growing buffer. Attributes make up most of a log
 * record, so their names are encoded once (`encodeKey`) and their values written without
 * intermediate objects.
 */
import type { AttributeValue } from "./types.ts";

/** The longest varint, and the longest value that is not a text with its tags and lengths. */
const MAX_VARINT_BYTES = 10;
const MAX_FIELD_BYTES = 32;
/** Below this many characters a loop is faster than a call of the runtime. */
const SHORT_TEXT = 64;
const LAST_ASCII = 0x7f;
const [VARINT, BIT64, LENGTH_DELIMITED, BIT32] = [0, 1, 2, 5];
/** KeyValue.key, and KeyValue.value with its wire type. */
const [KEY, VALUE] = [1, tag(2, LENGTH_DELIMITED)];
/** The members of AnyValue with their wire types. */
const [STRING_VALUE, BOOL_VALUE, INT_VALUE, DOUBLE_VALUE] = [
  tag(1, LENGTH_DELIMITED),
  tag(2, VARINT),
  tag(3, VARINT),
  tag(4, BIT64),
];
const MIN_INT64 = -(2 ** 63);
const MAX_INT64 = 2 ** 63;

/** The part of an encoded KeyValue before the length of its value. */
export function encodeKey(name: string): Uint8Array {
  const writer = new AttributeWriter(0);
  writer.text(KEY, name);
  return Buffer.concat([writer.finish(), Buffer.of(VALUE)]);
}

/** Fields below 16, whose tags are one byte. */
export class AttributeWriter {
  #bytes: Buffer<ArrayBuffer>;
  #at = 0;

  /** It grows beyond the capacity when needed. */
  constructor(capacity: number) {
    this.#bytes = Buffer.from(new ArrayBuffer(capacity));
  }

  /** Bytes written so far. */
  get length(): number {
    return this.#at;
  }

  /** What was written, in a buffer of its own; nothing may be written after it. */
  finish(): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.#bytes.buffer.transfer(this.#at));
  }

  raw(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#copy(bytes);
  }

  uint32(field: number, value: number): void {
    this.#reserve(MAX_FIELD_BYTES);
    this.#byte(tag(field, VARINT));
    this.#varint(value);
  }

  fixed32(field: number, value: number): void {
    this.#reserve(MAX_FIELD_BYTES);
    this.#byte(tag(field, BIT32));
    this.#at = this.#bytes.writeUInt32LE(value, this.#at);
  }

  fixed64(field: number, value: bigint): void {
    this.#reserve(MAX_FIELD_BYTES);
    this.#byte(tag(field, BIT64));
    this.#at = this.#bytes.writeBigUInt64LE(BigInt.asUintN(64, value), this.#at);
  }

  text(field: number, text: string): void {
    const bytes = utf8Length(text);
    this.#reserve(MAX_FIELD_BYTES + bytes);
    this.#byte(tag(field, LENGTH_DELIMITED));
    this.#varint(bytes);
    this.#text(text, bytes);
  }

  /** An embedded message, or a field of bytes. */
  message(field: number, bytes: Uint8Array): void {
    this.#reserve(MAX_FIELD_BYTES + bytes.length);
    this.#byte(tag(field, LENGTH_DELIMITED));
    this.#varint(bytes.length);
    this.#copy(bytes);
  }

  /** An embedded AnyValue. */
  anyText(field: number, text: string): void {
    const bytes = utf8Length(text);
    this.#reserve(2 * MAX_FIELD_BYTES + bytes);
    this.#byte(tag(field, LENGTH_DELIMITED));
    this.#anyText(text, bytes);
  }

  /**
   * A KeyValue; `key` is from `encodeKey`. Integers of 64 bits are sent as such, other numbers as
   * doubles.
   */
  attribute(field: number, key: Uint8Array, value: AttributeValue): void {
    const bytes = typeof value === "string" ? utf8Length(value) : 0;
    this.#reserve(2 * MAX_FIELD_BYTES + key.length + bytes);
    this.#byte(tag(field, LENGTH_DELIMITED));
    if (typeof value === "string") {
      const inner = 1 + varintLength(bytes) + bytes;
      this.#varint(key.length + varintLength(inner) + inner);
      this.#copy(key);
      return this.#anyText(value, bytes);
    }
    if (typeof value === "boolean") {
      this.#scalar(key, 2);
      this.#byte(BOOL_VALUE);
      return this.#byte(value ? 1 : 0);
    }
    if (!Number.isInteger(value) || value < MIN_INT64 || value >= MAX_INT64) {
      this.#scalar(key, 9);
      this.#byte(DOUBLE_VALUE);
      this.#at = this.#bytes.writeDoubleLE(value, this.#at);
      return;
    }
    this.#scalar(key, 1 + varintLength(value));
    this.#byte(INT_VALUE);
    this.#varint(value);
  }

  /** The begin of a KeyValue whose AnyValue has so many bytes, less than 128. */
  #scalar(key: Uint8Array, bytes: number): void {
    this.#varint(key.length + 1 + bytes);
    this.#copy(key);
    this.#byte(bytes);
  }

  #anyText(text: string, bytes: number): void {
    this.#varint(1 + varintLength(bytes) + bytes);
    this.#byte(STRING_VALUE);
    this.#varint(bytes);
    this.#text(text, bytes);
  }

  #byte(value: number): void {
    this.#bytes[this.#at] = value;
    this.#at += 1;
  }

  #varint(value: number): void {
    if (value < 0) return this.#negative(value);
    let left = value;
    while (left > LAST_ASCII) {
      this.#byte((left % 128) + 128);
      left = Math.floor(left / 128);
    }
    this.#byte(left);
  }

  /** In two's complement of 64 bits. */
  #negative(value: number): void {
    let left = BigInt.asUintN(64, BigInt(value));
    for (let byte = 1; byte < MAX_VARINT_BYTES; byte += 1) {
      this.#byte(Number(left & 0x7fn) + 128);
      left >>= 7n;
    }
    this.#byte(Number(left));
  }

  #copy(bytes: Uint8Array): void {
    this.#bytes.set(bytes, this.#at);
    this.#at += bytes.length;
  }

  #text(text: string, bytes: number): void {
    // As many bytes as characters: all of them are ASCII.
    if (bytes !== text.length || bytes > SHORT_TEXT) {
      this.#at += this.#bytes.write(text, this.#at);
      return;
    }
    const buffer = this.#bytes;
    const from = this.#at;
    for (let index = 0; index < bytes; index += 1) buffer[from + index] = text.charCodeAt(index);
    this.#at = from + bytes;
  }

  #reserve(bytes: number): void {
    const needed = this.#at + bytes;
    if (needed <= this.#bytes.length) return;
    this.#bytes = Buffer.from(
      this.#bytes.buffer.transfer(Math.max(needed, 2 * this.#bytes.length)),
    );
  }
}

function tag(field: number, wireType: number): number {
  return (field << 3) | wireType;
}

function varintLength(value: number): number {
  if (value < 0) return MAX_VARINT_BYTES;
  let length = 1;
  for (let left = value; left > LAST_ASCII; left = Math.floor(left / 128)) length += 1;
  return length;
}

function utf8Length(text: string): number {
  if (text.length > SHORT_TEXT) return Buffer.byteLength(text);
  for (let index = 0; index < text.length; index += 1)
    if (text.charCodeAt(index) > LAST_ASCII) return Buffer.byteLength(text);
  return text.length;
}
