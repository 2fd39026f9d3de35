/**
 * A picture of a page as the archive's thumbnails are: WebP, lossless (RFC 9649 §3), two shades of
 * grey, each word of the text a dark bar.
 */
const WIDTH = 124;
const HEIGHT = 176;
const MARGIN = 10;
const LINE_PIXELS = 4;
const [INK, PAPER] = [96, 252];

/** The first page of a text. */
export function drawThumbnail(text: string): Buffer {
  return encode(drawWords(text));
}

/** One byte a pixel: 1 is paper. */
function drawWords(text: string): Uint8Array {
  const pixels = new Uint8Array(WIDTH * HEIGHT).fill(1);
  let [x, y] = [MARGIN, MARGIN];
  for (const [word] of text.slice(0, 8_000).matchAll(/\S+|\n/g)) {
    if (word === "\n" || x + word.length > WIDTH - MARGIN) {
      x = MARGIN;
      y += LINE_PIXELS;
    }
    if (y + 2 > HEIGHT - MARGIN) break;
    if (word === "\n") continue;
    for (const row of [y, y + 1])
      pixels.fill(0, row * WIDTH + x, row * WIDTH + x + Math.min(word.length, WIDTH - MARGIN - x));
    x += word.length + 1;
  }
  return pixels;
}

function encode(pixels: Uint8Array): Buffer {
  const bits = createBits();
  bits.put(WIDTH - 1, 14);
  bits.put(HEIGHT - 1, 14);
  // No alpha, version 0.
  bits.put(0, 4);
  // One transform, which adds green to red and blue: every pixel is grey. Then none, no colour cache,
  // one group of prefix codes.
  bits.put(0b1 | (2 << 1), 3);
  bits.put(0, 3);
  // Prefix codes of green (two symbols), red, blue, alpha and distance (one symbol each).
  bits.put(0b111 | (INK << 3) | (PAPER << 11), 19);
  bits.put(0b0001, 4);
  bits.put(0b0001, 4);
  bits.put(0b101 | (255 << 3), 11);
  bits.put(0b0001, 4);
  for (const pixel of pixels) bits.put(pixel, 1);
  const data = Buffer.concat([Buffer.from([0x2f]), bits.bytes()]);
  const padded = data.length % 2 === 0 ? data : Buffer.concat([data, Buffer.alloc(1)]);
  const head = Buffer.from("RIFF____WEBPVP8L____", "latin1");
  head.writeUInt32LE(head.length - 8 + padded.length, 4);
  head.writeUInt32LE(data.length, 16);
  return Buffer.concat([head, padded]);
}

/** Bits, lowest first. */
function createBits(): { put(value: number, count: number): void; bytes(): Buffer } {
  const bytes: number[] = [];
  let at = 0;
  return {
    put(value, count) {
      for (let bit = 0; bit < count; bit += 1, at += 1) {
        if (at % 8 === 0) bytes.push(0);
        bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) | (((value >> bit) & 1) << (at % 8));
      }
    },
    bytes: () => Buffer.from(bytes),
  };
}
