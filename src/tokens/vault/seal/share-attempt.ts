/**
 * An operation on an unsealed store that the holders of the key shares must allow: its shares and
 * its nonce, which each holder repeats.
 */
import { StewardError } from "../../../kernel/base/errors.ts";
import type { Ids } from "../../../kernel/base/ids.ts";
import { parseShare } from "./key-shares.ts";
import { createShareProgress } from "./share-progress.ts";

/** The rule of the error for shares that do not make the key. They are forgotten then. */
export const WRONG_SHARES = "wrong key shares";

export interface ShareAttempt {
  readonly nonce: string;
  readonly progress: number;
  /**
   * Throws what `take` would for this share alone, and changes nothing. Whether the shares make the
   * key is not tried: that discards them.
   */
  check(share: string, nonce: string): void;
  /**
   * Takes a share. The key that the shares make once there are enough of them, undefined before;
   * the shares are forgotten then. Throws `invalid` with Vault's texts.
   */
  take(share: string, nonce: string, threshold: number): Uint8Array | undefined;
  /** Overwrites the shares. */
  end(): void;
}

export interface ShareAttemptTexts {
  /** As in `this rekey operation`. */
  readonly operation: string;
  readonly duplicate: string;
  readonly failed: string;
}

/** With a new nonce. `isKey` decides whether the combined shares are the right key. */
export function createShareAttempt(
  ids: Ids,
  texts: ShareAttemptTexts,
  isKey: (key: Uint8Array) => boolean,
): ShareAttempt {
  const progress = createShareProgress(ids);
  const nonce = ids.uuid();
  const checked = (text: string, given: string): Uint8Array => {
    const share = parseShare(text);
    if (given !== nonce)
      throw refused(
        "nonce",
        `incorrect nonce supplied; nonce for this ${texts.operation} operation is ${JSON.stringify(nonce)}`,
      );
    if (!progress.has(share)) return share;
    share.fill(0);
    throw refused("key", texts.duplicate);
  };
  return {
    nonce,
    get progress() {
      return progress.count;
    },
    check: (share, given) => void checked(share, given).fill(0),
    take(text, given, threshold) {
      progress.add(checked(text, given));
      if (progress.count < threshold) return undefined;
      const key = progress.combined();
      progress.reset();
      if (key !== undefined && isKey(key)) return key;
      key?.fill(0);
      throw new StewardError("invalid", texts.failed, { field: "key", rule: WRONG_SHARES });
    },
    end: () => progress.reset(),
  };
}

function refused(field: string, why: string): StewardError {
  return new StewardError("invalid", why, { field, rule: "key shares" });
}
