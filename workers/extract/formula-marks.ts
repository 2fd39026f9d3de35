/** Office formulas (OMML, ECMA-376-1, 22.1, and its words in RTF) as text. */

/**
 * What stands before and after each part of a formula, by its name without a prefix, so that 1/2 is
 * not 12.
 */
export const formulaMarks: readonly (readonly [name: string, before: string, after: string])[] = [
  ["bar", "\u00af(", ")"],
  ["borderBox", "[", "]"],
  ["d", "(", ")"],
  ["deg", "(", ")"],
  ["den", "/(", ")"],
  ["e", " ", ""],
  ["lim", "_(", ")"],
  ["mr", ";", ""],
  ["num", "(", ")"],
  ["rad", "\u221a(", ")"],
  ["sub", "_(", ")"],
  ["sup", "^(", ")"],
];
