/** How clean a text is: reading errors of a scan leave characters that no language uses. */

/** UTF-16 units of a text that are looked at. */
export const QUALITY_UNITS = 10_000;
const ORDINARY = /^[\p{L}\p{M}\p{N}\s.,;:!?'"()/%&+\-–—’“”„€$£§]$/u;

/** Whether a UTF-16 unit is ordinary by itself: 0 not looked up yet, 1 yes, 2 no. */
const known = new Uint8Array(65_536);

/**
 * Share of a text's first characters that are letters, digits, space and usual marks, 0 to 1; an
 * empty text has 0.
 */
export function textQuality(text: string): number {
  const sample = text.slice(0, QUALITY_UNITS).toWellFormed();
  if (sample.length === 0) return 0;
  let ordinary = 0;
  for (let i = 0; i < sample.length; i += 1) {
    const unit = sample.charCodeAt(i);
    if (unit >= 0xd800 && unit < 0xdc00) {
      if (ORDINARY.test(sample.slice(i, i + 2))) ordinary += 2;
      i += 1;
      continue;
    }
    known[unit] ||= ORDINARY.test(String.fromCharCode(unit)) ? 1 : 2;
    if (known[unit] === 1) ordinary += 1;
  }
  return ordinary / sample.length;
}
