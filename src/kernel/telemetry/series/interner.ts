/** Interns repeated strings: the same device name appears in a hundred series. */

/** At this many strings the table is cleared, so that names no longer in use cost nothing. */
const MAX_STRINGS = 50_000;
/** Longer strings are rarely equal. */
const MAX_LENGTH = 256;

/** Returns one copy for equal short strings. */
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
