/** The key of a series within its metric. */
import type { AttributeValue } from "../types.ts";

/**
 * Values in the order of the row's attributes as one string; different values give different keys,
 * except that 1 equals "1". Joined instead of concatenated: V8 keeps the pieces of a concatenation
 * alive, which made a stored key four times as large.
 */
export function labelKey(values: readonly (AttributeValue | undefined)[]): string {
  return values.map(keyPart).join("");
}

/**
 * Keys of incoming measurements. An entity writes many metrics in a row with the same values; they
 * share one key.
 */
export class KeyMaker {
  #values: readonly (AttributeValue | undefined)[] = [];
  #key = "";

  keyOf(values: readonly (AttributeValue | undefined)[]): string {
    if (!sameValues(values, this.#values)) {
      this.#values = values;
      this.#key = labelKey(values);
    }
    return this.#key;
  }
}

function sameValues(
  left: readonly (AttributeValue | undefined)[],
  right: readonly (AttributeValue | undefined)[],
): boolean {
  return left.length === right.length && left.every((value, at) => value === right[at]);
}

function keyPart(value: AttributeValue | undefined): string {
  if (value === undefined) return "-";
  const text = typeof value === "string" ? value : String(value);
  return `${text.length}:${text}`;
}

/** The values of a key, all strings; null where the attribute is absent. */
export function parseLabelKey(key: string): (string | null)[] {
  const values: (string | null)[] = [];
  for (let at = 0; at < key.length;) {
    if (key[at] === "-") {
      values.push(null);
      at += 1;
      continue;
    }
    const colon = key.indexOf(":", at);
    const end = colon + 1 + Number(key.slice(at, colon));
    values.push(key.slice(colon + 1, end));
    at = end;
  }
  return values;
}
