/**
 * Moves the flows of the predecessor's database into the store of a network (contract, monitor
 * §9.3.7). An interrupted adoption is run again: what was not finished is begun anew, and a finished
 * file is only put in its place.
 */
import { existsSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import type { Clock } from "../../../kernel/base/clock.ts";
import { StewardError } from "../../../kernel/base/errors.ts";
import type { Log } from "../../../kernel/base/log.ts";
import { syncFolder } from "../../../kernel/base/system/folder.ts";
import { lockStateDirectory } from "../../../kernel/state/folder/directory-lock.ts";
import { createStateFactory } from "../../../kernel/state/state-factory.ts";
import { flowStoreName, FLOW_FOLDER, legacyFileName } from "../disk/names.ts";
import { HOUR_MS } from "../disk/flow-block.ts";
import { openFlows, stampAdoption } from "../disk/open.ts";
import type { StoredFlow } from "../types.ts";
import { openLegacyFile } from "./legacy-file.ts";

/** Steps after which an adoption may be interrupted. */
export type AdoptionStep = "rows" | "stamped" | "placed" | "renamed";

export interface AdoptionDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly version: string;
  readonly signal: AbortSignal;
  /** Called once a step is durable. */
  readonly reached: (step: AdoptionStep) => void;
}

export interface Adoption {
  /** Absolute; they need not exist. */
  readonly legacy: string;
  readonly file: string;
  /** Rows that were kept; undefined when there was nothing to adopt. */
  readonly rows: number | undefined;
}

/** Extension of an adopted file. */
const ADOPTED = ".adopted";
/** Rows that are packed together; a change takes as many of them as fit. */
const BATCH = { rows: 16_384, hours: 256 };

/**
 * Throws `conflict` while a process has the folder, for the file of another owner, for one with an
 * unwritten log, and when both files are there; what `openLegacyFile` throws; the signal's reason.
 * The predecessor's file keeps its content.
 */
export async function adoptFlows(
  deps: AdoptionDeps,
  {
    directory,
    maxRows,
    network,
  }: { readonly directory: string; readonly maxRows: number; readonly network: string },
): Promise<Adoption> {
  const legacy = join(directory, legacyFileName(network));
  const file = join(directory, `${flowStoreName(network)}.mdb`);
  const place = { directory, maxRows, network, legacy, file };
  const lock = lockStateDirectory(directory, FLOW_FOLDER);
  try {
    if (existsSync(file)) return await continueFrom(deps, place);
    if (!existsSync(legacy)) {
      assertNoOther(directory, network);
      return { legacy, file, rows: undefined };
    }
    const rows = await migrate(deps, place);
    await finish(deps, place);
    return { legacy, file, rows };
  } finally {
    lock.release();
  }
}

interface Place {
  readonly directory: string;
  readonly maxRows: number;
  readonly network: string;
  readonly legacy: string;
  readonly file: string;
}

/** Writes the rows into a folder of their own, and moves the file once it is whole. */
async function migrate(deps: AdoptionDeps, place: Place): Promise<number> {
  const { directory, network, legacy, file } = place;
  assertQuiet(legacy);
  using source = openLegacyFile(legacy);
  if (source.owner !== undefined && source.owner !== network)
    throw new StewardError(
      "conflict",
      `${legacy} belongs to the network ${JSON.stringify(source.owner)}, not to ${JSON.stringify(network)}`,
      { remedy: "name its owner, or move the file away" },
    );
  const staging = join(directory, `adopting-${flowStoreName(network)}`);
  rmSync(staging, { recursive: true, force: true });
  const { rows } = source;
  const target = await openIn(deps, place, staging);
  try {
    for (const batch of batchesOf(source.flows()))
      for (let rest = batch; rest.length > 0;) {
        deps.signal.throwIfAborted();
        rest = rest.slice(await target.blocks.append(rest));
      }
    if (target.blocks.rows !== rows)
      throw new StewardError(
        "corrupt",
        `${legacy} has ${rows} rows, and ${target.blocks.rows} could be read`,
        {
          remedy: "restore the file from a backup, or move it away",
        },
      );
    deps.reached("rows");
    await stampAdoption(target.env, {
      file: basename(legacy),
      bytes: statSync(legacy).size,
      rows,
      finished: false,
    });
    deps.reached("stamped");
  } finally {
    await target.env.close();
  }
  renameSync(join(staging, basename(file)), file);
  syncFolder(directory);
  rmSync(staging, { recursive: true, force: true });
  deps.reached("placed");
  return rows;
}

