/**
 * What must hold of the rows of a list, and how rows are narrowed down to those of which it does: the slots that stay move to
 * the front of the given list, and each function gives how many they are. A loop for each kind, since a call for each row would
 * cost more than its test.
 */

/** What must hold of a column. */
export type Condition =
  /** A number or a whole name; one of several for `in`. A set of names has to hold one of them. */
  | { readonly equals: number | string }
  | { readonly in: readonly (number | string)[] }
  /** A number, bounds included; a missing one is outside. */
  | { readonly from?: number; readonly to?: number }
  /** Part of a name or text, whatever the case. */
  | { readonly contains: string };

/** The values that a condition names; undefined when it names none. */
export function wantedOf(condition: Condition): readonly (number | string)[] | undefined {
  if ("equals" in condition) return [condition.equals];
  return "in" in condition ? condition.in : undefined;
}

/** Those whose number is one of the wanted. */
export function narrowedToSet(slots: Uint32Array, values: Float64Array, wanted: ReadonlySet<number | string>): number {
  let count = 0;
  for (let at = 0; at < slots.length; at += 1) {
    const slot = slots[at] ?? 0;
    if (wanted.has(values[slot] ?? Number.NaN)) slots[count++] = slot;
  }
  return count;
}

/** Those whose text holds the part. */
export function narrowedToPart(slots: Uint32Array, values: readonly string[], part: string): number {
  let count = 0;
  for (let at = 0; at < slots.length; at += 1) {
    const slot = slots[at] ?? 0;
    if ((values[slot] ?? "").includes(part)) slots[count++] = slot;
  }
  return count;
}

/** Those whose number lies within the bounds. */
export function narrowedToBounds(slots: Uint32Array, values: Float64Array, [from, to]: readonly [number, number]): number {
  let count = 0;
  for (let at = 0; at < slots.length; at += 1) {
    const slot = slots[at] ?? 0;
    const value = values[slot] ?? Number.NaN;
    if (value >= from && value <= to) slots[count++] = slot;
  }
  return count;
}

/** Those whose code is marked as wanted. */
export function narrowedToCodes(slots: Uint32Array, codes: Uint32Array, wanted: Uint8Array): number {
  let count = 0;
  for (let at = 0; at < slots.length; at += 1) {
    const slot = slots[at] ?? 0;
    if (wanted[codes[slot] ?? 0] === 1) slots[count++] = slot;
  }
  return count;
}
