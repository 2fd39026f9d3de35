/** The text as the analysis sees it: one normal form, and the sample that is looked at closely. */

/** A text is read up to this many UTF-16 units. */
export const MAX_TEXT_UNITS = 500_000;

/** The part of a text that is read; a text in UTF-8 is decoded only where it has to be cut. */
export function cutText(text: string | Uint8Array): string | Uint8Array {
  if (text.length <= MAX_TEXT_UNITS) return text;
  const whole = typeof text === "string" ? text : Buffer.from(text).toString("utf8");
  return whole.slice(0, MAX_TEXT_UNITS);
}

/**
 * The normal form: cut, lone surrogates replaced (as storing it in UTF-8 would), lower-case, every
 * run of white space one space, none at the ends.
 */
export function normalise(text: string): string {
  return text.slice(0, MAX_TEXT_UNITS).toWellFormed().toLowerCase().replace(/\s+/g, " ").trim();
}

/**
 * What the fuzzy ratio and the tokens are taken from: the first `units` UTF-16 units of a
 * normalised text. Half a character at the cut becomes U+FFFD, so that samples survive UTF-8.
 */
export function sampleOf(normalised: string, units: number): string {
  return normalised.slice(0, units).toWellFormed();
}
