/**
 * Table of changed settings: one row per key, with the value as the effective configuration shows
 * it.
 */
import type { Shown } from "../config/values/types.ts";
import { StewardError } from "../base/errors.ts";
import { stringKey } from "../state/keys.ts";
import { defineTable } from "../state/table.ts";
import type { Table, ValueCodec } from "../state/types.ts";

const shownCodec: ValueCodec<Shown> = {
  write: (value) => Buffer.from(JSON.stringify(value)),
  read(bytes) {
    const value: unknown = JSON.parse(Buffer.from(bytes).toString("utf8"));
    if (isShown(value)) return value;
    throw new StewardError(
      "corrupt",
      "a stored setting should be text, a number, true, false or a list of texts",
    );
  },
};

/** Changed settings by key path. Belongs to the environment of the data they affect. */
export const settingsTable: Table<string, Shown> = defineTable({
  name: "settings",
  key: stringKey,
  value: shownCodec,
  limit: { rows: 10_000 },
});

function isShown(value: unknown): value is Shown {
  return (
    ["string", "number", "boolean"].includes(typeof value) ||
    (Array.isArray(value) && value.every((item) => typeof item === "string"))
  );
}
