/**
 * Replacing the key of a store, and with it the shares: enough present shares make new ones, which
 * are valid at once, or after enough of them were given back (verification). In memory only: a
 * restart or a seal cancels it.
 */
import { StewardError, toStewardError } from "../../../kernel/base/errors.ts";
import { createSerial } from "../../../kernel/async/serial.ts";
import type { Ids } from "../../../kernel/base/ids.ts";
import type { Log } from "../../../kernel/base/log.ts";
import { equalSecrets, type Secret } from "../../../kernel/base/secret.ts";
import { assertTerms, splitKey } from "./key-shares.ts";
import { newKey } from "./root-key.ts";
import { createShareAttempt, WRONG_SHARES, type ShareAttempt } from "./share-attempt.ts";
import type { SharedKey, ShareTerms } from "./types.ts";

const REKEY_TEXTS = {
  operation: "rekey",
  duplicate: "given key has already been provided during this generation operation",
  failed:
    "rekey failed: these shares do not make the key of this store; they were discarded, give all of them again",
};
const VERIFY_TEXTS = {
  operation: "verify",
  duplicate: "given key has already been provided during this verify operation",
  failed: "rekey verification failed; incorrect key shares supplied",
};

interface RekeyStatus extends Partial<ShareTerms> {
  /** Empty when no rekey is in progress. */
  readonly nonce: string;
  readonly started: boolean;
  readonly progress: number;
  /** Present shares that it needs. */
  readonly required: number;
  readonly verificationRequired: boolean;
  readonly verificationNonce: string | undefined;
}

/** New shares. */
export interface Rekeyed {
  readonly nonce: string;
  /** Hexadecimal. */
  readonly shares: readonly Secret[];
  /** The new shares are valid after `verify` only. */
  readonly verificationNonce: string | undefined;
  /** To be called when the shares were handed over: from then on the former ones are void. */
  readonly sent: () => void;
}

interface VerificationStatus extends ShareTerms {
  readonly nonce: string;
  readonly started: boolean;
  readonly progress: number;
}

export interface Rekey {
  status(): RekeyStatus;
  /** Throws `invalid` for terms that cannot be, and while another one is in progress. */
  checkStart(terms: ShareTerms): void;
  /** Throws as `checkStart` does. */
  start(terms: ShareTerms, options: { readonly verify: boolean }): void;
  /** Throws what `update` would for this share alone; changes nothing. */
  checkUpdate(share: string, nonce: string): void;
  /** Takes a present share. Undefined until there are enough. Throws `invalid`. */
  update(share: string, nonce: string): Promise<Rekeyed | undefined>;
  /** Nothing happens without one in progress. */
  cancel(): void;
  /** Throws `invalid` when no rekey is in progress. */
  verification(): VerificationStatus;
  /** Throws what `verify` would for this share alone; changes nothing. */
  checkVerify(share: string, nonce: string): void;
  /** Takes a new share. The nonce when all are there and valid; else undefined. Throws `invalid`. */
  verify(share: string, nonce: string): Promise<string | undefined>;
  restartVerification(): void;
}

/** A rekey whose new shares are to be given back. */
interface Verifying {
  readonly key: Uint8Array;
  attempt: ShareAttempt;
}

interface Running {
  readonly terms: ShareTerms;
  readonly verify: boolean;
  readonly attempt: ShareAttempt;
  /** The new key until it is verified. */
  made?: Verifying;
}

export interface RekeyDeps {
  readonly shared: SharedKey;
  readonly ids: Ids;
  readonly log: Log;
  /** Rows of the former data keys are to be re-encrypted. */
  readonly adopted: () => void;
}

