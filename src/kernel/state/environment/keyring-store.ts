/** Persists the keyring of an open environment: stores the wrapped data keys in its metadata. */
import type { Clock } from "../../base/clock.ts";
import { toStewardError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { decodeMetadata, KEY_WRITES, KEYRING } from "../rows/store-metadata.ts";
import { RETIRE_WRITES } from "../codec/key-ring.ts";
import type { FreshRow, KeyRing, KeyringRow } from "../codec/key-ring.ts";
import type { LmdbFile } from "../file/lmdb-file.ts";
import { reencryptRows } from "./reencrypt.ts";
import { FileSnapshot } from "../rows/snapshot.ts";
import { METADATA_STORE } from "../table.ts";
import type { FileTx } from "../writes/transaction.ts";
import type { Keyring } from "../types.ts";
import type { WriteQueue } from "../writes/write-queue.ts";
import { createSerial } from "../../async/serial.ts";

export interface KeyringDeps {
  readonly file: LmdbFile;
  readonly ring: KeyRing;
  readonly queue: WriteQueue;
  readonly clock: Clock;
  readonly log: Log;
  /** Sub-databases of the sealed tables. */
  readonly sealed: readonly string[];
}

/**
 * A keyring that also rotates its data key when it has encrypted enough; call `worn` after each
 * commit.
 */
export function createKeyring({
  file,
  ring,
  queue,
  clock,
  log,
  sealed,
}: KeyringDeps): Keyring & { worn(): void } {
  let rotating = false;
  // One at a time: each row is made from the previous one, after that is stored.
  const inTurn = createSerial();
  const store = (make: () => FreshRow, also: (tx: FileTx) => void = () => {}): Promise<void> =>
    inTurn(() =>
      queue.push((tx) => {
        const fresh = make();
        tx.putMetadata(KEYRING, fresh.row);
        also(tx);
        tx.after(() => fresh.adopt());
      }),
    );
  const noWrites = (tx: FileTx): void => tx.putMetadata(KEY_WRITES, 0);
  const rotate = (): Promise<void> => store(() => ring.fresh(clock.now()), noWrites);
  return {
    status: () => ({
      sealed: ring.sealed,
      keys: ring.keys,
      writes: ring.writes,
      term: ring.term,
      madeAtMs: ring.madeAtMs,
      replacing: ring.replacing,
    }),
    async unseal(rootKey) {
      const metadata = new FileSnapshot(file);
      const row = metadata.raw(file.store(METADATA_STORE), KEYRING);
      const writes = metadata.raw(file.store(METADATA_STORE), KEY_WRITES);
      ring.open(
        rootKey,
        row === undefined ? undefined : (decodeMetadata(row) as KeyringRow),
        writes === undefined ? 0 : (decodeMetadata(writes) as number),
      );
      if (row !== undefined) return;
      try {
        await rotate();
      } catch (error) {
        ring.seal();
        throw error;
      }
    },
    seal: () => ring.seal(),
    rotate,
    async reencrypt(signal, progress = () => undefined) {
      ring.assertOpen();
      const { term } = ring;
      // A change that ran before this key was activated may still be on its way to the disk,
      // encrypted by the previous key.
      await queue.push(() => undefined);
      const rows = await reencryptRows({ file, queue }, { stores: sealed, term, signal, progress });
      if (ring.keys > 1) await store(() => ring.without(term));
      return rows;
    },
    offerRootKey: (rootKey) => store(() => ring.offered(rootKey)),
    replaceRootKey: (rootKey) => store(() => ring.replaced(rootKey, clock.now()), noWrites),
    settleRootKey: () => store(() => ring.settled()),
    worn() {
      if (ring.sealed || rotating || ring.writes < RETIRE_WRITES) return;
      rotating = true;
      rotate()
        .catch((thrown: unknown) =>
          log.error("replacing a data key that is due for rotation failed", {
            error: toStewardError(thrown),
          }),
        )
        .finally(() => (rotating = false));
    },
  };
}
