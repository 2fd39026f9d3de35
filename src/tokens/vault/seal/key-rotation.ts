/**
 * The data keys of an unsealed store: adds one on request and re-encrypts the rows of older ones in
 * the background, so that the keyring stays small. After a stop the next start continues.
 */
import { StewardError, toStewardError } from "../../../kernel/base/errors.ts";
import type { Log } from "../../../kernel/base/log.ts";
import type { Keyring, KeyringStatus } from "../../../kernel/state/types.ts";

export interface KeyRotation {
  status(): KeyringStatus;
  /**
   * Makes a data key, on disk when it resolves; what is written from then on has it. Throws as
   * `Keyring.rotate` does.
   */
  rotate(): Promise<void>;
  /** Begins with what an earlier run left; no-op while it runs. */
  start(): void;
  /** Ends re-encryption between two changes. */
  stop(): Promise<void>;
}

/**
 * Over an unsealed keyring. `settles`: the root key is replaced while the daemon runs (key shares),
 * and that is over when no row needs a data key that the former one wrapped; with a key file it is
 * over when `steward rotate-key` has replaced the file of the store.
 */
export function createKeyRotation({
  keyring,
  log,
  settles,
}: {
  readonly keyring: Keyring;
  readonly log: Log;
  readonly settles: boolean;
}): KeyRotation {
  const stopping = new AbortController();
  let running: Promise<void> | undefined;
  const reencrypt = async (): Promise<void> => {
    try {
      // Another key may have come while the rows went through.
      while (keyring.status().keys > 1) {
        const rows = await keyring.reencrypt(stopping.signal);
        log.info("rows of older data keys were re-encrypted, and those keys removed", {
          rows,
          term: keyring.status().term,
        });
      }
      if (settles && keyring.status().replacing) await keyring.settleRootKey();
    } catch (thrown) {
      if (stopping.signal.aborted) return;
      log.error("re-encrypting rows of older data keys failed; they stay readable", {
        error: toStewardError(thrown),
        remedy: "PUT sys/rotate or a restart tries again",
      });
    }
  };
  const start = (): void => {
    if (stopping.signal.aborted) return;
    running ??= reencrypt().finally(() => (running = undefined));
  };
  return {
    status: () => keyring.status(),
    async rotate() {
      await keyring.rotate();
      start();
    },
    start() {
      if (!settles && keyring.status().replacing) {
        log.warn(
          "replacing the key of the store was interrupted: the file may still contain data that the former key decrypts",
          {
            remedy: "stop Steward and run `steward rotate-key` again",
          },
        );
      }
      start();
    },
    async stop() {
      stopping.abort(new StewardError("cancelled", "the secrets manager stops"));
      await running;
    },
  };
}
