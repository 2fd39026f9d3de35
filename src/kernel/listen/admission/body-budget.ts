/**
 * Budget for request bodies of one share. A body with a declared length reserves it before its
 * first byte is read, any other reserves each chunk as it arrives; everything is released when the
 * request's handler is done.
 */
import { StewardError } from "../../base/errors.ts";
import { bodyTooLarge } from "../../service.ts";

/** The allowance of one request's body. */
export interface BodyAllowance {
  /**
   * Throws `too_large` when the body can never fit, `exhausted` when other bodies use up the budget
   * now.
   */
  reserve(bytes: number): void;
  /** Releases what is reserved so far, after a message of a stream was read. */
  giveBack(): void;
}

/** The allowance of one request, released as a whole. */
interface HeldAllowance extends BodyAllowance {
  /** Idempotent. Later reservations throw nothing and count nothing. */
  release(): void;
}

export interface BodyBudget {
  /** `refused` is called once when a reservation was refused. */
  allowance(refused: () => void): HeldAllowance;
  inUseBytes(): number;
}

/** Without a limit, e.g. for tests. */
export const unlimitedBody: BodyAllowance = { reserve: () => undefined, giveBack: () => undefined };

const RETRY_AFTER_MS = 1000;

export function createBodyBudget({
  bodiesBytes,
  bodyBytes,
}: {
  readonly bodiesBytes: number;
  readonly bodyBytes: number;
}): BodyBudget {
  let inUse = 0;
  return {
    inUseBytes: () => inUse,
    allowance(refused) {
      let held = 0;
      let released = false;
      const giveBack = (): void => {
        inUse -= held;
        held = 0;
      };
      return {
        giveBack,
        reserve(bytes) {
          if (released) return;
          if (held + bytes > bodyBytes) throw bodyTooLarge(bodyBytes);
          if (inUse + bytes > bodiesBytes) {
            refused();
            throw new StewardError(
              "exhausted",
              "too many large bodies at once; try again in a second",
              {
                rule: "bodies_bytes",
                remedy: "try again in a second",
                retryAfterMs: RETRY_AFTER_MS,
              },
            );
          }
          held += bytes;
          inUse += bytes;
        },
        release() {
          released = true;
          giveBack();
        },
      };
    },
  };
}
