/**
 * Opens environments in the state folder: verifies the file, then its identity, schema and row
 * counts, and migrates an older schema. An invalid primary file is refused and left unchanged; a
 * derived one is rebuilt.
 */
import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { assert, StewardError, toStewardError } from "../base/errors.ts";
import type { Clock } from "../base/clock.ts";
import { makeFolder } from "../base/system/folder.ts";
import type { Log } from "../base/log.ts";
import { createEnv } from "./environment/env.ts";
import { FORMAT, IDENTITY, OPEN_MARKER, putMetadata } from "./rows/store-metadata.ts";
import type { Identity } from "./rows/store-metadata.ts";
import { checkRowCounts, createMetadataReader } from "./rows/metadata-reader.ts";
import type { MetadataReader } from "./rows/metadata-reader.ts";
import { createIndexCheck } from "./writes/index-check.ts";
import { createKeyRing } from "./codec/key-ring.ts";
import type { KeyRing } from "./codec/key-ring.ts";
import { knownStores } from "./folder/known-stores.ts";
import type { KnownStores } from "./folder/known-stores.ts";
import { fileBytes, openLmdbFile } from "./file/lmdb-file.ts";
import type { LmdbFile } from "./file/lmdb-file.ts";
import { migrate, migrationsFor } from "./environment/migrate.ts";
import { createPace } from "./writes/pace.ts";
import type { Pace } from "./writes/pace.ts";
import { createReserve } from "./folder/reserve.ts";
import type { Reserve } from "./folder/reserve.ts";
import { indexName, rowsName } from "./table.ts";
import type { AnyTable, Env, EnvSpec, Migration, StateFactory } from "./types.ts";
import { verifyFile } from "./file/verify-file.ts";
import type { FileReport } from "./file/verify-file.ts";
import { WriteQueue } from "./writes/write-queue.ts";

/**
 * Files up to this size are verified completely at each start, larger ones only after an unclean
 * shutdown; about a gigabyte per second.
 */
const WHOLE_WALK_BYTES = 256 * 2 ** 20;
/** The same for the check before a reopen, which may happen every second. */
const WHOLE_RECHECK_BYTES = 32 * 2 ** 20;
/** A check that takes longer is reported. */
const SLOW_CHECK_MS = 10_000;

type Spec = Omit<EnvSpec, "directory">;

/** The folder must be locked by this process (`lockStateDirectory`). */
export interface StateOptions {
  readonly directory: string;
  readonly clock: Clock;
  readonly log: Log;
  /**
   * The running version, e.g. `0.1.0`: stored in the files, so that an older one can say which
   * version reads them.
   */
  readonly version?: string;
  /** Disk space reserved for a full disk (`RESERVE_BYTES` for a daemon); default 0. */
  readonly reserveBytes?: number;
  /**
   * Records primary stores (`known-stores.ts`): a recorded store without a file is refused with
   * `not_found` instead of recreated. Default false.
   */
  readonly remembers?: boolean;
  /**
   * A larger file that was closed cleanly is not verified completely at its next start; default 256
   * MiB.
   */
  readonly wholeWalkBytes?: number;
}

interface Opening extends StateOptions {
  readonly version: string;
  readonly reserve: Reserve;
  readonly pace: Pace;
  readonly signal: AbortSignal | undefined;
  readonly closed: () => void;
}

/**
 * Opens environments as `<directory>/<name>.mdb`. `open` throws `corrupt` for a damaged primary
 * file, `unsupported` for one of a newer schema or an older one without a migration, `not_found`
 * for a lost one, `conflict` when the environment is already open.
 */
export function createStateFactory(options: StateOptions): StateFactory {
  const open = new Set<string>();
  const { directory, clock, version = "", reserveBytes = 0 } = options;
  const reserve = createReserve({ directory, bytes: reserveBytes, clock, log: options.log });
  const pace = createPace(clock);
  let prepared: Promise<void> | undefined;
  return {
    async open(spec, signal) {
      assert(/^[a-z0-9][a-z0-9-]*$/.test(spec.name), `"${spec.name}" can name a file`);
      if (open.has(spec.name))
        throw new StewardError("conflict", `the store ${spec.name} is open already`);
      open.add(spec.name);
      try {
        makeFolder(directory);
        await (prepared ??= reserve.prepare());
        return await openEnv(spec, {
          ...options,
          version,
          reserve,
          pace,
          signal,
          closed: () => open.delete(spec.name),
        });
      } catch (error) {
        open.delete(spec.name);
        throw error;
      }
    },
  };
}

