/** Unpacks one block of a large bzip2 file. */
import type { TaskControl } from "../control.ts";
import { unpackBlock } from "./bzip2.ts";
import type { Bzip2Block } from "./tasks.ts";

/** The bytes of the block, empty ones when it is damaged: no block of bzip2 is empty. */
export function run({ bytes, bit }: Bzip2Block, control: TaskControl): Uint8Array {
  try {
    const unpacked = unpackBlock(bytes, bit).slice();
    control.transfer(unpacked.buffer);
    return unpacked;
  } catch {
    return new Uint8Array(0);
  }
}
