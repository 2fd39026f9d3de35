/** Masks secrets in a text. */

export const MASK = "[redacted]";

/**
 * Replaces secrets from left to right, the longest at each position; replacements are not scanned
 * again.
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
