/**
 * Unpacks bzip2, which Node does not. The format has no specification but its reference
 * implementation; this follows the description at
 * https://github.com/dsnet/compress/blob/master/doc/bzip2-format.pdf.
 */
import { stopped } from "../control.ts";

/** Before each block. */
export const BLOCK_MAGIC = 0x314159265359;
/** Before the end of a stream. */
export const END_MAGIC = 0x177245385090;
const MAX_LEVEL = 9;
const LEVEL_BYTES = 100_000;
/** Five bytes of a block may stand for 259. */
const BLOCK_OUTPUT_BYTES = 52 * MAX_LEVEL * LEVEL_BYTES;
const SYMBOLS_PER_GROUP = 50;
const MAX_CODE_BITS = 20;

/** Bits of a stream, the highest of each byte first. */
class BitReader {
  readonly #bytes: Uint8Array;
  #at: number;
  #bits = 0;
  #count = 0;

  constructor(bytes: Uint8Array, at: number) {
    this.#bytes = bytes;
    this.#at = at;
  }

  /** At most 24 bits. Throws at the end of the bytes. */
  read(count: number): number {
    while (this.#count < count) {
      const byte = this.#bytes[this.#at++];
      if (byte === undefined) throw damaged();
      this.#bits = ((this.#bits << 8) | byte) >>> 0;
      this.#count += 8;
    }
    this.#count -= count;
    const value = (this.#bits >>> this.#count) & ((1 << count) - 1);
    return value;
  }

  /** 48 bits. */
  magic(): number {
    return this.read(24) * 2 ** 24 + this.read(24);
  }

  /** 32 bits. */
  word(): number {
    return this.read(16) * 2 ** 16 + this.read(16);
  }

  /** The first byte of which no bit has been read. */
  nextByte(): number {
    return this.#at - Math.floor(this.#count / 8);
  }
}

/** Bytes that grow to a limit. */
class Output {
  readonly #limitBytes: number;
  bytes = new Uint8Array(64 * 1024);
  length = 0;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  add(byte: number, times: number): void {
    const end = this.length + times;
    if (end > this.#limitBytes)
      throw Object.assign(new Error("the output is too large"), { code: "ERR_BUFFER_TOO_LARGE" });
    if (end > this.bytes.byteLength) {
      const grown = new Uint8Array(Math.max(end, 2 * this.bytes.byteLength));
      grown.set(this.bytes);
      this.bytes = grown;
    }
    this.bytes.fill(byte, this.length, end);
    this.length = end;
  }
}

/**
 * The bytes of all streams in `packed`. Throws an error with code `ERR_BUFFER_TOO_LARGE` beyond the
 * limit, `cancelled`, or one without a code when the data is damaged.
 */
export function unpackBzip2(
  packed: Uint8Array,
  limitBytes: number,
  cancelled: () => boolean,
): Uint8Array {
  const output = new Output(limitBytes);
  let at = 0;
  do at = unpackStream(packed, at, output, cancelled);
  while (packed[at] === 0x42 && packed[at + 1] === 0x5a && packed[at + 2] === 0x68);
  return output.bytes.subarray(0, output.length);
}

// Returns where the next stream begins.
function unpackStream(
  packed: Uint8Array,
  start: number,
  output: Output,
  cancelled: () => boolean,
): number {
  const level = (packed[start + 3] ?? 0) - 0x30;
  if (level < 1 || level > MAX_LEVEL) throw damaged();
  const bits = new BitReader(packed, start + 4);
  const block = new Uint32Array(level * LEVEL_BYTES);
  let checksum = 0;
  for (;;) {
    const magic = bits.magic();
    if (magic === END_MAGIC) break;
    if (magic !== BLOCK_MAGIC) throw damaged();
    if (cancelled()) throw stopped();
    const actual = readCheckedBlock(bits, block, output);
    checksum = (((checksum << 1) | (checksum >>> 31)) ^ actual) >>> 0;
  }
  if (bits.word() !== checksum) throw damaged();
  return bits.nextByte();
}

/**
 * The bytes of the block whose magic number begins `bit` bits into `packed`. Throws when it is
 * damaged.
 */
export function unpackBlock(packed: Uint8Array, bit: number): Uint8Array {
  const bits = new BitReader(packed, 0);
  bits.read(bit);
  if (bits.magic() !== BLOCK_MAGIC) throw damaged();
  const output = new Output(BLOCK_OUTPUT_BYTES);
  readCheckedBlock(bits, new Uint32Array(MAX_LEVEL * LEVEL_BYTES), output);
  return output.bytes.subarray(0, output.length);
}

/** The bytes of the first block of a file's beginning. Throws when it is damaged or not all there. */
export function unpackFirstBlock(packed: Uint8Array): Uint8Array {
  return unpackBlock(packed.subarray(4), 0);
}

// Returns the block's checksum.
function readCheckedBlock(bits: BitReader, block: Uint32Array, output: Output): number {
  const expected = bits.word();
  const from = output.length;
  readBlock(bits, block, output);
  if (checksumOf(output.bytes.subarray(from, output.length)) !== expected) throw damaged();
  return expected;
}

function readBlock(bits: BitReader, block: Uint32Array, output: Output): void {
  if (bits.read(1) === 1) throw damaged();
  const origin = bits.read(24);
  const symbols = readSymbolMap(bits);
  const tables = readTables(bits, symbols.length + 2);
  const length = readMoves(bits, block, symbols, tables);
  if (origin >= length) throw damaged();
  invertTransform(block.subarray(0, length));
  writeRuns(block, length, origin, output);
}

// Which byte values the block has, as two levels of 16 bits.
function readSymbolMap(bits: BitReader): Uint8Array {
  const ranges = bits.read(16);
  const symbols: number[] = [];
  for (let range = 0; range < 16; range++) {
    if ((ranges & (0x8000 >>> range)) === 0) continue;
    const used = bits.read(16);
    for (let i = 0; i < 16; i++) if ((used & (0x8000 >>> i)) !== 0) symbols.push(range * 16 + i);
  }
  if (symbols.length === 0) throw damaged();
  return Uint8Array.from(symbols);
}

/** A Huffman code by the numbers of its canonical form. */
interface CodeTable {
  /** By length: the greatest code of that length, -1 when there is none. */
  readonly limits: Int32Array;
  /** By length: what to subtract from a code for its index in `order`. */
  readonly bases: Int32Array;
  /** The symbols by their codes. */
  readonly order: Uint16Array;
}

interface Tables {
  readonly codes: readonly CodeTable[];
  /** The code of each group of symbols. */
  readonly selectors: Uint8Array;
}

function readTables(bits: BitReader, alphabet: number): Tables {
  const count = bits.read(3);
  const selectorCount = bits.read(15);
  if (count < 2 || count > 6 || selectorCount < 1) throw damaged();
  const recent = [0, 1, 2, 3, 4, 5].slice(0, count);
  const selectors = new Uint8Array(selectorCount);
  for (let i = 0; i < selectorCount; i++) {
    let position = 0;
    while (bits.read(1) === 1) if (++position >= count) throw damaged();
    const [code = 0] = recent.splice(position, 1);
    recent.unshift(code);
    selectors[i] = code;
  }
  return { selectors, codes: recent.map(() => readCode(bits, alphabet)) };
}

function readCode(bits: BitReader, alphabet: number): CodeTable {
  const lengths = new Uint8Array(alphabet);
  let length = bits.read(5);
  for (let symbol = 0; symbol < alphabet; symbol++) {
    for (;;) {
      if (length < 1 || length > MAX_CODE_BITS) throw damaged();
      if (bits.read(1) === 0) break;
      length += bits.read(1) === 0 ? 1 : -1;
    }
    lengths[symbol] = length;
  }
  return canonicalCode(lengths);
}

function canonicalCode(lengths: Uint8Array): CodeTable {
  const limits = new Int32Array(MAX_CODE_BITS + 1).fill(-1);
  const bases = new Int32Array(MAX_CODE_BITS + 1);
  const order = new Uint16Array(lengths.length);
  let code = 0;
  let placed = 0;
  for (let length = 1; length <= MAX_CODE_BITS; length++) {
    code <<= 1;
    bases[length] = code - placed;
    for (const [symbol, of] of lengths.entries()) {
      if (of !== length) continue;
      order[placed++] = symbol;
      code += 1;
    }
    limits[length] = code - 1;
  }
  return { limits, bases, order };
}

// Undoes Huffman, run-length and move-to-front coding; the low bytes of `block` are its result.
function readMoves(
  bits: BitReader,
  block: Uint32Array,
  symbols: Uint8Array,
  { codes, selectors }: Tables,
): number {
  const front = Uint8Array.from(symbols);
  const end = symbols.length + 1;
  let length = 0;
  let run = 0;
  let runBit = 1;
  for (let read = 0; ; read++) {
    const selector = selectors[Math.floor(read / SYMBOLS_PER_GROUP)];
    const code = selector === undefined ? undefined : codes[selector];
    if (code === undefined) throw damaged();
    const symbol = readSymbol(bits, code);
    if (symbol < 2) {
      run += runBit << symbol;
      runBit <<= 1;
      if (run > block.length) throw damaged();
      continue;
    }
    if (run > 0) {
      if (length + run > block.length) throw damaged();
      block.fill(front[0] ?? 0, length, length + run);
      length += run;
      run = 0;
      runBit = 1;
    }
    if (symbol === end) return length;
    if (length === block.length) throw damaged();
    const byte = front[symbol - 1] ?? 0;
    front.copyWithin(1, 0, symbol - 1);
    front[0] = byte;
    block[length++] = byte;
  }
}

function readSymbol(bits: BitReader, { limits, bases, order }: CodeTable): number {
  let code = 0;
  for (let length = 1; length <= MAX_CODE_BITS; length++) {
    code = (code << 1) | bits.read(1);
    if (code <= (limits[length] ?? -1)) {
      const symbol = order[code - (bases[length] ?? 0)];
      if (symbol === undefined) break;
      return symbol;
    }
  }
  throw damaged();
}

// Burrows-Wheeler: the upper 24 bits of each word become the position of the byte that follows.
function invertTransform(block: Uint32Array): void {
  const starts = new Uint32Array(256);
  for (const byte of block) starts[byte & 0xff] = (starts[byte & 0xff] ?? 0) + 1;
  let sum = 0;
  for (let byte = 0; byte < 256; byte++) {
    const count = starts[byte] ?? 0;
    starts[byte] = sum;
    sum += count;
  }
  for (let i = 0; i < block.length; i++) {
    const byte = (block[i] ?? 0) & 0xff;
    const position = starts[byte] ?? 0;
    starts[byte] = position + 1;
    block[position] = ((block[position] ?? 0) | (i << 8)) >>> 0;
  }
}

// Follows the positions and undoes the first run-length coding: four equal bytes are followed by a
// count of more.
function writeRuns(block: Uint32Array, length: number, origin: number, output: Output): void {
  let position = (block[origin] ?? 0) >>> 8;
  let last = -1;
  let equal = 0;
  for (let i = 0; i < length; i++) {
    const word = block[position] ?? 0;
    const byte = word & 0xff;
    position = word >>> 8;
    if (equal === 4) {
      output.add(last, byte);
      equal = 0;
      last = -1;
      continue;
    }
    equal = byte === last ? equal + 1 : 1;
    last = byte;
    output.add(byte, 1);
  }
}

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 24;
  for (let bit = 0; bit < 8; bit++) crc = crc < 0 ? (crc << 1) ^ 0x04c11db7 : crc << 1;
  return crc >>> 0;
});

// Not zlib's: the bits of each byte are taken in the other order.
function checksumOf(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = ((crc << 8) ^ (CRC_TABLE[(crc >>> 24) ^ byte] ?? 0)) >>> 0;
  return ~crc >>> 0;
}

function damaged(): Error {
  return new Error("the data is damaged");
}