/** A full disk does not prevent opening an existing store. */
function remember(known: KnownStores | undefined, name: string, log: Log): void {
  try {
    known?.remember(name);
  } catch (error) {
    log.warn(
      "cannot record this store in the state folder; if its file is lost, the next start creates an empty store",
      { error },
    );
  }
}

interface Opened {
  readonly file: LmdbFile;
  readonly rows: ReadonlyMap<string, number>;
}

async function openEnv(spec: Spec, options: Opening): Promise<Env> {
  const path = join(options.directory, `${spec.name}.mdb`);
  const log = options.log.child("state", { store: spec.name });
  const known =
    spec.derived || options.remembers !== true ? undefined : knownStores(options.directory);
  if (!existsSync(path)) {
    known?.assertUnknown(spec.name);
    await createFile(path, spec, options);
  }
  const opening = { ...options, log };
  const { file, rows } = await openExisting(path, spec, opening).catch(async (error: unknown) => {
    if (!(error instanceof StewardError)) throw unreadable(path, error);
    if (!spec.derived || (error.code !== "corrupt" && error.code !== "unsupported")) throw error;
    log.warn("recreating a derived store", { reason: error.message });
    removeFile(path);
    await createFile(path, spec, options);
    return openExisting(path, spec, opening);
  });
  try {
    await file.transact(() => putMetadata(file, OPEN_MARKER, process.pid));
    remember(known, spec.name, log);
  } catch (error) {
    await file.close();
    throw error;
  }
  return createEnv(spec, {
    file,
    clock: options.clock,
    log,
    rows,
    closed: options.closed,
    reserve: options.reserve,
    pace: options.pace,
    check: () => checkAgain(path, spec, options),
  });
}

