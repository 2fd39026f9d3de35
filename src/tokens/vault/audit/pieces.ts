/** JSON text of large values in pieces, so that hashing does not block the event loop. */
import { nextTurn } from "../../../kernel/async/turns.ts";
import { isRawNumber } from "../../logical/json.ts";
import type { RunningHash } from "./hash.ts";
import { isScalar, measure } from "./measure.ts";

/** Characters of a string that are written at once. */
const PIECE_LENGTH = 64 * 1024;
/** What is written at once of anything else. */
const PIECE = { values: 500, bytes: 64 * 1024 };
/**
 * The loop has its turn after so many characters, or so many pieces: each a millisecond or less.
 */
const TURN_LENGTH = 256 * 1024;
const TURN_PIECES = 500;

/** Some text, and the scalar values that end in it. */
interface Piece {
  readonly text: string;
  readonly values: number;
}

/** A hash, and of how many values. */
export interface Digest {
  readonly hash: string;
  readonly count: number;
}

/** Whether a string is so long that it is hashed in pieces. */
export function isLong(value: unknown): value is string {
  return typeof value === "string" && value.length > PIECE_LENGTH;
}

/** The hash over a long string itself. */
export function hashOfText(text: string, running: RunningHash): Promise<Digest> {
  return run(
    slices(text, (slice) => slice),
    running,
  );
}

/** The hash over the JSON text of a value, as `JSON.stringify` writes it. */
export function hashOfJson(value: unknown, running: RunningHash): Promise<Digest> {
  return run(piecesOf(value), running);
}

async function run(pieces: Iterable<Piece>, running: RunningHash): Promise<Digest> {
  let count = 0;
  let length = 0;
  let taken = 0;
  let text = "";
  for (const piece of pieces) {
    text += piece.text;
    count += piece.values;
    length += piece.text.length;
    taken += 1;
    const isTurn = length >= TURN_LENGTH || taken >= TURN_PIECES;
    if (!isTurn && text.length < PIECE_LENGTH) continue;
    running.update(text);
    text = "";
    if (!isTurn) continue;
    await nextTurn();
    length = 0;
    taken = 0;
  }
  running.update(text);
  return { hash: running.end(), count };
}

function* piecesOf(value: unknown): Generator<Piece> {
  if (isLong(value)) {
    yield { text: '"', values: 1 };
    yield* slices(value, (slice) => JSON.stringify(slice).slice(1, -1));
    yield { text: '"', values: 0 };
    return;
  }
  const size = isScalar(value) ? { values: 1 } : shortSize(value);
  if (size !== undefined)
    return void (yield { text: JSON.stringify(value) ?? "null", values: size.values });
  yield* Array.isArray(value)
    ? piecesOfList(value as readonly unknown[])
    : piecesOfObject(value as Readonly<Record<string, unknown>>);
}

function* piecesOfList(list: readonly unknown[]): Generator<Piece> {
  let before = "[";
  for (const item of list) {
    yield { text: before, values: 0 };
    yield* piecesOf(item);
    before = ",";
  }
  yield { text: before === "[" ? "[]" : "]", values: 0 };
}

function* piecesOfObject(members: Readonly<Record<string, unknown>>): Generator<Piece> {
  let before = "{";
  for (const name of Object.keys(members)) {
    if (members[name] === undefined) continue;
    yield { text: `${before}${JSON.stringify(name)}:`, values: 0 };
    yield* piecesOf(members[name]);
    before = ",";
  }
  yield { text: before === "{" ? "{}" : "}", values: 0 };
}

/** The size of what can be written at once; undefined for what is more, or holds a long string. */
function shortSize(value: unknown): { readonly values: number } | undefined {
  const size = measure(value, PIECE);
  return size === undefined || holdsLong(value) ? undefined : size;
}

/** Whether a value that was measured holds a long string or number anywhere. */
export function holdsLong(value: unknown): boolean {
  if (isRawNumber(value)) return value.rawJSON.length > PIECE_LENGTH;
  if (isScalar(value)) return isLong(value);
  return Object.values(value as object).some(holdsLong);
}

function* slices(text: string, written: (slice: string) => string): Generator<Piece> {
  for (let from = 0; from < text.length;) {
    let to = Math.min(text.length, from + PIECE_LENGTH);
    // Both halves of a surrogate pair stay together.
    if (to < text.length && (text.charCodeAt(to - 1) & 0xfc00) === 0xd800) to -= 1;
    yield { text: written(text.slice(from, to)), values: 0 };
    from = to;
  }
}
