/** Collects a file's metadata rows while it is verified, before LMDB maps it. */
import { StewardError } from "../../base/errors.ts";
import {
  decodeMetadata,
  IDENTITY,
  MIGRATION,
  OPEN_MARKER,
  readIdentity,
} from "./store-metadata.ts";
import type { Identity, MigrationRow } from "./store-metadata.ts";
import { decodeKey } from "../codec/key-bytes.ts";
import { METADATA_STORE, rowsName } from "../table.ts";
import type { FileReport } from "../file/verify-file.ts";

export interface MetadataReader {
  /** For `verifyFile`. */
  readonly visit: (store: string, key: Uint8Array, value: Uint8Array) => void;
  /** Throws `corrupt` when there is none. */
  identity(path: string): Identity;
  migration(): MigrationRow | undefined;
  /** Whether the file was closed cleanly. */
  closed(): boolean;
  /** Stored row count of each table. */
  census(): Map<string, number>;
}

export function createMetadataReader(): MetadataReader {
  const rows = new Map<string, Uint8Array>();
  const get = (key: Uint8Array): Uint8Array | undefined =>
    rows.get(Buffer.from(key).toString("latin1"));
  return {
    visit(store, key, value) {
      if (store === METADATA_STORE)
        rows.set(Buffer.from(key).toString("latin1"), Uint8Array.from(value));
    },
    identity: (path) => readIdentity(path, get(IDENTITY)),
    migration() {
      const row = get(MIGRATION);
      return row === undefined ? undefined : (decodeMetadata(row) as MigrationRow);
    },
    closed: () => get(OPEN_MARKER) === undefined,
    census: () =>
      new Map(
        [...rows].flatMap(([key, value]) => {
          const [kind, table] = decodeKey(Buffer.from(key, "latin1"));
          return kind === "rows" && typeof table === "string"
            ? [[table, decodeMetadata(value) as number]]
            : [];
        }),
      ),
  };
}

/** Compares each table's rows with its stored count; throws `corrupt` on a mismatch. */
export function checkRowCounts(path: string, report: FileReport, metadata: MetadataReader): void {
  const census = metadata.census();
  const tables = new Set([
    ...census.keys(),
    ...[...report.entries.keys()]
      .filter((name) => name.startsWith(rowsName({ name: "" })))
      .map((name) => name.slice(rowsName({ name: "" }).length)),
  ]);
  for (const table of tables) {
    const counted = census.get(table) ?? 0;
    const stored = report.entries.get(rowsName({ name: table })) ?? 0;
    if (stored !== counted) {
      throw new StewardError(
        "corrupt",
        `${path}: the table ${table} counted ${counted} rows and holds ${stored}`,
        { remedy: "stop Steward and restore a backup (docs/recovery.md)" },
      );
    }
  }
}
