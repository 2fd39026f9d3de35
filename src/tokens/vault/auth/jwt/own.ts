/** Reads foreign JSON without its prototypes. */

/** A property of an object's own; undefined for everything else. */
export function getOwn(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;
}
