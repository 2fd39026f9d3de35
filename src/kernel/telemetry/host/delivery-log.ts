/**
 * Log lines about delivery: the first failure of each signal and class, a summary every 5 minutes,
 * and the recovery.
 */
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { failedFor } from "../../base/log/outage.ts";
import type { ErrorClass, LedgerView, Signal, SignalLedger, SuppressedLines } from "../status.ts";
import { signals } from "../status.ts";

const SUMMARY_MS = 5 * 60_000;
/** This many consecutive failures are an outage. */
const FAILING = 3;

interface ReportedDelivery {
  failures: number;
  consecutive: number;
  errorClass: ErrorClass | undefined;
  /** Monotonic time of the first failure of this outage. */
  sinceMs: number;
  /** When a line of each class was last written in this outage. */
  atMs: Map<ErrorClass, number>;
  suppressed: number;
  /** Items lost before this outage, and as of the last ledger. */
  lostBefore: number;
  lost: number;
}

export class DeliveryLog {
  readonly #clock: Clock;
  readonly #log: Log;
  /** Suppressed lines since the process started, by signal and class. */
  readonly #withheld = new Map<string, SuppressedLines>();
  readonly #reported: Record<Signal, ReportedDelivery> = {
    metrics: emptyDelivery(),
    logs: emptyDelivery(),
    traces: emptyDelivery(),
  };

  constructor(clock: Clock, log: Log) {
    this.#clock = clock;
    this.#log = log;
  }

  update(ledger: LedgerView): void {
    for (const signal of signals) this.#hearSignal(signal, ledger.signals[signal]);
  }

  /** One sentence per signal in an outage. */
  failing(): string[] {
    return signals
      .filter((signal) => this.#reported[signal].consecutive >= FAILING)
      .map((signal) => `${signal} export is failing (${this.#reported[signal].errorClass})`);
  }

  /** Suppressed lines per signal and class. */
  suppressed(): SuppressedLines[] {
    return [...this.#withheld.values()];
  }

  #withhold(signal: Signal, errorClass: ErrorClass, more: number): void {
    const key = `${signal} ${errorClass}`;
    this.#withheld.set(key, {
      signal,
      errorClass,
      lines: (this.#withheld.get(key)?.lines ?? 0) + more,
    });
  }

  #hearSignal(signal: Signal, now: SignalLedger): void {
    const reported = this.#reported[signal];
    // A restarted thread counts from zero.
    if (now.failures < reported.failures) reported.failures = 0;
    if (now.itemsLost < reported.lost) reported.lostBefore = 0;
    const wasFailing = reported.consecutive > 0;
    if (!wasFailing) reported.sinceMs = this.#clock.monotonic();
    reported.consecutive = now.consecutiveFailures;
    reported.lost = now.itemsLost;
    if (wasFailing && now.consecutiveFailures === 0) {
      this.#log.info(`${signal} export recovered`, {
        ...failedFor(this.#clock, reported.sinceMs),
        suppressed: reported.suppressed,
        lost: now.itemsLost - reported.lostBefore,
      });
      Object.assign(reported, {
        ...emptyDelivery(),
        lostBefore: now.itemsLost,
        lost: now.itemsLost,
      });
    } else if (now.failures > reported.failures) {
      this.#failed(signal, now, reported);
    }
    reported.failures = now.failures;
  }

  #failed(signal: Signal, now: SignalLedger, reported: ReportedDelivery): void {
    const atMs = this.#clock.monotonic();
    const errorClass = now.lastFailureClass ?? "other";
    reported.errorClass = errorClass;
    // Alternating error classes are two episodes, not one line per change.
    if (atMs - (reported.atMs.get(errorClass) ?? Number.NEGATIVE_INFINITY) < SUMMARY_MS) {
      reported.suppressed += now.failures - reported.failures;
      this.#withhold(signal, errorClass, now.failures - reported.failures);
      return;
    }
    this.#log.warn(`${signal} export failed`, {
      class: errorClass,
      reason: now.lastFailureMessage,
      in_a_row: now.consecutiveFailures,
      suppressed: reported.suppressed,
      lost: now.itemsLost - reported.lostBefore,
    });
    reported.atMs.set(errorClass, atMs);
    reported.suppressed = 0;
  }
}

function emptyDelivery(): ReportedDelivery {
  return {
    failures: 0,
    consecutive: 0,
    errorClass: undefined,
    sinceMs: 0,
    atMs: new Map(),
    suppressed: 0,
    lostBefore: 0,
    lost: 0,
  };
}
