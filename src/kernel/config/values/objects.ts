/**
 * Objects and lists of objects, e.g. `dedup.archives`, each with its own rows. Configurable in the
 * file only.
 */
import {
  fieldRows,
  objectParts,
  objectSchema,
  readObject,
  writeObject,
  writtenNames,
  type ObjectShape,
} from "./fields.ts";
import { describeKind } from "./raw.ts";
import type { KeyType } from "./types.ts";

/** A list of at most `limit` objects with these fields. */
export function listOfObjects<T extends object>(
  options: ObjectShape<T> & { readonly limit: number },
): KeyType<readonly T[]> {
  const expects = `a list of objects with ${writtenNames(options.fields).join(", ")}`;
  return {
    expects,
    accepts: { type: "array", maxItems: options.limit, items: objectSchema(options.fields) },
    fileOnly: true,
    holds: "list",
    fields: fieldRows(options.fields),
    read(raw, complain, context) {
      if (raw.kind !== "list")
        return complain(
          {
            rule: `must be ${expects}, got ${describeKind(raw)}`,
            remedy: 'begin each object with "- ".',
          },
          raw.location,
        );
      if (raw.items.length > options.limit)
        return complain(
          { rule: `must have at most ${options.limit} entries, got ${raw.items.length}` },
          raw.location,
        );
      const values = raw.items.map((item, index) =>
        readObject(
          item,
          options,
          (complaint, location, under = "") => complain(complaint, location, `[${index}]${under}`),
          context,
        ),
      );
      return values.every((value) => value !== undefined) ? values : undefined;
    },
    show: (values) => values.map((_, index) => String(index)),
    write: (values) => values.map((value) => writeObject(value, options.fields)),
    parts: (values) =>
      values.flatMap((value, index) => objectParts(value, options.fields, `.${index}`)),
  };
}

/** A nested object, e.g. `networks[].auth`. When omitted, its fields have their defaults. */
export function groupOfFields<T extends object>(shape: ObjectShape<T>): KeyType<T> {
  const names = writtenNames(shape.fields);
  return {
    expects: `a group of keys: ${names.join(", ")}`,
    accepts: objectSchema(shape.fields),
    fileOnly: true,
    holds: "group",
    isGroup: true,
    fields: fieldRows(shape.fields),
    read: (raw, complain, context) => readObject(raw, shape, complain, context),
    show: () => names,
    write: (value) => writeObject(value, shape.fields),
    parts: (value) => objectParts(value, shape.fields, ""),
  };
}
