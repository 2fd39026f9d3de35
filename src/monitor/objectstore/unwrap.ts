/** Extracts records from the usual JSON wrappings: a list, `{"logs": [...]}`, `{"event": ...}`. */

const MAX_DEPTH = 4;

/**
 * Records in order. Wrapping more than four levels deep is ignored; other values are passed
 * through, for the decoder to reject.
 */
export function* unwrap(value: unknown, depth = 0): Generator {
  if (depth > MAX_DEPTH) return;
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
