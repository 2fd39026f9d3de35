/**
 * Opens environments below the state folder: verifies the whole file first, then its identity, schema and row counts. A primary
 * file that does not pass is refused and left as it is; a derived one is made anew.
 */
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { assert, StewardError } from "../base/errors.ts";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { HOUSE, indexName, rowsName } from "./table.ts";
import { createEnv, OPEN_MARKER } from "./env.ts";
import { encodeKey } from "./key-bytes.ts";
import { openLmdbFile } from "./lmdb-file.ts";
import type { LmdbFile } from "./lmdb-file.ts";
import { FileSnapshot } from "./snapshot.ts";
import type { Env, EnvSpec, StateFactory } from "./types.ts";
import { verifyFile } from "./verify-file.ts";
import type { FileReport } from "./verify-file.ts";

/** How rows lie in a file: keys, check words, house rows. */
const FORMAT = 1;
const IDENTITY = encodeKey(["identity"]);

type Spec = Omit<EnvSpec, "directory">;

/** Who a file says it is. */
interface Identity {
  readonly format: number;
  readonly name: string;
  readonly schema: number;
}

/** What the factory works with. The folder must be locked by this process (`lockStateDirectory`). */
export interface StateOptions {
  readonly directory: string;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Opens environments as `<directory>/<name>.mdb`. `open` throws `corrupt` for a damaged primary file, `unsupported` for one of
 * another schema, `conflict` when the environment is open already.
 */
export function createStateFactory(options: StateOptions): StateFactory {
  const open = new Set<string>();
  return {
    async open(spec) {
      assert(/^[a-z0-9][a-z0-9-]*$/.test(spec.name), `"${spec.name}" can name a file`);
      if (open.has(spec.name)) throw new StewardError("conflict", `the store ${spec.name} is open already`);
      open.add(spec.name);
      try {
        return await openEnv(spec, options, () => open.delete(spec.name));
      } catch (error) {
        open.delete(spec.name);
        throw error;
      }
    },
  };
}

async function openEnv(spec: Spec, options: StateOptions, closed: () => void): Promise<Env> {
  mkdirSync(options.directory, { recursive: true, mode: 0o700 });
  const path = join(options.directory, `${spec.name}.mdb`);
  const log = options.log.child("state", { store: spec.name });
  if (!existsSync(path)) await createFile(path, spec, options.directory);
  const { file, rows } = await openExisting(path, spec, log).catch(async (error: unknown) => {
    if (!spec.derived || !(error instanceof StewardError) || (error.code !== "corrupt" && error.code !== "unsupported")) throw error;
    log.warn("a derived store is made anew", { reason: error.message });
    removeFile(path);
    await createFile(path, spec, options.directory);
    return openExisting(path, spec, log);
  });
  await file.transact(() => putHouse(file, OPEN_MARKER, String(process.pid)));
  return createEnv(spec, { file, clock: options.clock, log, rows, closed });
}

async function openExisting(path: string, spec: Spec, log: Log): Promise<{ file: LmdbFile; rows: ReadonlyMap<string, number> }> {
  const report = await verifyFile(path);
  const file = openLmdbFile(path, storeNames(spec));
  try {
    const house = new FileSnapshot(file);
    checkIdentity(path, spec, house.raw(file.store(HOUSE), IDENTITY));
    if (house.raw(file.store(HOUSE), OPEN_MARKER) !== undefined) log.warn("was not closed cleanly; the whole file was checked and is sound", { pages: report.pages });
    return { file, rows: checkRows(path, spec, report, house) };
  } catch (error) {
    await file.close();
    throw error;
  }
}

// A new file gets its name only once it is whole, so an empty or unnamed one is always damage and never a fresh start.
async function createFile(path: string, spec: Spec, directory: string): Promise<void> {
  const fresh = `${path}.new`;
  removeFile(fresh);
  const file = openLmdbFile(fresh, storeNames(spec));
  const identity: Identity = { format: FORMAT, name: spec.name, schema: spec.schema };
  await file.transact(() => putHouse(file, IDENTITY, JSON.stringify(identity)));
  await file.close();
  renameSync(fresh, path);
  removeFile(fresh);
  const folder = openSync(directory, "r");
  fsyncSync(folder);
  closeSync(folder);
}

function checkIdentity(path: string, spec: Spec, value: Uint8Array | undefined): void {
  const identity = value === undefined ? undefined : (JSON.parse(Buffer.from(value).toString("utf8")) as Identity);
  if (identity?.name !== spec.name) {
    throw new StewardError("corrupt", `${path} is not the store ${spec.name}`, { remedy: "move the file away, or put the right one in its place" });
  }
  if (identity.format === FORMAT && identity.schema === spec.schema) return;
  const newer = identity.format > FORMAT || identity.schema > spec.schema;
  throw new StewardError("unsupported", `${path} has schema ${identity.schema} (format ${identity.format}); this Steward reads schema ${spec.schema} (format ${FORMAT})`, {
    rule: "schema", remedy: newer ? "run the newer Steward that wrote it, or restore a backup of the older schema" : "run the older Steward that wrote it, or move the file away",
  });
}

function checkRows(path: string, spec: Spec, report: FileReport, house: FileSnapshot): ReadonlyMap<string, number> {
  return new Map(spec.tables.map((table) => {
    const stored = report.entries.get(rowsName(table)) ?? 0;
    const counted = house.count(table);
    if (stored !== counted) {
      throw new StewardError("corrupt", `${path}: the table ${table.name} counted ${counted} rows and holds ${stored}`, { remedy: "restore the file from a backup, or move it away" });
    }
    for (const index of table.indexes) {
      if (stored === 0 || report.entries.has(indexName(table, index))) continue;
      throw new StewardError("unsupported", `${path}: the table ${table.name} was written without its index ${index.name}`, { rule: "schema", remedy: "raise the schema number when an index is added" });
    }
    return [table.name, stored] as const;
  }));
}

function storeNames(spec: Spec): string[] {
  return [HOUSE, ...spec.tables.flatMap((table) => [rowsName(table), ...table.indexes.map((index) => indexName(table, index))])];
}

function putHouse(file: LmdbFile, key: Uint8Array, value: string): void {
  const house = file.store(HOUSE);
  house.db.putSync(key, house.check.close(key, Buffer.from(value)));
}

function removeFile(path: string): void {
  rmSync(path, { force: true });
  rmSync(`${path}-lock`, { force: true });
}
