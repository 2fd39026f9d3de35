/** How the runs of a collector went: the last ones each, all of them in sums. */

/** Runs that are remembered one by one. */
const REMEMBERED_RUNS = 60;

/** A run that ended; cancelled ones are none. Times are milliseconds since 1970. */
export interface FinishedRun {
  readonly startedMs: number;
  readonly finishedMs: number;
  /** By the monotonic clock. */
  readonly tookMs: number;
  /** Undefined when it went well. */
  readonly error: string | undefined;
  /** What other collectors of the same upstream may have failed for too. */
  readonly cause?: string | undefined;
  /** What the operator can do about the failure, where that is known. */
  readonly remedy?: string | undefined;
}

/** What is known of the runs. */
export interface RunTotals {
  readonly runs: number;
  readonly failures: number;
  readonly consecutiveFailures: number;
  readonly last: FinishedRun | undefined;
  readonly lastSuccessMs: number | undefined;
  /** Oldest first. */
  readonly recent: readonly { readonly tookMs: number; readonly ok: boolean }[];
}

/** Remembers runs. */
export class RunHistory {
  readonly #recent: { readonly tookMs: number; readonly ok: boolean }[] = [];
  #runs = 0;
  #failures = 0;
  #streak = 0;
  #last: FinishedRun | undefined;
  #lastSuccessMs: number | undefined;

  add(run: FinishedRun): void {
    const ok = run.error === undefined;
    this.#runs += 1;
    this.#failures += ok ? 0 : 1;
    this.#streak = ok ? 0 : this.#streak + 1;
    this.#last = run;
    if (ok) this.#lastSuccessMs = run.finishedMs;
    this.#recent.push({ tookMs: run.tookMs, ok });
    if (this.#recent.length > REMEMBERED_RUNS) this.#recent.shift();
  }

  totals(): RunTotals {
    return {
      runs: this.#runs,
      failures: this.#failures,
      consecutiveFailures: this.#streak,
      last: this.#last,
      lastSuccessMs: this.#lastSuccessMs,
      recent: [...this.#recent],
    };
  }
}