async function openExisting(path: string, spec: Spec, options: Opening): Promise<Opened> {
  const { report, metadata } = await inspect(path, options);
  checkIdentity(path, spec, metadata.identity(path), options.version);
  const migrations = migrationsFor(path, spec, metadata.identity(path), metadata.migration());
  checkRowCounts(path, report, metadata);
  if (migrations.length === 0) checkIndexes(path, spec.tables, report);
  const file = openLmdbFile(path, {
    tables: [...spec.tables, ...migrations.flatMap(({ tables }) => tables)],
    ring: ringOf(spec),
    maxBytes: spec.maxBytes,
  });
  try {
    const rows = metadata.census();
    return {
      file,
      rows:
        migrations.length === 0
          ? rows
          : await bring(file, spec, options, { rows, migrations, metadata }),
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}

interface Inspected {
  readonly report: FileReport;
  readonly metadata: MetadataReader;
}

// Before LMDB maps it. Reports a check that takes long, since nothing else says why the start waits.
async function inspect(path: string, options: Opening): Promise<Inspected> {
  const { clock, log } = options;
  using _slow = clock.timer(clock.monotonic() + SLOW_CHECK_MS, () =>
    log.info("the store is checked before it opens; this takes as long as the disk needs", {
      bytes: fileBytes(path),
    }),
  );
  return await verify(path, options);
}

// Verifies the whole file after an unclean shutdown, or when it is small enough.
async function verify(
  path: string,
  { log, signal, wholeWalkBytes = WHOLE_WALK_BYTES }: Opening,
): Promise<Inspected> {
  if (fileBytes(path) > wholeWalkBytes) {
    const metadata = createMetadataReader();
    const report = await verifyFile(path, { depth: "paths", visit: metadata.visit, signal });
    if (metadata.closed()) return { report, metadata };
  }
  const metadata = createMetadataReader();
  const report = await verifyFile(path, { visit: metadata.visit, signal });
  if (!metadata.closed())
    log.warn("the store was not closed cleanly; a full check found no damage", {
      pages: report.pages,
    });
  return { report, metadata };
}

// For a file that this process has open and does not write meanwhile.
async function checkAgain(path: string, spec: Spec, { version }: Opening): Promise<void> {
  const metadata = createMetadataReader();
  const depth = fileBytes(path) > WHOLE_RECHECK_BYTES ? "paths" : "whole";
  const report = await verifyFile(path, { depth, visit: metadata.visit });
  checkIdentity(path, spec, metadata.identity(path), version);
  checkRowCounts(path, report, metadata);
}

async function bring(
  file: LmdbFile,
  spec: Spec,
  options: Opening,
  from: {
    rows: ReadonlyMap<string, number>;
    migrations: readonly Migration[];
    metadata: MetadataReader;
  },
): Promise<ReadonlyMap<string, number>> {
  const { clock, log, reserve, signal, version } = options;
  const queue = new WriteQueue({
    file,
    clock,
    log,
    maxBytes: spec.maxBytes,
    rows: from.rows,
    reserve,
  });
  await migrate(
    { file, queue, log, version, signal },
    spec.name,
    from.migrations,
    from.metadata.migration(),
  );
  const indexes = createIndexCheck(spec.tables);
  await verifyFile(file.path, {
    visit: (store, key, value) => indexes.visit(store, key, value),
    signal,
  });
  assert(
    indexes.problems().length === 0,
    `the migrations of ${spec.name} keep the indexes: ${indexes.problems().join("; ")}`,
  );
  return queue.rows;
}

// A new file gets its name only when complete, so an empty or anonymous file is always damage and
// never a fresh start.
async function createFile(
  path: string,
  spec: Spec,
  { directory, version }: Opening,
): Promise<void> {
  const fresh = `${path}.new`;
  removeFile(fresh);
  const file = openLmdbFile(fresh, {
    tables: spec.tables,
    ring: ringOf(spec),
    maxBytes: spec.maxBytes,
  });
  const identity: Identity = {
    format: FORMAT,
    name: spec.name,
    schema: spec.schema,
    writer: version,
  };
  try {
    await file.transact(() => putMetadata(file, IDENTITY, identity));
  } finally {
    await file.close();
  }
  renameSync(fresh, path);
  removeFile(fresh);
  const folder = openSync(directory, "r");
  fsyncSync(folder);
  closeSync(folder);
}

function unreadable(path: string, cause: unknown): StewardError {
  const { code } = cause as NodeJS.ErrnoException;
  if (code === undefined) return toStewardError(cause);
  return new StewardError(toStewardError(cause).code, `${path} cannot be read (${code})`, {
    remedy:
      "let Steward's user read and write it, or stop Steward and restore a backup (docs/recovery.md)",
    cause,
  });
}

function checkIdentity(
  path: string,
  spec: Spec,
  { format, name, schema, writer }: Identity,
  version: string,
): void {
  if (name !== spec.name) {
    throw new StewardError("corrupt", `${path} is not the store ${spec.name}`, {
      remedy:
        "stop Steward and put the right file in its place, or restore a backup (docs/recovery.md)",
    });
  }
  if (format <= FORMAT && schema <= spec.schema) return;
  const reader =
    writer === undefined || writer === ""
      ? "the newer Steward that wrote it"
      : `Steward ${writer} or newer`;
  throw new StewardError(
    "unsupported",
    `${path} has schema ${schema} (format ${format}); this Steward${version === "" ? "" : ` ${version}`} reads schema ${spec.schema} (format ${FORMAT})`,
    {
      rule: "schema",
      remedy: `run ${reader}, or restore a backup of schema ${spec.schema}`,
    },
  );
}

function checkIndexes(path: string, tables: readonly AnyTable[], report: FileReport): void {
  for (const table of tables) {
    for (const index of table.indexes) {
      if (
        (report.entries.get(rowsName(table)) ?? 0) === 0 ||
        report.entries.has(indexName(table, index))
      )
        continue;
      throw new StewardError(
        "unsupported",
        `${path}: the table ${table.name} was written without its index ${index.name}`,
        {
          rule: "schema",
          remedy: "raise the schema number and add a migration when an index is added",
        },
      );
    }
  }
}

function ringOf(spec: Spec): KeyRing | undefined {
  return spec.tables.some(({ sealed }) => sealed) ? createKeyRing(spec.name) : undefined;
}

function removeFile(path: string): void {
  rmSync(path, { force: true });
  rmSync(`${path}-lock`, { force: true });
}
