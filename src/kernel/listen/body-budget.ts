/**
 * Bytes of the bodies of one share that are being read or used. A body with a declared length
 * reserves it before its first byte is read, any other reserves each chunk as it comes; all is
 * given back when the request's handler is done.
 */
import { StewardError } from "../base/errors.ts";
import { bodyTooLarge } from "../service.ts";

/** What one request's body may take of its share's budget. */
export interface BodyAllowance {
  /**
   * Throws `too_large` when the body cannot ever fit, `exhausted` when other bodies leave no room
   * for it now.
   */
  reserve(bytes: number): void;
  /** Gives back what is reserved so far: a message of a body that goes on was read. */
  giveBack(): void;
}

/** The allowance of one request, given back as a whole. */
interface HeldAllowance extends BodyAllowance {
  /** Works twice. Later reservations throw nothing and count nothing. */
  release(): void;
}

/** The budget of one share. */
export interface BodyBudget {
  /** `refused` is called once when a reservation was refused. */
  allowance(refused: () => void): HeldAllowance;
  inUseBytes(): number;
}

/** For bodies that nobody bounds, such as those of tests. */
export const unlimitedBody: BodyAllowance = { reserve: () => undefined, giveBack: () => undefined };

const RETRY_AFTER_MS = 1000;

/** Nothing is reserved. */
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
