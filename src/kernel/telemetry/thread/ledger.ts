/** The delivery ledger: records the outcome of every export request. */
import type {
  ErrorClass,
  LedgerView,
  Observed,
  OtherWriters,
  PullView,
  Signal,
  SignalLedger,
} from "../status.ts";
import { emptySignalLedger, noOtherWriters, noQueue } from "../status.ts";
import type { QueueStatus } from "../../async/queue-count.ts";

const MESSAGE_CHARACTERS = 300;

export interface Delivery {
  readonly items: number;
  readonly seconds: number;
  readonly failure: { readonly errorClass: ErrorClass; readonly message: string } | undefined;
}

export class Ledger {
  readonly #signals: Record<Signal, SignalLedger> = {
    metrics: emptySignalLedger,
    logs: emptySignalLedger,
    traces: emptySignalLedger,
  };
  readonly #now: () => number;
  readonly #changed: () => void;
  readonly #conceal: (text: string) => string;
  snapshotsSkipped = 0;
  gathers = 0;
  duplicateSeries = 0;
  conflictingFamilies = 0;
  readonly #cut = { body: { records: 0, bytes: 0 }, attribute: { records: 0, bytes: 0 } };
  #observed: Observed[] = [];

  /** `conceal` removes credentials from a receiver's message before it is truncated. */
  constructor(options: {
    readonly now: () => number;
    readonly changed: () => void;
    readonly conceal?: (text: string) => string;
  }) {
    this.#now = options.now;
    this.#conceal = options.conceal ?? ((text) => text);
    this.#changed = options.changed;
  }

  enter(signal: Signal, { items, seconds, failure }: Delivery): void {
    const before = this.#signals[signal];
    this.observe({
      of: "export",
      signal,
      outcome: failure === undefined ? "success" : "failure",
      seconds,
    });
    const common = { ...before, requests: before.requests + 1, seconds: before.seconds + seconds };
    this.#signals[signal] =
      failure === undefined
        ? {
            ...common,
            items: before.items + items,
            consecutiveFailures: 0,
            lastSuccessMs: this.#now(),
          }
        : {
            ...common,
            failures: before.failures + 1,
            consecutiveFailures: before.consecutiveFailures + 1,
            itemsLost: before.itemsLost + items,
            failuresByClass: {
              ...before.failuresByClass,
              [failure.errorClass]: (before.failuresByClass[failure.errorClass] ?? 0) + 1,
            },
            lastFailureMs: this.#now(),
            lastFailureClass: failure.errorClass,
            lastFailureMessage: this.#conceal(failure.message).slice(0, MESSAGE_CHARACTERS),
          };
    this.#changed();
  }

  /** A successful request of which the receiver rejected some items. */
  enterRejected(signal: Signal, items: number): void {
    const before = this.#signals[signal];
    this.#signals[signal] = {
      ...before,
      partialSuccesses: before.partialSuccesses + 1,
      itemsRejected: before.itemsRejected + items,
    };
    this.#changed();
  }

  /** Items that are given up after requests that were entered before. */
  enterLost(signal: Signal, items: number): void {
    const before = this.#signals[signal];
    this.#signals[signal] = { ...before, itemsLost: before.itemsLost + items };
    this.#changed();
  }

  /** Keeps a duration until it is reported; bounded by the number of requests since. */
  observe(observed: Observed): void {
    this.#observed.push(observed);
  }

  /** Durations since the last call. */
  takeObserved(): readonly Observed[] {
    const observed = this.#observed;
    this.#observed = [];
    return observed;
  }

  /** Counts bytes truncated from a log record. */
  countCut(field: "body" | "attribute", bytes: number): void {
    const cut = this.#cut[field];
    cut.records += 1;
    cut.bytes += bytes;
    this.#changed();
  }

  /** Whether the last request of any signal failed. */
  get failing(): boolean {
    return Object.values(this.#signals).some(({ consecutiveFailures }) => consecutiveFailures > 0);
  }

  count(
    what: "snapshotsSkipped" | "gathers" | "duplicateSeries" | "conflictingFamilies",
    more = 1,
  ): void {
    this[what] += more;
    this.#changed();
  }

  view(now: {
    readonly logs: QueueStatus | undefined;
    readonly traces: QueueStatus | undefined;
    readonly scrapes: number;
    readonly pull: PullView | undefined;
    readonly others?: OtherWriters;
  }): LedgerView {
    return {
      signals: { ...this.#signals },
      snapshotsSkipped: this.snapshotsSkipped,
      logs: now.logs ?? noQueue,
      traces: now.traces ?? noQueue,
      exposition: {
        running: now.scrapes,
        gathers: this.gathers,
        duplicateSeries: this.duplicateSeries,
        conflictingFamilies: this.conflictingFamilies,
      },
      cut: { body: { ...this.#cut.body }, attribute: { ...this.#cut.attribute } },
      pull: now.pull,
      others: now.others ?? noOtherWriters,
    };
  }
}
