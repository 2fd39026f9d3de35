/**
 * Shortens the plain texts of a record beside its data where the record would be too long: the end
 * is replaced by a hash of what was left out.
 */
import type { Hash } from "./hash.ts";

/** A text, or its hash when it has more bytes than that. */
export function cutText(text: string, maxBytes: number, hash: Hash): string {
  return Buffer.byteLength(text) > maxBytes ? hash(text) : text;
}

/** A list as JSON text; its last element counts and hashes what does not fit. */
export function cutList(texts: readonly string[], maxBytes: number, hash: Hash): string {
  const whole = JSON.stringify(texts);
  if (Buffer.byteLength(whole) <= maxBytes) return whole;
  const kept = fitting(
    texts.map((text) => JSON.stringify(text)),
    maxBytes,
  );
  const rest = texts.slice(kept);
  return JSON.stringify([
    ...texts.slice(0, kept),
    `${rest.length} more: ${hash(JSON.stringify(rest))}`,
  ]);
}

/** A map as JSON text; a last member hashes what does not fit. */
export function cutMap(
  map: Readonly<Record<string, string>>,
  maxBytes: number,
  hash: Hash,
): string {
  const whole = JSON.stringify(map);
  if (Buffer.byteLength(whole) <= maxBytes) return whole;
  const entries = Object.entries(map);
  const kept = fitting(
    entries.map(([name, text]) => JSON.stringify({ [name]: text })),
    maxBytes,
  );
  const rest = Object.fromEntries(entries.slice(kept));
  return JSON.stringify({
    ...Object.fromEntries(entries.slice(0, kept)),
    too_many_values: `${entries.length - kept} more: ${hash(JSON.stringify(rest))}`,
  });
}

/** How many of the texts fit, in order. */
function fitting(texts: readonly string[], maxBytes: number): number {
  let bytes = 2;
  const over = texts.findIndex((text) => (bytes += Buffer.byteLength(text) + 1) > maxBytes);
  return over < 0 ? texts.length : over;
}
