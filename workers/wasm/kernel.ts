/**
 * The WebAssembly module as this thread sees it: instantiated at first use, with its tables filled
 * and views on its memory. What it computes is in `workers/wasm/assembly`.
 */
import { WASM_MODULE } from "./module.ts";

/** A constant of the module: an address in bytes. */
interface Address {
  readonly value: number;
}

/** The exports of the module. */
interface Exports {
  readonly memory: WebAssembly.Memory;
  readonly TEXT: Address;
  readonly RESULT: Address;
  readonly SHINGLES: Address;
  readonly SHINGLES_SCRATCH: Address;
  readonly BANDS: Address;
  readonly LOW_BYTES: Address;
  readonly FOLD_TWO: Address;
  readonly FOLD_THREE: Address;
  readonly ROWS: Address;
  readonly COLUMNS: Address;
  readonly HISTOGRAM: Address;
  readonly WORDS: Address;
  compareSketches(count: number, stride: number): void;
  listUnmet(first: number, end: number, bands: number, reach: number): number;
  read(length: number, ngramSize: number, folded: boolean): number;
  sketch(shingles: number, size: number, bands: number): void;
  distinct(shingles: number): number;
  common(countA: number, countB: number, least: number): number;
  sortWords(units: number): number;
  mergeBound(rows: number, columns: number): number;
  distance(rows: number, columns: number, limit: number, first: number): number;
}

/** The functions, the memory, and where things lie in it. */
export interface Kernel {
  readonly functions: Omit<Exports, "memory">;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly buffer: Buffer<ArrayBuffer>;
  readonly words: Uint32Array<ArrayBuffer>;
  readonly units: Uint16Array<ArrayBuffer>;
  /** Byte addresses. */
  readonly at: {
    readonly text: number;
    readonly result: number;
    readonly shingles: number;
    readonly otherShingles: number;
    readonly bands: number;
    readonly lowBytes: number;
    readonly rows: number;
    readonly columns: number;
    readonly histogram: number;
    readonly wordHashes: number;
  };
}

let made: Kernel | undefined;

/** The module of this thread. */
export function kernel(): Kernel {
  return (made ??= createKernel());
}

function createKernel(): Kernel {
  const module = new WebAssembly.Module(Buffer.from(WASM_MODULE, "base64"));
  const functions = new WebAssembly.Instance(module, {}).exports as unknown as Exports;
  const memory = functions.memory.buffer;
  const bytes = new Uint8Array(memory);
  const units = new Uint16Array(memory);
  units.set(foldTwo(), functions.FOLD_TWO.value / 2);
  bytes.set(foldThree(), functions.FOLD_THREE.value);
  return {
    functions,
    bytes,
    buffer: Buffer.from(memory),
    units,
    words: new Uint32Array(memory),
    at: {
      text: functions.TEXT.value,
      result: functions.RESULT.value,
      shingles: functions.SHINGLES.value,
      otherShingles: functions.SHINGLES_SCRATCH.value,
      bands: functions.BANDS.value,
      lowBytes: functions.LOW_BYTES.value,
      rows: functions.ROWS.value,
      columns: functions.COLUMNS.value,
      histogram: functions.HISTOGRAM.value,
      wordHashes: functions.WORDS.value,
    },
  };
}

/**
 * Per character of two bytes the two bytes of its lower-case form, two spaces for white space, and 0
 * where the form is longer or depends on the neighbours (final sigma).
 */
function foldTwo(): Uint16Array {
  const table = new Uint16Array(2_048);
  for (let point = 0x80; point < 0x800; point += 1) {
    const character = String.fromCharCode(point);
    const lower = /\s/.test(character) ? "  " : character.toLowerCase();
    const bytes = Buffer.from(lower, "utf8");
    if (bytes.length === 2 && character !== "Σ") table[point] = bytes.readUInt16LE();
  }
  return table;
}

/** Per 64 characters of three bytes: 1 when case folding changes one, 2 when one is white space. */
function foldThree(): Uint8Array {
  const table = new Uint8Array(1_024);
  for (let page = 0x800 >> 6; page < table.length; page += 1) {
    const first = page << 6;
    if (first >= 0xd800 && first < 0xe000) continue;
    const characters = String.fromCharCode(...Array.from({ length: 64 }, (_, i) => first + i));
    if (characters.toLowerCase() !== characters) table[page] = 1;
    else if (/\s/.test(characters)) table[page] = 2;
  }
  return table;
}