export function createRekey({ shared, ids, log, adopted }: RekeyDeps): Rekey {
  const inTurn = createSerial();
  let running: Running | undefined;

  const required = (): number => shared.terms()?.threshold ?? 0;
  const end = (): void => {
    running?.attempt.end();
    running?.made?.attempt.end();
    running?.made?.key.fill(0);
    running = undefined;
  };
  const newVerification = (key: Uint8Array): ShareAttempt =>
    createShareAttempt(ids, VERIFY_TEXTS, (other) => equalSecrets(key, other));
  const checkStart = (terms: ShareTerms): void => {
    assertTerms(terms);
    if (running !== undefined) throw refused("rekey already in progress");
  };
  const updatable = (): Running => {
    if (running === undefined) throw refused("no barrier rekey in progress");
    if (running.made !== undefined)
      throw refused(
        `rekey operation already finished; verification must be performed; nonce for the verification operation is ${JSON.stringify(running.made.attempt.nonce)}`,
      );
    return running;
  };
  const verifiable = (): { readonly mine: Running; readonly made: Verifying } => {
    if (running === undefined) throw refused("no rekey in progress");
    if (running.made === undefined) throw refused("no rekey verification in progress");
    return { mine: running, made: running.made };
  };
  const adopt = async (key: Uint8Array, terms: ShareTerms): Promise<void> => {
    await shared.adopt(key, terms);
    adopted();
  };

  return {
    status: () => ({
      nonce: running?.attempt.nonce ?? "",
      started: running !== undefined,
      ...running?.terms,
      progress: running?.attempt.progress ?? 0,
      required: required(),
      verificationRequired: running?.verify ?? false,
      verificationNonce: running?.made?.attempt.nonce,
    }),
    checkStart,
    start(terms, { verify }) {
      checkStart(terms);
      running = {
        terms,
        verify,
        attempt: createShareAttempt(ids, REKEY_TEXTS, (key) => shared.opens(key)),
      };
    },
    checkUpdate: (share, nonce) => updatable().attempt.check(share, nonce),
    update: (share, nonce) =>
      inTurn(async () => {
        const mine = updatable();
        const { terms, verify, attempt } = mine;
        const former = attempt.take(share, nonce, required());
        if (former === undefined) return undefined;
        former.fill(0);
        const key = newKey(ids);
        const shares = splitKey(key, terms, ids);
        if (verify) {
          mine.made = { key, attempt: newVerification(key) };
          const verificationNonce = mine.made.attempt.nonce;
          return { nonce, shares, verificationNonce, sent: () => undefined };
        }
        await shared.offer(key, terms);
        if (running === mine) end();
        return {
          nonce,
          shares,
          verificationNonce: undefined,
          sent: () =>
            void adopt(key, terms)
              .catch((thrown: unknown) =>
                log.error("the former key shares of the tokens store are still valid", {
                  error: toStewardError(thrown),
                  remedy: "seal the store and unseal it with the new shares",
                }),
              )
              .finally(() => key.fill(0)),
        };
      }),
    cancel: end,
    verification() {
      if (running === undefined) throw refused("no rekey configuration found");
      const { terms, made } = running;
      return {
        nonce: made?.attempt.nonce ?? "",
        started: made !== undefined,
        ...terms,
        progress: made?.attempt.progress ?? 0,
      };
    },
    checkVerify: (share, nonce) => verifiable().made.attempt.check(share, nonce),
    verify: (share, nonce) =>
      inTurn(async () => {
        const { mine, made } = verifiable();
        const { terms } = mine;
        let key: Uint8Array | undefined;
        try {
          key = made.attempt.take(share, nonce, terms.threshold);
        } catch (error) {
          // As in Vault, the next attempt has another nonce.
          if (toStewardError(error).rule === WRONG_SHARES) made.attempt = newVerification(made.key);
          throw error;
        }
        if (key === undefined) return undefined;
        const { nonce: verified } = made.attempt;
        await shared.offer(key, terms);
        await adopt(key, terms);
        key.fill(0);
        if (running === mine) end();
        return verified;
      }),
    restartVerification() {
      if (running?.made === undefined) return;
      running.made.attempt.end();
      running.made.attempt = newVerification(running.made.key);
    },
  };
}

function refused(why: string): StewardError {
  return new StewardError("invalid", why, { rule: "rekey" });
}
