/**
 * Counts the values of an rpc message before the library parses it synchronously: many small values
 * take a hundred times longer than one long text of the same size. Stops at the limit.
 */
import { ScalarType, type DescField, type DescMessage } from "@bufbuild/protobuf";
import { Code as RpcCode, ConnectError } from "@connectrpc/connect";
import { whiteSpaceEnd } from "../src/kernel/json/white-space.ts";

/** Fields, list elements and map entries of one message, including nested ones. */
const MAX_MESSAGE_VALUES = 10_000;
/** Nesting depth of messages, or of objects and lists in JSON; the library's own limit. */
const MAX_DEPTH = 100;
/** Characters of a name or number in JSON. */
const MAX_WORD_LENGTH = 256;

/**
 * Throws `RESOURCE_EXHAUSTED` for a protobuf message with too many values. Malformed input is left
 * to the parser.
 */
export function assertFewFields(desc: DescMessage, bytes: Uint8Array): void {
  new FieldCounter(bytes).message(desc, 0, bytes.length, 0);
}

const LENGTH_DELIMITED = 2;
/** Field number of the value in a map entry. */
const MAP_VALUE = 2;

class FieldCounter {
  readonly #bytes: Uint8Array;
  #at = 0;
  #values = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  message(desc: DescMessage, from: number, to: number, depth: number): void {
    if (depth > MAX_DEPTH) return;
    const fields = fieldsOf(desc);
    this.#at = from;
    while (this.#at < to) {
      this.#count(1);
      const tag = this.#varint();
      if ((tag & 7) === LENGTH_DELIMITED) this.#delimited(fields.get(tag >>> 3), to, depth);
      else this.#fixed(tag & 7);
    }
  }

  #delimited(field: DescField | undefined, to: number, depth: number): void {
    const length = this.#varint();
    const [from, end] = [this.#at, Math.min(this.#at + length, to)];
    if (field?.fieldKind === "map") this.#entry(field.message, end, depth + 1);
    else if (field?.message !== undefined) this.message(field.message, from, end, depth + 1);
    else if (field?.fieldKind === "list") this.#packed(field.scalar ?? ScalarType.INT32, from, end);
    this.#at = end;
  }

  /** `value` is undefined when the map has scalars. */
  #entry(value: DescMessage | undefined, end: number, depth: number): void {
    while (this.#at < end) {
      this.#count(1);
      const tag = this.#varint();
      if ((tag & 7) !== LENGTH_DELIMITED) this.#fixed(tag & 7);
      else {
        const length = this.#varint();
        const to = Math.min(this.#at + length, end);
        if (value !== undefined && tag >>> 3 === MAP_VALUE)
          this.message(value, this.#at, to, depth);
        this.#at = to;
      }
    }
  }

  // Groups have no length; their content is counted field by field.
  #fixed(wireType: number): void {
    if (wireType === 0) this.#varint();
    else if (wireType === 1) this.#at += 8;
    else if (wireType === 5) this.#at += 4;
  }

  #packed(scalar: ScalarType, from: number, end: number): void {
    const width = WIDTHS.get(scalar);
    if (width === undefined) {
      // Each varint ends with a byte whose top bit is clear.
      for (let at = from; at < end; at++) if ((this.#bytes[at] ?? 0) < 0x80) this.#count(1);
    } else this.#count(Math.floor((end - from) / width));
  }

  #count(values: number): void {
    this.#values += values;
    if (this.#values > MAX_MESSAGE_VALUES) throw tooMuch(`more than ${MAX_MESSAGE_VALUES} values`);
  }

  /** The lower 32 bits: tags and lengths have no more. */
  #varint(): number {
    let value = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      const byte = this.#bytes[this.#at++] ?? 0;
      if (shift < 32) value |= (byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    return value >>> 0;
  }
}

/**
 * Bytes per element of a packed list; lists of text and bytes are never packed, so a whole element
 * counts as one.
 */
const WIDTHS: ReadonlyMap<ScalarType, number> = new Map<ScalarType, number>([
  [ScalarType.STRING, Number.POSITIVE_INFINITY],
  [ScalarType.BYTES, Number.POSITIVE_INFINITY],
  [ScalarType.FIXED32, 4],
  [ScalarType.SFIXED32, 4],
  [ScalarType.FLOAT, 4],
  [ScalarType.FIXED64, 8],
  [ScalarType.SFIXED64, 8],
  [ScalarType.DOUBLE, 8],
]);

const fieldsByNumber = new WeakMap<DescMessage, ReadonlyMap<number, DescField>>();

function fieldsOf(desc: DescMessage): ReadonlyMap<number, DescField> {
  let fields = fieldsByNumber.get(desc);
  if (fields === undefined)
    fieldsByNumber.set(desc, (fields = new Map(desc.fields.map((field) => [field.number, field]))));
  return fields;
}

const BRACE = 0x7b;
const BRACKET = 0x5b;
const BRACE_END = 0x7d;
const BRACKET_END = 0x5d;
const COMMA = 0x2c;
const COLON = 0x3a;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * Throws `RESOURCE_EXHAUSTED` for a JSON message with too many values, too deep nesting or a too
 * long name or number.
 */
export function assertFewValues(bytes: Uint8Array): void {
  let [values, depth, word] = [0, 0, 0];
  for (let at = 0; at < bytes.length; at++) {
    switch (bytes[at]) {
      case QUOTE: {
        const end = endOfString(bytes, at);
        word = end - at;
        at = end;
        break;
      }
      case BRACE:
      case BRACKET:
        depth += 1;
        if (depth > MAX_DEPTH) throw tooMuch(`more than ${MAX_DEPTH} levels of nesting`);
        values += 1;
        word = 0;
        break;
      case COMMA:
        values += 1;
        word = 0;
        break;
      case BRACE_END:
      case BRACKET_END:
        depth -= 1;
        word = 0;
        break;
      case COLON:
        if (word > MAX_WORD_LENGTH) throw tooMuch(`a name of more than ${MAX_WORD_LENGTH} bytes`);
        word = 0;
        break;
      case 0x20:
      case 0x09:
      case 0x0a:
      case 0x0d:
        // Megabytes of it take a few milliseconds this way, and 30 through the cases above.
        at = whiteSpaceEnd(bytes, at) - 1;
        break;
      default:
        word += 1;
        if (word > MAX_WORD_LENGTH)
          throw tooMuch(`a number of more than ${MAX_WORD_LENGTH} characters`);
    }
    if (values > MAX_MESSAGE_VALUES) throw tooMuch(`more than ${MAX_MESSAGE_VALUES} values`);
  }
}

function endOfString(bytes: Uint8Array, from: number): number {
  let at = from + 1;
  for (; at < bytes.length; at++) {
    if (bytes[at] === BACKSLASH) at += 1;
    else if (bytes[at] === QUOTE) return at;
  }
  return bytes.length;
}

function tooMuch(what: string): ConnectError {
  return new ConnectError(
    `the message has ${what}; send less at a time`,
    RpcCode.ResourceExhausted,
  );
}
