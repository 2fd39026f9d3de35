/**
 * The shape of JSON: at each path the kinds of values that occur, objects with their members in
 * order.
 */

/** Path to kinds. Items of a list share one path. */
export type Shape = ReadonlyMap<string, ReadonlySet<string>>;

/** What occurs in one value, or in several. */
export function shapeOf(...values: readonly unknown[]): Shape {
  const shape = new Map<string, Set<string>>();
  for (const value of values) visit(value, "$", shape);
  return shape;
}

function visit(value: unknown, path: string, shape: Map<string, Set<string>>): void {
  const kinds = shape.get(path) ?? new Set<string>();
  shape.set(path, kinds);
  kinds.add(kindOf(value));
  if (Array.isArray(value)) for (const item of value) visit(item, `${path}[]`, shape);
  else if (value !== null && typeof value === "object")
    for (const [name, member] of Object.entries(value)) visit(member, `${path}.${name}`, shape);
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "list";
  if (typeof value === "object") return `{${Object.keys(value).join(",")}}`;
  return typeof value === "string" && /^\d{4}-\d{2}-\d{2}T/.test(value) ? "time" : typeof value;
}

/** What occurs in the first and not in the second, as `path kind`. */
export function beyond(first: Shape, second: Shape): string[] {
  return [...first].flatMap(([path, kinds]) =>
    [...kinds]
      .filter((kind) => second.get(path)?.has(kind) !== true)
      .map((kind) => `${path} ${kind}`),
  );
}
