/** The books of delivery: every request is entered once, with its outcome. */
import type {
  ErrorClass,
  LedgerView,
  Observed,
  OtherWriters,
  PullView,
  Signal,
  SignalLedger,
} from "../status.ts";
import { emptySignalLedger, noOtherWriters } from "../status.ts";

const MESSAGE_CHARACTERS = 300;

/** Outcome of one request. */
export interface Delivery {
  readonly items: number;
  readonly seconds: number;
  readonly failure: { readonly errorClass: ErrorClass; readonly message: string } | undefined;
}

/** A queue before an exporter, as far as the books show it. */
export interface Held {
  readonly held: number;
  readonly capacity: number;
}

/** The ledger of the telemetry thread. */
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
  droppedLogs = 0;
  droppedSpans = 0;
  gathers = 0;
  duplicateSeries = 0;
  conflictingFamilies = 0;
  readonly #cut = { body: { records: 0, bytes: 0 }, attribute: { records: 0, bytes: 0 } };
  #observed: Observed[] = [];

  /** `conceal` takes credentials out of a receiver's words before they are cut to length. */
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

  /** A request that succeeded, but not for all its items. */
  enterRejected(signal: Signal, items: number): void {
    const before = this.#signals[signal];
    this.#signals[signal] = {
      ...before,
      partialSuccesses: before.partialSuccesses + 1,
      itemsRejected: before.itemsRejected + items,
    };
    this.#changed();
  }

  /** Keeps what took time until it is told: as many as there were requests since. */
  observe(observed: Observed): void {
    this.#observed.push(observed);
  }

  /** What was observed since the last call. */
  takeObserved(): readonly Observed[] {
    const observed = this.#observed;
    this.#observed = [];
    return observed;
  }

  /** A log record of which so many bytes were cut. */
  countCut(field: "body" | "attribute", bytes: number): void {
    const cut = this.#cut[field];
    cut.records += 1;
    cut.bytes += bytes;
    this.#changed();
  }

  /** Whether the last request of a signal failed. */
  get failing(): boolean {
    return Object.values(this.#signals).some(({ consecutiveFailures }) => consecutiveFailures > 0);
  }

  count(
    what:
      | "snapshotsSkipped"
      | "droppedLogs"
      | "droppedSpans"
      | "gathers"
      | "duplicateSeries"
      | "conflictingFamilies",
    more = 1,
  ): void {
    this[what] += more;
    this.#changed();
  }

  view(now: {
    readonly logs: Held | undefined;
    readonly traces: Held | undefined;
    readonly scrapes: number;
    readonly pull: PullView | undefined;
    readonly others?: OtherWriters;
  }): LedgerView {
    return {
      signals: { ...this.#signals },
      snapshotsSkipped: this.snapshotsSkipped,
      logs: {
        held: now.logs?.held ?? 0,
        capacity: now.logs?.capacity ?? 0,
        droppedQueueFull: this.droppedLogs,
      },
      traces: {
        held: now.traces?.held ?? 0,
        capacity: now.traces?.capacity ?? 0,
        droppedQueueFull: this.droppedSpans,
      },
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
