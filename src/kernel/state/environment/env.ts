/** An open environment: reads, writes and scans of one verified file. */
import { assert, errorWithRemedy, StewardError } from "../../base/errors.ts";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { failedFor } from "../../base/log/outage.ts";
import { backupState, pinState, rawStores } from "../backups/backup.ts";
import { OPEN_MARKER, removeMetadata } from "../rows/store-metadata.ts";
import { createKeyring } from "./keyring-store.ts";
import { fileBytes } from "../file/lmdb-file.ts";
import type { LmdbFile } from "../file/lmdb-file.ts";
import type { Pace } from "../writes/pace.ts";
import { Recovery } from "../writes/reopen.ts";
import type { Reserve } from "../folder/reserve.ts";
import { decodeRow, FileSnapshot, spanBehind, spanOf } from "../rows/snapshot.ts";
import type { Span } from "../rows/snapshot.ts";
import { rowsName } from "../table.ts";
import type {
  BackupReport,
  Bounds,
  Env,
  EnvSpec,
  EnvStatus,
  Keyring,
  Snapshot,
  Table,
  Tx,
  WriteOptions,
} from "../types.ts";
import { WriteQueue } from "../writes/write-queue.ts";
import { nextTurn } from "../../async/turns.ts";

const SCAN_ROWS = 256;

export interface EnvDeps {
  readonly file: LmdbFile;
  readonly clock: Clock;
  readonly log: Log;
  /** Number of stored rows of each table. */
  readonly rows: ReadonlyMap<string, number>;
  readonly reserve: Reserve;
  readonly pace: Pace;
  /** Verifies the file as at opening, see `Recovery`. */
  readonly check: () => Promise<void>;
  /** Called when the environment has closed. */
  readonly closed: () => void;
}

export function createEnv(spec: Omit<EnvSpec, "directory">, deps: EnvDeps): Env {
  return new FileEnv(spec, deps);
}

class FileEnv implements Env {
  readonly name: string;
  readonly keyring: Keyring | undefined;
  readonly #spec: Omit<EnvSpec, "directory">;
  readonly #deps: EnvDeps;
  readonly #queue: WriteQueue;
  readonly #recovery: Recovery;
  /** Aborts running backups. */
  #stop = new AbortController();
  readonly #copies = new Set<Promise<BackupReport>>();
  #closing: Promise<void> | undefined;
  #damage: string | undefined;
  /** Of the file, when it was last looked at. */
  #bytes = 0;
  /** Monotonic time at which the loss of the file was noticed and logged. */
  #lostAtMs: number | undefined;

