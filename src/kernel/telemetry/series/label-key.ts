/** The key of a series among those of its metric. */
import type { AttributeValue } from "../types.ts";

/** Values in the order of the row's attributes as one string; different values never give the same one, but 1 and "1" do. */
export function labelKey(values: readonly (AttributeValue | undefined)[]): string {
  if (values.length === 0) return "";
  let key = "";
  for (const value of values) {
    if (value === undefined) {
      key += "-";
      continue;
    }
    const text = typeof value === "string" ? value : String(value);
    key += `${text.length}:${text}`;
  }
  return key;
}
