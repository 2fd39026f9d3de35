/**
 * Size of a collector's windows: halved while responses are too large or too late, so that a backlog
 * is read in parts that arrive. Not stored: a restart begins with the configured size.
 */
import { failureOf } from "../../kernel/client/failure.ts";
import type { WindowRule } from "../collectors/collector.ts";
import { failureWord } from "./failure-class.ts";

const MIN_MS = 60_000;

/** One per windowed collector. */
export class WindowSize {
  /** Undefined: as configured. */
  #sizeMs: number | undefined;
  /** Smallest size whose response was too large. */
  #tooLargeMs = Number.POSITIVE_INFINITY;

  /** The rule for the next window. An overlap longer than the window would be most of the request. */
  apply(rule: WindowRule): WindowRule {
    if (this.#sizeMs === undefined) return rule;
    return {
      ...rule,
      maxWindowMs: this.#sizeMs,
      overlapMs: Math.min(rule.overlapMs, this.#sizeMs),
    };
  }

  /** Returns the size of the next window if this failure of one of `sizeMs` makes it smaller. */
  failed(error: unknown, sizeMs: number): number | undefined {
    const isTooLarge = failureOf(error)?.class === "too_large";
    if (!isTooLarge && failureWord(error) !== "timeout") return undefined;
    if (isTooLarge) this.#tooLargeMs = Math.min(this.#tooLargeMs, sizeMs);
    const nextMs = Math.max(MIN_MS, Math.floor(sizeMs / 2));
    if (nextMs >= sizeMs) return undefined;
    this.#sizeMs = nextMs;
    return nextMs;
  }

  /**
   * A window was read; `caughtUp`: it was not cut. Sizes double up to the configured one, below what
   * was too large: each such attempt reads records that then come again.
   */
  succeeded(rule: WindowRule, caughtUp: boolean): void {
    if (caughtUp) {
      this.#sizeMs = undefined;
      this.#tooLargeMs = Number.POSITIVE_INFINITY;
    } else if (this.#sizeMs !== undefined && this.#sizeMs * 2 < this.#tooLargeMs) {
      const nextMs = this.#sizeMs * 2;
      this.#sizeMs = rule.maxWindowMs > 0 && nextMs >= rule.maxWindowMs ? undefined : nextMs;
    }
  }
}
