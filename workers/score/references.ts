/** References: long numbers without a known meaning, and numbers in several groups. Digits only. */
import { collect, type Found } from "./token-sets.ts";

const REFERENCE = /\b(?:\d{3,}(?:[-./]\d{2,})+|\d{6,})\b/g;

/**
 * The references of a lower-case text whose dates, times and amounts are claimed; each number
 * counts once.
 */
export function findReferences(text: string): readonly Found[] {
  return collect(text, REFERENCE, ([number]) => number.replaceAll(/\D/g, ""));
}
