/**
 * The only module that opens LMDB. `overlappingSync` is off: a commit writes its pages, flushes,
 * then writes the meta page through a synchronous descriptor, and only then resolves. So a resolved
 * transaction is durable (docs/decisions/state-flushed.md).
 */
import { existsSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { open } from "lmdb";
import type { Database, RootDatabase } from "lmdb";
import { assert, StewardError, systemCodeOf } from "../../base/errors.ts";
import { watchFile, type FileWatch } from "./file-watch.ts";
import type { KeyRing } from "../codec/key-ring.ts";
import { whileStoring } from "./last-write.ts";
import { commitError, lmdbError } from "./lmdb-error.ts";
import { prepareLockFile } from "./lock-file.ts";
import { createRowCheck } from "../codec/row-check.ts";
import type { RowCheck } from "../codec/row-check.ts";
import { createSealedCheck } from "../codec/sealed-check.ts";
import { METADATA_STORE, indexName, rowsName } from "../table.ts";
import type { AnyTable } from "../types.ts";

/** Slots for sub-databases of a file without a table in this version; a backup opens them too. */
const FOREIGN_STORES = 64;

/** A sub-database with checksummed values. The object survives reopening of its file. */
export interface Store {
  readonly name: string;
  /** Replaced when the file is reopened: do not keep it. */
  readonly db: Database<Buffer, Uint8Array>;
  readonly check: RowCheck;
}

/** One row of a group of changes. */
export interface StoredRow {
  readonly store: Store;
  readonly key: Uint8Array;
  /** The bytes to store, sealed and with checksum; undefined deletes the row. */
  readonly stored: Buffer | undefined;
}

export interface LmdbFile {
  readonly path: string;
  /** The keys of its sealed tables. */
  readonly ring: KeyRing | undefined;
  /**
   * Replaced when the file is reopened: do not keep it. Throws `not_ready` while the file is
   * closed.
   */
  readonly root: RootDatabase<Buffer, Uint8Array>;
  /** Throws `not_ready` while the file is closed for reopening. */
  store(name: string): Store;
  /** Bytes of the pages that a sub-database uses. */
  bytesOf(store: Store): number;
  /** Bytes up to the last page, and bytes of the pages in use. */
  size(): { fileBytes: number; usedBytes: number };
  /**
   * Runs the steps in one transaction; resolves when it is durable, rejects with a StewardError
   * otherwise.
   */
  transact(steps: () => void): Promise<void>;
  /**
   * Stores writes in one transaction, in order, on LMDB's own thread; resolves and rejects as
   * `transact` does. One call at a time.
   */
  storeAll(writes: readonly StoredRow[]): Promise<void>;
  /**
   * Closes LMDB's environment and opens the same file again; no transaction may be running and no
   * state pinned. When opening fails the file stays closed, the error is thrown, and another call
   * tries again.
   */
  reopen(): Promise<void>;
  /** Why the file is no longer the one that was opened; it is not written then. */
  lost(): StewardError | undefined;
  close(): Promise<void>;
}

/** An environment and its sub-databases, in the order of the checks. */
interface OpenFile {
  readonly root: RootDatabase<Buffer, Uint8Array>;
  readonly databases: readonly Database<Buffer, Uint8Array>[];
}

interface PageCounts {
  readonly treeBranchPageCount: number;
  readonly treeLeafPageCount: number;
  readonly overflowPages: number;
}

interface RootStats extends PageCounts {
  readonly pageSize: number;
  readonly lastPageNumber: number;
  readonly root: PageCounts;
  readonly free: PageCounts;
}

/** The two meta pages that LMDB begins a file with, of the largest page that a system has. */
const FIRST_PAGES_BYTES = 2 * 65_536;

/**
 * Creates a missing data file, empty, with mode 0600: LMDB would make it world-readable, and treats
 * an empty file as new. Room for its first pages is tried: lmdb 3.5.6 ends the process with SIGSEGV
 * when they cannot be written. An existing file keeps its mode. Throws `disk_full` as LMDB's own
 * failures do.
 */
export function createDataFile(path: string): void {
  if (existsSync(path)) return;
  try {
    writeFileSync(path, new Uint8Array(FIRST_PAGES_BYTES), { mode: 0o600, flag: "wx" });
    truncateSync(path, 0);
  } catch (error) {
    if (systemCodeOf(error) !== "EEXIST") rmSync(path, { force: true });
    throw lmdbError(error, path);
  }
}

/** Map space beyond an environment's ceiling, which is checked after each group of changes. */
const MAP_MARGIN_BYTES = 64 * 2 ** 20;

/**
 * Opens or creates the file with the sub-databases of these tables. The file must have been
 * verified. Address space up to the ceiling is mapped at once: a growing map leaves its smaller
 * versions mapped, and their pages are resident twice.
 */
export function openLmdbFile(
  path: string,
  {
    tables,
    ring,
    maxBytes,
  }: {
    readonly tables: readonly AnyTable[];
    readonly ring: KeyRing | undefined;
    readonly maxBytes: number;
  },
): LmdbFile {
  const checks = rowChecks(tables, ring);
  createDataFile(path);
  // Event turn batching creates a promise that nobody handles: when a commit fails, its rejection
  // would end the process.
  const options = {
    path,
    noSubdir: true,
    mapSize: maxBytes + MAP_MARGIN_BYTES,
    overlappingSync: false,
    eventTurnBatching: false,
    txnStartThreshold: 1,
    encoding: "binary",
    keyEncoding: "binary",
    maxDbs: checks.size + FOREIGN_STORES,
  } as const;
  const openAll = (): OpenFile => {
    prepareLockFile(path);
    let root: RootDatabase<Buffer, Uint8Array> | undefined;
    try {
      const from = (root = open<Buffer, Uint8Array>(options));
      const databases = [...checks.keys()].map((name) =>
        from.openDB<Buffer, Uint8Array>({ name, encoding: "binary", keyEncoding: "binary" }),
      );
      return { root, databases };
    } catch (error) {
      void root?.close(); // at once: nothing was written yet
      throw lmdbError(error, path);
    }
  };
  const first = openAll();
  let root: RootDatabase<Buffer, Uint8Array> | undefined = first.root;
  const opened = (): RootDatabase<Buffer, Uint8Array> => {
    if (root === undefined)
      throw new StewardError("not_ready", `${path} is closed after a failed write`, {
        remedy: "retry; Steward reopens it automatically",
        retryAfterMs: 1_000,
      });
    return root;
  };
  const stores = new Map(
    [...checks].map(([name, check], at) => [
      name,
      { name, db: first.databases[at] as Database<Buffer, Uint8Array>, check },
    ]),
  );
  let watch: FileWatch;
  try {
    watch = watchFile(path);
  } catch (error) {
    void root.close();
    throw lmdbError(error, path);
  }
  return {
    path,
    ring,
    lost: () => watch.lost(),
    get root() {
      return opened();
    },
    store(name) {
      opened();
      const store = stores.get(name);
      if (store === undefined)
        throw new StewardError(
          "internal",
          `assertion failed: ${name} was declared when ${path} was opened`,
        );
      return store;
    },
    bytesOf(store) {
      const stats = store.db.getStats() as RootStats;
      return pagesOf(stats) * stats.pageSize;
    },
    size() {
      const stats = opened().getStats() as RootStats;
      const own = [...stores.values()].reduce(
        (sum, store) => sum + pagesOf(store.db.getStats() as PageCounts),
        0,
      );
      const used = 2 + pagesOf(stats.root) + pagesOf(stats.free) + own;
      return {
        fileBytes: (stats.lastPageNumber + 1) * stats.pageSize,
        usedBytes: used * stats.pageSize,
      };
    },
    async transact(steps) {
      try {
        await watch.commit(() => whileStoring(() => opened().transaction(steps)));
      } catch (error) {
        throw await commitError(error, path);
      }
    },
    async storeAll(writes) {
      try {
        await watch.commit(() => whileStoring(() => batch(opened(), writes)));
      } catch (error) {
        throw await commitError(error, path);
      }
    },
    async reopen() {
      const old = root;
      root = undefined;
      try {
        if (old !== undefined) await whileStoring(() => old.close());
        const fresh = openAll();
        for (const [at, db] of fresh.databases.entries())
          ([...stores.values()][at] as { db: Database<Buffer, Uint8Array> }).db = db;
        root = fresh.root;
      } catch (error) {
        throw lmdbError(error, path);
      }
    },
    async close() {
      watch.close();
      const last = root;
      if (last !== undefined) await whileStoring(() => last.close());
    },
  };
}

/**
 * The batch is stored as one block. The empty second block makes LMDB's thread start now instead of
 * in the next turn of the event loop; it is awaited also when the first fails, so that nothing is
 * running when the file is reopened.
 */
async function batch(
  root: RootDatabase<Buffer, Uint8Array>,
  writes: readonly StoredRow[],
): Promise<void> {
  const stored = root.batch(() => {
    for (const { store, key, stored } of writes) {
      if (stored === undefined) void store.db.remove(key);
      else void store.db.put(key, stored);
    }
  });
  const ends = await Promise.allSettled([stored, root.batch(() => undefined)]);
  for (const end of ends) if (end.status === "rejected") throw end.reason;
}

function rowChecks(tables: readonly AnyTable[], ring: KeyRing | undefined): Map<string, RowCheck> {
  const checks = new Map([[METADATA_STORE, createRowCheck(METADATA_STORE)]]);
  for (const table of tables) {
    const rows = rowsName(table);
    assert(
      !table.sealed || ring !== undefined,
      `${table.name} is sealed, so its environment has a keyring`,
    );
    checks.set(
      rows,
      table.sealed && ring !== undefined ? createSealedCheck(rows, ring) : createRowCheck(rows),
    );
    for (const index of table.indexes)
      checks.set(indexName(table, index), createRowCheck(indexName(table, index)));
  }
  return checks;
}

/** Size of a file, 0 when missing. */
export function fileBytes(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

function pagesOf(counts: PageCounts): number {
  return counts.treeBranchPageCount + counts.treeLeafPageCount + counts.overflowPages;
}
