/**
 * Copies a pinned state of an environment row by row into a new file. LMDB's own copy cannot be
 * aborted, and our check of the meta pages would report it as damaged; this copy is verified
 * completely before it gets its name.
 */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { open as openFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { open } from "lmdb";
import type { Database, RootDatabase, Transaction } from "lmdb";
import { StewardError } from "../../base/errors.ts";
import { OPEN_MARKER } from "../rows/store-metadata.ts";
import { checkRowCounts, createMetadataReader } from "../rows/metadata-reader.ts";
import { createDataFile } from "../file/lmdb-file.ts";
import { prepareLockFile } from "../file/lock-file.ts";
import { lmdbError } from "../file/lmdb-error.ts";
import { METADATA_STORE } from "../table.ts";
import type { BackupReport } from "../types.ts";
import { verifyFile } from "../file/verify-file.ts";
import { nextTurn } from "../../async/turns.ts";

const BATCH_ROWS = 256;
const BATCH_BYTES = 2 ** 18;

type RawStore = Database<Buffer, Uint8Array>;

/** A state of an environment, unchanged until `done`. */
export interface PinnedState {
  readonly name: string;
  readonly path: string;
  readonly stores: ReadonlyMap<string, RawStore>;
  readonly txn: Transaction;
  readonly madeAtMs: number;
  /** Releases the pages. */
  done(): void;
}

/** All sub-databases of an open file by name, including those without a table. */
export function rawStores(root: RootDatabase<Buffer, Uint8Array>): ReadonlyMap<string, RawStore> {
  const names = Array.from(root.getKeys({ start: Uint8Array.of(0) }), (key) =>
    Buffer.from(key).toString("utf8").replace(/\0$/, ""),
  );
  return new Map(
    names.map((name) => [
      name,
      root.openDB<Buffer, Uint8Array>({ name, encoding: "binary", keyEncoding: "binary" }),
    ]),
  );
}

/** Pins the newest state of an open file. */
export function pinState(
  options: Pick<PinnedState, "name" | "path" | "stores" | "madeAtMs"> & {
    readonly root: RootDatabase<Buffer, Uint8Array>;
  },
): PinnedState {
  const { root, ...rest } = options;
  const txn = root.useReadTransaction();
  return { ...rest, txn, done: () => txn.done() };
}

/** See `Env.backup`. The caller releases the state. */
export async function backupState(
  state: PinnedState,
  directory: string,
  signal: AbortSignal,
): Promise<BackupReport> {
  const file = `${state.name}.mdb`;
  const target = join(directory, file);
  await stat(directory); // LMDB would make it
  if (await stat(target).catch(() => undefined))
    throw new StewardError("conflict", `${target} is there already`, {
      remedy: "choose an empty folder",
    });
  const part = `${target}.part`;
  try {
    await copyRows(state, part, signal);
    await syncFile(part);
    const report = await describe(state, part, { file, signal });
    await rename(part, target);
    await writeWhole(directory, `${file}.json`, report);
    return report;
  } catch (error) {
    for (const left of [part, target, `${target}.json`]) await rm(left, { force: true });
    throw error;
  } finally {
    await rm(`${part}-lock`, { force: true });
  }
}

/** Writes JSON to a temporary file and renames it once it is on the disk. */
export async function writeWhole(directory: string, name: string, value: unknown): Promise<void> {
  const path = join(directory, name);
  const part = `${path}.part`;
  try {
    await writeFile(part, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
    await syncFile(part);
    await rename(part, path);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
  await syncFile(directory);
}

/** Lower-case hexadecimal SHA-256 of a file. */
export async function hashFile(path: string, signal?: AbortSignal): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path, {
    highWaterMark: 2 ** 18,
    ...(signal === undefined ? {} : { signal }),
  }))
    hash.update(chunk as Buffer);
  return hash.digest("hex");
}

async function copyRows(state: PinnedState, part: string, signal: AbortSignal): Promise<void> {
  await rm(part, { force: true });
  prepareLockFile(part);
  createDataFile(part);
  const root = open<Buffer, Uint8Array>({
    path: part,
    noSubdir: true,
    noSync: true,
    overlappingSync: false,
    eventTurnBatching: false,
    encoding: "binary",
    keyEncoding: "binary",
    maxDbs: state.stores.size + 2,
  });
  try {
    for (const [name, from] of state.stores) {
      const to = root.openDB<Buffer, Uint8Array>({
        name,
        encoding: "binary",
        keyEncoding: "binary",
      });
      for (
        let rows = readBatch(from, state.txn, undefined);
        rows.length > 0;
        rows = readBatch(from, state.txn, rows.at(-1)?.key)
      ) {
        signal.throwIfAborted();
        root.transactionSync(() => {
          for (const { key, value } of rows)
            if (name !== METADATA_STORE || Buffer.compare(key, OPEN_MARKER) !== 0)
              to.putSync(key, value, { append: true });
        });
        await nextTurn();
      }
    }
    signal.throwIfAborted();
  } catch (error) {
    throw signal.aborted ? error : lmdbError(error, part);
  } finally {
    await root.close();
  }
}

interface Row {
  readonly key: Uint8Array;
  readonly value: Buffer;
}

function readBatch(from: RawStore, transaction: Transaction, after: Uint8Array | undefined): Row[] {
  const start = after === undefined ? Uint8Array.of(0) : Buffer.concat([after, Uint8Array.of(0)]);
  const rows: Row[] = [];
  let bytes = 0;
  for (const { key, value } of from.getRange({ transaction, start, limit: BATCH_ROWS })) {
    rows.push({ key, value });
    bytes += value.length;
    if (bytes >= BATCH_BYTES) break;
  }
  return rows;
}

async function describe(
  state: PinnedState,
  part: string,
  { file, signal }: { file: string; signal: AbortSignal },
): Promise<BackupReport> {
  const metadata = createMetadataReader();
  const report = await verifyFile(part, { visit: metadata.visit });
  checkRowCounts(state.path, report, metadata);
  signal.throwIfAborted();
  const { size } = await stat(part);
  return {
    name: state.name,
    file,
    schema: metadata.identity(state.path).schema,
    bytes: size,
    sha256: await hashFile(part, signal),
    rows: Object.fromEntries(metadata.census()),
    madeAtMs: state.madeAtMs,
  };
}

export async function syncFile(path: string): Promise<void> {
  const file = await openFile(path, "r");
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
