/** How clean a text is: reading errors of a scan leave characters that no language uses. */

/** Units of a text that are looked at. */
const SAMPLE_UNITS = 10_000;
const ORDINARY = /[\p{L}\p{M}\p{N}\s.,;:!?'"()/%&+\-–—’“”„€$£§]+/gu;

/**
 * Share of a text's first characters that are letters, digits, space and usual marks, 0 to 1; an
 * empty text has 0.
 */
export function textQuality(text: string): number {
  const sample = text.slice(0, SAMPLE_UNITS).toWellFormed();
  if (sample.length === 0) return 0;
  let ordinary = 0;
  for (const [run] of sample.matchAll(ORDINARY)) ordinary += run.length;
  return ordinary / sample.length;
}
