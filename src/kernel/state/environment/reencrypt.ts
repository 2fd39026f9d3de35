/**
 * Re-encrypts the rows of sealed tables with the newest data key, in small changes interleaved with
 * other work.
 */
import { dataKeyOf } from "../codec/key-ring.ts";
import { lmdbError } from "../file/lmdb-error.ts";
import type { LmdbFile, Store } from "../file/lmdb-file.ts";
import { justAfter } from "../rows/snapshot.ts";
import type { WriteQueue } from "../writes/write-queue.ts";
import { nextTurn } from "../../async/turns.ts";

/** Maximum number of rows per change. */
const CHANGE_ROWS = 64;
const CHANGE_BYTES = 2 ** 17;
/** Rows examined per slice. */
const LOOK_ROWS = 1_024;

export interface ReencryptOptions {
  /** Sub-databases of the sealed tables. */
  readonly stores: readonly string[];
  /** Rows encrypted by a data key before this one are re-encrypted. */
  readonly term: number;
  readonly signal: AbortSignal;
  /** Called with the number of rows so far after each change is stored. */
  readonly progress: (rows: number) => void;
}

/**
 * Resolves with the number of rows once all rows stored at the call are encrypted by `term` or a
 * newer key. Throws the signal's reason, `sealed`, `corrupt` for a row that cannot be decrypted,
 * and write errors; changes made until then remain.
 */
export async function reencryptRows(
  { file, queue }: { readonly file: LmdbFile; readonly queue: WriteQueue },
  options: ReencryptOptions,
): Promise<number> {
  let rows = 0;
  for (const name of options.stores) {
    const store = file.store(name);
    for (let start: Uint8Array | undefined = Uint8Array.of(0); start !== undefined;) {
      options.signal.throwIfAborted();
      const { keys, rest } = olderRows(file, store, { start, term: options.term });
      if (keys.length === 0) await nextTurn();
      else {
        await queue.push((tx) => {
          for (const key of keys) tx.reencrypt(store, key);
        });
        rows += keys.length;
        options.progress(rows);
      }
      start = rest;
    }
  }
  return rows;
}

interface Older {
  readonly keys: readonly Uint8Array[];
  /** Where to continue; undefined at the end. */
  readonly rest: Uint8Array | undefined;
}

/**
 * The first rows from `start` on that an older key encrypted, found by the key's number, which is
 * stored unencrypted before each value.
 */
function olderRows(
  file: LmdbFile,
  store: Store,
  { start, term }: { readonly start: Uint8Array; readonly term: number },
): Older {
  const keys: Uint8Array[] = [];
  let bytes = 0;
  let looked = 0;
  try {
    for (const { key, value } of store.db.getRange({ start, limit: LOOK_ROWS })) {
      looked += 1;
      if (dataKeyOf(value) < term) {
        // A row may fill a change alone.
        if (keys.length > 0 && bytes + value.length > CHANGE_BYTES)
          return { keys, rest: Uint8Array.from(key) };
        keys.push(key);
        bytes += value.length;
      }
      if (looked === LOOK_ROWS || keys.length === CHANGE_ROWS || bytes >= CHANGE_BYTES)
        return { keys, rest: justAfter(key) };
    }
    return { keys, rest: undefined };
  } catch (error) {
    throw lmdbError(error, file.path);
  }
}
