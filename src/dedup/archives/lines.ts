/** Cuts a stream of bytes into lines whatever the chunks, with bounded memory. */

/** A line without its end; a line over the limit has no bytes. */
export interface Line {
  /** From 1. */
  readonly number: number;
  readonly bytes: Uint8Array | undefined;
  /** Where the bytes begin in the stream. */
  readonly offset: number;
}

/** Takes chunks, gives lines. */
export interface LineSplitter {
  /** The lines that end in this chunk. They may share its memory. */
  push(chunk: Uint8Array): Line[];
  /** The last line, when the bytes do not end with a line end. */
  end(): Line[];
}

const LF = 10;
const CR = 13;

/**
 * A splitter at LF or CRLF; a UTF-8 byte order mark at the very beginning is dropped. Lines over
 * `limitBytes` are given without bytes.
 */
export function createLineSplitter(limitBytes: number): LineSplitter {
  let held: Uint8Array[] = [];
  let heldBytes = 0;
  let number = 0;
  let begins = 0;
  const hold = (part: Uint8Array): void => {
    heldBytes += part.byteLength;
    // Past the limit only the length is tracked; one more byte allows for the CR of a line that
    // just fits.
    if (heldBytes > limitBytes + 1) held = [];
    else held.push(part);
  };
  const finish = (): Line => {
    number += 1;
    const fits = heldBytes <= limitBytes + 1;
    const joined = fits ? join(held) : undefined;
    const whole = joined && trimEnd(joined, number);
    const offset = begins + startOf(joined, number);
    begins += heldBytes + 1;
    held = [];
    heldBytes = 0;
    return {
      number,
      offset,
      bytes: whole !== undefined && whole.byteLength <= limitBytes ? whole : undefined,
    };
  };
  return {
    push(chunk) {
      const lines: Line[] = [];
      let start = 0;
      for (let at = chunk.indexOf(LF); at >= 0; at = chunk.indexOf(LF, start)) {
        hold(chunk.subarray(start, at));
        lines.push(finish());
        start = at + 1;
      }
      // A copy, so that a short rest does not keep the whole chunk.
      if (start < chunk.byteLength) hold(chunk.slice(start));
      return lines;
    },
    end: () => (heldBytes > 0 ? [finish()] : []),
  };
}

function join(parts: readonly Uint8Array[]): Uint8Array {
  return parts.length === 1 ? (parts[0] as Uint8Array) : Buffer.concat(parts);
}

function trimEnd(bytes: Uint8Array, number: number): Uint8Array {
  const end = bytes[bytes.byteLength - 1] === CR ? bytes.byteLength - 1 : bytes.byteLength;
  return bytes.subarray(startOf(bytes, number), end);
}

function startOf(bytes: Uint8Array | undefined, number: number): number {
  return number === 1 && bytes?.[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
}