  constructor(spec: Omit<EnvSpec, "directory">, deps: EnvDeps) {
    this.name = spec.name;
    this.#spec = spec;
    this.#deps = deps;
    const { file, log } = deps;
    const recovery = new Recovery({ ...deps, unpin: () => this.#unpin() });
    const queue = new WriteQueue({
      ...deps,
      recovery,
      maxBytes: spec.maxBytes,
      committed: () => keyring?.worn(),
      lost: () => this.#lost(),
      restMs: (group) => deps.pace.restMs(spec.name, group),
    });
    const keyring =
      file.ring === undefined
        ? undefined
        : createKeyring({
            file,
            ring: file.ring,
            queue,
            clock: deps.clock,
            log,
            sealed: spec.tables.filter(({ sealed }) => sealed).map(rowsName),
          });
    this.#recovery = recovery;
    this.#queue = queue;
    this.keyring = keyring;
  }

  write<T>(change: (tx: Tx) => T, options: WriteOptions = {}): Promise<T> {
    return this.#queue.push(change, options);
  }

  read<T>(view: (snapshot: Snapshot) => T): T {
    return this.#view(view);
  }

  async scan<K, V>(
    table: Table<K, V>,
    each: (batch: [K, V][]) => void | Promise<void>,
    options: { sliceMs: number; signal: AbortSignal; bounds?: Bounds },
  ): Promise<void> {
    const bounds = options.bounds ?? {};
    const most = bounds.limit ?? Number.POSITIVE_INFINITY;
    const { commits, busy } = this.#queue;
    let seen = 0;
    let span: Span | undefined = spanOf(bounds);
    while (span !== undefined && seen < most) {
      options.signal.throwIfAborted();
      const slice: Slice<K, V> = this.#slice(table, span, {
        reverse: bounds.reverse ?? false,
        left: most - seen,
        sliceMs: options.sliceMs,
      });
      if (slice.rows.length > 0) await each(slice.rows);
      seen += slice.rows.length;
      span = slice.rest;
      await nextTurn();
    }
    options.signal.throwIfAborted();
    if (!busy && this.#queue.commits === commits && isWhole(bounds))
      this.#checkSeen(table.name, seen);
  }

  status(): EnvStatus {
    const { file } = this.#deps;
    const lost = this.#closing === undefined ? this.#lost() : undefined;
    const reason =
      this.#damage ??
      (lost === undefined ? undefined : errorWithRemedy(lost)) ??
      this.#queue.trouble ??
      (this.#closing === undefined ? undefined : "closed");
    const rows = Object.fromEntries(
      this.#spec.tables.map((table) => [table.name, this.#queue.rows.get(table.name) ?? 0]),
    );
    return {
      name: this.name,
      path: file.path,
      bytes: this.#fileBytes(),
      maxBytes: this.#spec.maxBytes,
      rows,
      queuedWrites: this.#queue.length,
      lastCommitAtMs: this.#queue.lastCommitAtMs,
      healthy: reason === undefined,
      reason,
    };
  }

  /** The last known size while the file cannot be looked at, e.g. on a network share that is away. */
  #fileBytes(): number {
    try {
      this.#bytes = fileBytes(this.#deps.file.path);
    } catch {
      // `#lost` shows what is wrong with the file.
    }
    return this.#bytes;
  }

  async backup(directory: string, signal: AbortSignal): Promise<BackupReport> {
    this.#assertOpen();
    const { clock, file } = this.#deps;
    const state = pinState({
      name: this.name,
      path: file.path,
      root: file.root,
      stores: rawStores(file.root),
      madeAtMs: clock.now(),
    });
    const copy = backupState(
      state,
      directory,
      AbortSignal.any([signal, this.#stop.signal]),
    ).finally(() => {
      state.done();
      this.#copies.delete(copy);
    });
    this.#copies.add(copy);
    return await copy;
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#stop.abort(new StewardError("cancelled", `${this.#deps.file.path} is closed`));
    const drained = this.#queue.close();
    await Promise.allSettled(this.#copies);
    await drained;
    this.keyring?.seal();
    const { file } = this.#deps;
    try {
      // LMDB may hang in an environment it has given up on.
      if (this.#recovery.failure !== undefined) throw this.#recovery.failure;
      await file.transact(() => removeMetadata(file, OPEN_MARKER));
    } catch (error) {
      this.#deps.log.warn(
        "cannot mark the store as closed; the next start checks it as after a crash",
        { error, path: file.path },
      );
    }
    await file.close();
    this.#deps.closed();
  }

  async #unpin(): Promise<void> {
    this.#stop.abort(
      new StewardError("not_ready", `${this.#deps.file.path} is reopened after a failed write`, {
        remedy: "try the backup again later",
      }),
    );
    await Promise.allSettled(this.#copies);
    if (this.#closing === undefined) this.#stop = new AbortController();
  }

  #slice<K, V>(
    table: Table<K, V>,
    from: Span,
    options: { reverse: boolean; left: number; sliceMs: number },
  ): Slice<K, V> {
    const { clock, file } = this.#deps;
    const until = clock.monotonic() + options.sliceMs;
    const rows: [K, V][] = [];
    return this.#view((snapshot) => {
      let span = from;
      do {
        const chunk = snapshot.chunk(file.store(rowsName(table)), span, {
          reverse: options.reverse,
          rows: Math.min(32, options.left - rows.length),
        });
        const last = chunk.at(-1);
        if (last === undefined) return { rows, rest: undefined };
        for (const entry of chunk) rows.push(decodeRow(table, entry));
        span = spanBehind(span, last, options.reverse);
      } while (rows.length < Math.min(SCAN_ROWS, options.left) && clock.monotonic() < until);
      return { rows, rest: span };
    });
  }

  /** Logged once, by the first write or status that notices it. */
  #lost(): StewardError | undefined {
    const { clock, file, log } = this.#deps;
    const error = file.lost();
    if (error !== undefined && this.#lostAtMs === undefined)
      log.error("the store file is missing or was replaced; writes are refused", {
        error,
        path: file.path,
        remedy: error.remedy,
      });
    if (error === undefined && this.#lostAtMs !== undefined)
      log.info("the store file is back; writes are accepted", {
        path: file.path,
        ...failedFor(clock, this.#lostAtMs),
      });
    this.#lostAtMs = error === undefined ? undefined : (this.#lostAtMs ?? clock.monotonic());
    return error;
  }

  // A large file that was closed cleanly was not read completely at opening.
  #checkSeen(table: string, seen: number): void {
    const counted = this.#queue.rows.get(table) ?? 0;
    if (seen === counted) return;
    const error = new StewardError(
      "corrupt",
      `${this.#deps.file.path}: the table ${table} counted ${counted} rows and shows ${seen}`,
      { remedy: "stop Steward and restore a backup of this store" },
    );
    this.#damage = error.message;
    throw error;
  }

  #assertOpen(): void {
    if (this.#closing !== undefined)
      throw new StewardError("not_ready", `${this.#deps.file.path} is closed`);
  }

  #view<T>(view: (snapshot: FileSnapshot) => T): T {
    this.#assertOpen();
    assert(!this.#queue.inChange, "a change reads through its transaction");
    const snapshot = new FileSnapshot(this.#deps.file);
    try {
      return view(snapshot);
    } catch (error) {
      if (error instanceof StewardError && error.code === "corrupt") this.#damage = error.message;
      throw error;
    } finally {
      snapshot.end();
    }
  }
}

interface Slice<K, V> {
  readonly rows: [K, V][];
  readonly rest: Span | undefined;
}

function isWhole({ start, end, prefix, limit }: Bounds): boolean {
  return start === undefined && end === undefined && prefix === undefined && limit === undefined;
}
