/** History of a collector's runs: the last ones in detail, all of them in totals. */

const REMEMBERED_RUNS = 60;

/** A finished run; cancelled runs are not recorded. Times are milliseconds since 1970. */
export interface FinishedRun {
  readonly startedMs: number;
  readonly finishedMs: number;
  /** Measured by the monotonic clock. */
  readonly tookMs: number;
  /** Undefined on success. */
  readonly error: string | undefined;
  /** A cause that collectors of the same upstream may share. */
  readonly cause?: string | undefined;
  /** What the operator can do, where known. */
  readonly remedy?: string | undefined;
}

export interface RunTotals {
  readonly runs: number;
  readonly failures: number;
  readonly consecutiveFailures: number;
  readonly last: FinishedRun | undefined;
  readonly lastSuccessMs: number | undefined;
  /** Oldest first. */
  readonly recent: readonly { readonly tookMs: number; readonly ok: boolean }[];
}

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
