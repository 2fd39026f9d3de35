/**
 * What a change has written, so that it can be taken back: changes share one transaction of LMDB, and one that throws leaves nothing
 * behind. LMDB's own way, a transaction inside the other, is dearer (docs/decisions/state-flushed.md).
 */
import type { Store } from "./lmdb-file.ts";

interface Step {
  readonly store: Store;
  readonly key: Uint8Array;
  /** As it lay there; undefined when there was nothing. */
  readonly before: Buffer | undefined;
}

/** The writes of one change, inside its transaction. What LMDB throws is thrown as it is. */
export class UndoLog {
  readonly #steps: Step[] = [];

  /** `existed` is false only when there is surely nothing under the key. */
  put(store: Store, key: Uint8Array, value: Buffer, existed: boolean): void {
    this.#steps.push({ store, key, before: existed ? store.db.getBinary(key) : undefined });
    store.db.putSync(key, value);
  }

  remove(store: Store, key: Uint8Array): void {
    this.#steps.push({ store, key, before: store.db.getBinary(key) });
    store.db.removeSync(key);
  }

  /** Everything is as it was before the change. When this throws, the transaction must not be stored. */
  takeBack(): void {
    for (let step = this.#steps.pop(); step !== undefined; step = this.#steps.pop()) {
      if (step.before === undefined) step.store.db.removeSync(step.key);
      else step.store.db.putSync(step.key, step.before);
    }
  }
}