/** Renames the predecessor's file, and records that nothing is left to do. */
async function finish(deps: AdoptionDeps, place: Place): Promise<void> {
  const { directory, legacy } = place;
  if (existsSync(legacy)) {
    const kept = `${legacy}${ADOPTED}`;
    if (existsSync(kept))
      throw new StewardError("conflict", `${kept} is there already`, {
        remedy: "move it away, and run this again",
      });
    renameSync(legacy, kept);
    syncFolder(directory);
  }
  deps.reached("renamed");
  const { env, adopted } = await openIn(deps, place, directory);
  try {
    if (adopted !== undefined) await stampAdoption(env, { ...adopted, finished: true });
  } finally {
    await env.close();
  }
}

/** What to do where the store has a file: finish an interrupted adoption, or nothing. */
async function continueFrom(deps: AdoptionDeps, place: Place): Promise<Adoption> {
  const { directory, legacy, file } = place;
  const { env, adopted } = await openIn(deps, place, directory);
  await env.close();
  const isThere = existsSync(legacy);
  if (adopted === undefined || adopted.finished) {
    if (isThere) throw bothFiles(legacy, file);
    return { legacy, file, rows: undefined };
  }
  if (isThere && (adopted.file !== basename(legacy) || adopted.bytes !== statSync(legacy).size))
    throw bothFiles(legacy, file);
  await finish(deps, place);
  return { legacy, file, rows: adopted.rows };
}

function openIn(deps: AdoptionDeps, { maxRows, network }: Place, directory: string) {
  const { clock, log, version, signal } = deps;
  const factory = createStateFactory({ directory, clock, log, version });
  return openFlows({ factory, nowMs: clock.now(), maxRows }, network, signal);
}

/** Rows in the log of a database that was not closed would be lost. */
function assertQuiet(legacy: string): void {
  for (const log of [`${legacy}-wal`, `${legacy}-journal`])
    if ((statSync(log, { throwIfNoEntry: false })?.size ?? 0) > 0)
      throw new StewardError("conflict", `${log} is not empty: the database was not closed`, {
        remedy:
          "start the program that wrote it once more and stop it, or open and close the file with sqlite3",
      });
}

/**
 * A database that the predecessor's later versions renamed is no legacy file. What its digest is of
 * is not documented, so that any digest counts; with more before it, it is another network's.
 */
function assertNoOther(directory: string, network: string): void {
  const start = legacyFileName(network).replace(/\.db$/, "");
  const other = readdirSync(directory).find(
    (name) =>
      name.startsWith(`${start}-`) &&
      /^[0-9a-f]{12}(?:[0-9a-f]{4})?\.db$/.test(name.slice(start.length + 1)),
  );
  if (other !== undefined)
    throw new StewardError(
      "unsupported",
      `${join(directory, other)} was renamed by a later version of the program that wrote it`,
      { remedy: `restore the backup from before, as ${legacyFileName(network)}` },
    );
}

function bothFiles(legacy: string, file: string): StewardError {
  return new StewardError("conflict", `${legacy} and ${file} are both there`, {
    remedy: "move away the one whose flows are not wanted",
  });
}

/** Rows by time, in batches. */
function* batchesOf(flows: Iterable<StoredFlow>): Iterable<readonly StoredFlow[]> {
  let batch: StoredFlow[] = [];
  let [hours, hour] = [0, Number.NaN];
  for (const flow of flows) {
    const at = Math.floor(flow.timeMs / HOUR_MS);
    if (at !== hour) [hour, hours] = [at, hours + 1];
    if (batch.length >= BATCH.rows || hours > BATCH.hours) {
      yield batch;
      [batch, hours] = [[], 1];
    }
    batch.push(flow);
  }
  if (batch.length > 0) yield batch;
}
