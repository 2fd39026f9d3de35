/** Tables of RFC 8259 for the scanner: byte classes, the number grammar, the three literals. */

/** What a byte may begin. */
export const Kind = {
  other: 0,
  space: 1,
  quote: 2,
  digit: 3,
  minus: 4,
  word: 5,
  openObject: 6,
  openArray: 7,
  closeObject: 8,
  closeArray: 9,
  comma: 10,
  colon: 11,
} as const;

/** Class of each byte. */
export const kinds: Uint8Array = new Uint8Array(256);
for (const [text, kind] of [
  [" \t\n\r", Kind.space],
  ['"', Kind.quote],
  ["0123456789", Kind.digit],
  ["-", Kind.minus],
  ["tfn", Kind.word],
  ["{", Kind.openObject],
  ["[", Kind.openArray],
  ["}", Kind.closeObject],
  ["]", Kind.closeArray],
  [",", Kind.comma],
  [":", Kind.colon],
] as const) {
  for (const character of text) kinds[character.charCodeAt(0)] = kind;
}

/** `true`, `false` and `null` by their first byte. */
export const words: ReadonlyMap<number, string> = new Map(
  ["true", "false", "null"].map((word) => [word.charCodeAt(0), word]),
);

/** May follow a backslash in a string, besides `u`. */
export const escapes: Uint8Array = new Uint8Array(256);
for (const character of '"\\/bfnrt') escapes[character.charCodeAt(0)] = 1;

/** Whether a byte is a hexadecimal digit. */
export const hexadecimal: Uint8Array = new Uint8Array(256);
for (const character of "0123456789abcdefABCDEF") hexadecimal[character.charCodeAt(0)] = 1;

const numberStates = [
  "begin",
  "minus",
  "zero",
  "integer",
  "point",
  "fraction",
  "exponent",
  "sign",
  "power",
] as const;

/** Initial state of a number. */
export const NUMBER_BEGIN = 1;

const steps: Readonly<
  Record<
    (typeof numberStates)[number],
    readonly (readonly [string, (typeof numberStates)[number]])[]
  >
> = {
  begin: [
    ["-", "minus"],
    ["0", "zero"],
    ["123456789", "integer"],
  ],
  minus: [
    ["0", "zero"],
    ["123456789", "integer"],
  ],
  zero: [
    [".", "point"],
    ["eE", "exponent"],
  ],
  integer: [
    ["0123456789", "integer"],
    [".", "point"],
    ["eE", "exponent"],
  ],
  point: [["0123456789", "fraction"]],
  fraction: [
    ["0123456789", "fraction"],
    ["eE", "exponent"],
  ],
  exponent: [
    ["+-", "sign"],
    ["0123456789", "power"],
  ],
  sign: [["0123456789", "power"]],
  power: [["0123456789", "power"]],
};

/**
 * Next state by `state * 256 + byte`; 0 where the byte cannot continue the number. States count
 * from 1.
 */
export const numberSteps: Uint8Array = new Uint8Array((numberStates.length + 1) * 256);
for (const [index, state] of numberStates.entries()) {
  for (const [characters, next] of steps[state]) {
    for (const character of characters)
      numberSteps[(index + 1) * 256 + character.charCodeAt(0)] = numberStates.indexOf(next) + 1;
  }
}

/** Whether a number may end in a state. */
export const numberEnds: Uint8Array = Uint8Array.from(["", ...numberStates], (state) =>
  ["zero", "integer", "fraction", "power"].includes(state) ? 1 : 0,
);
