/** Taking secrets out of a text. */

/** What stands in place of what is hidden. */
export const MASK = "[redacted]";

/**
 * The text without any of the secrets, found from left to right, of two at one place the longer;
 * what was put in is not looked at again.
 */
export function mask(text: string, secrets: Iterable<string>): string {
  const found = [...new Set(secrets)].filter((secret) => secret !== "" && text.includes(secret));
  if (found.length === 0) return text;
  const longestFirst = found.toSorted((left, right) => right.length - left.length);
  return text.replaceAll(new RegExp(longestFirst.map(literally).join("|"), "g"), MASK);
}

function literally(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}
