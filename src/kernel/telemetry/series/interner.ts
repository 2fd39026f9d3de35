/** One copy of strings that come again and again: the same device names a hundred series. */

/**
 * Strings remembered; then all are forgotten and remembering begins anew, so that names long gone
 * cost nothing.
 */
const MAX_STRINGS = 50_000;
/** Longer ones are seldom equal. */
const MAX_LENGTH = 256;

/** Gives equal short strings as one. */
export class Interner {
  readonly #strings = new Map<string, string>();

  intern<T>(value: T): T | string {
    if (typeof value !== "string" || value.length > MAX_LENGTH) return value;
    const known = this.#strings.get(value);
    if (known !== undefined) return known;
    if (this.#strings.size >= MAX_STRINGS) this.#strings.clear();
    this.#strings.set(value, value);
    return value;
  }
}
