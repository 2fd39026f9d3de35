/**
 * Where changed settings are kept: one row a key, as the effective configuration would show the
 * value.
 */
import type { Shown } from "../config/types.ts";
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

/**
 * The table of changed settings, by the path of their key. It belongs to the environment whose
 * changes it stands beside.
 */
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
