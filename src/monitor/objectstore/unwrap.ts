/**
 * The records of a JSON value, whichever of the usual wrappings it has: a list, `{"logs": [...]}`,
 * `{"event": ...}`.
 */

const MOST_DEPTH = 4;

/**
 * Records in their order. What is wrapped more than four times deep is left out; a value that is no
 * object is given as it is, to be refused where records are decoded.
 */
export function* unwrap(value: unknown, depth = 0): Generator {
  if (depth > MOST_DEPTH) return;
  if (Array.isArray(value)) {
    for (const each of value as readonly unknown[]) yield* unwrap(each, depth + 1);
    return;
  }
  const { logs, event } =
    typeof value === "object" && value !== null
      ? (value as { readonly logs?: unknown; readonly event?: unknown })
      : {};
  if (Array.isArray(logs)) yield* unwrap(logs, depth);
  else if (typeof event === "object" && event !== null) yield* unwrap(event, depth + 1);
  else yield value;
}
