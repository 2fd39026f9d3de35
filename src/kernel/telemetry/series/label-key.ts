/** The key of a series among those of its metric. */
import type { AttributeValue } from "../types.ts";

/**
 * Values in the order of the row's attributes as one string; different values never give the same
 * one, but 1 and "1" do. Joined and not added up: V8 keeps the pieces of a sum, which made a kept
 * key four times as large.
 */
export function labelKey(values: readonly (AttributeValue | undefined)[]): string {
  return values.map(keyPart).join("");
}

/**
 * Keys of measurements as they come: an entity says many metrics in a row with the same values,
 * which then share one key.
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

/** The values of a key, all of them texts; null = left out. */
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
