/**
 * The ingress log: what receivers accepted is durable before they say so, is applied in the order
 * of acceptance, and is removed once what it counted was exported. After a crash the rest is
 * applied again, so that everything counts at least once (docs/decisions/ingress-log.md).
 */
import { delay, type Clock } from "../../kernel/base/clock.ts";
import { StewardError, toStewardError } from "../../kernel/base/errors.ts";
import type { Log } from "../../kernel/base/log.ts";
import { orAborted, waitFor } from "../../kernel/async/wait.ts";
import { backoffMs, type Backoff } from "../../kernel/async/backoff.ts";
import { STORE_START_MS, type Component, type Health } from "../../kernel/supervisor/component.ts";
import type { Env } from "../../kernel/state/types.ts";
import { Journal, type Entry, type JournalSize, type Received } from "./journal.ts";
import { openIngressStore } from "./open.ts";
import type { IngressOptions } from "./options.ts";
import { INGRESS, type IngressState } from "./states.ts";
import { PreparedEffects, type Effect } from "./prepared-effects.ts";

const RETRY: Backoff = { firstMs: 100, maxMs: 5_000 };
/**
 * How long an export is waited for. A late one doubles it, since the next has to wait for the rest
 * of that one, too.
 */
const DELIVERY_MS = { first: 10_000, max: 600_000 };
const STOP_MS = 10_000;
/** What is applied before it is exported; as much may count twice after a crash. */
const BATCH = { entries: 256, bytes: 16 * 2 ** 20 };
/** How long the first of a batch waits for others: an export sends every series. */
const GATHER_MS = 1_000;
/** Between two looks of a log that nothing fills; whoever fills it wakes it. */
const IDLE_MS = 60_000;
/** An export that takes long is not repeated all the time: at most a tenth of the time. */
const EXPORT_SHARE = 10;

export interface IngressDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly version: string;
  /**
   * The effect of a body that was read from disk. Throws `not_found` for a network that is not
   * configured, and `not_ready` for one that is not open yet.
   */
  readonly effectOf: (entry: Entry, body: Buffer) => Effect;
  /** Writes what is summed up to the series, before they are exported. */
  readonly settle: () => void;
  /** Log records that fit into the queue of their exporter, which drops further ones. */
  readonly maxRecords: number;
  /** Exports everything; false when it did not arrive. */
  readonly deliver: (deadlineMs: number) => Promise<boolean>;
  /** Components that start before and stop after it. */
  readonly needs: readonly string[];
}

export interface IngressLog {
  readonly component: Component;
  /** Resolves when what earlier processes accepted is applied; never, when that is impossible. */
  readonly replayed: Promise<void>;
  /**
   * Resolves when the body is durable. Its effect follows. Rejects with StewardError when it could
   * not be stored: the sender must try again.
   */
  append(received: Received, effect: Effect): Promise<void>;
  /** Undefined until it is open. */
  size(): JournalSize | undefined;
}

export function createIngressLog(deps: IngressDeps, options: IngressOptions): IngressLog {
  return new DurableIngress(deps, options);
}

class DurableIngress implements IngressLog {
  readonly component: Component;
  readonly replayed: Promise<void>;
  readonly #deps: IngressDeps;
  readonly #options: IngressOptions;
  readonly #replay = Promise.withResolvers<void>();
  readonly #stopping = new AbortController();
  readonly #effects = new PreparedEffects();
  /** Applied and not yet exported, in order. */
  readonly #applied = new Map<number, Applied>();
  #env: Env | undefined;
  #journal: Journal | undefined;
  #release: (() => void) | undefined;
  #phase: Exclude<IngressState, "full"> = "replaying";
  /** Size of the last body that did not fit. */
  #refusedBytes: number | undefined;
  #trouble: StewardError | undefined;
  #working: Promise<void> = Promise.resolve();
  #wake = Promise.withResolvers<void>();
  #gatherSinceMs: number | undefined;
  /** Whether the last export failed. */
  #exportFailed = false;
  #exportMs = 0;
  #deliveryMs = DELIVERY_MS.first;
  #exportedMs = Number.NEGATIVE_INFINITY;

  constructor(deps: IngressDeps, options: IngressOptions) {
    this.#deps = deps;
    this.#options = options;
    this.replayed = this.#replay.promise;
    this.component = {
      name: INGRESS,
      needs: deps.needs,
      readiness: "required",
      startTimeoutMs: STORE_START_MS,
      stopTimeoutMs: STOP_MS,
      // A log that cannot be opened must not end the monitor's thread: receivers stay closed.
      start: (signal) => this.#start(signal),
      stop: (deadlineMs) => this.#stop(deadlineMs),
      health: () => this.#health(),
    };
  }

  size(): JournalSize | undefined {
    return this.#journal?.size();
  }

  async append(received: Received, effect: Effect): Promise<void> {
    const journal = this.#journal;
    if (journal === undefined || !["ready", "retrying"].includes(this.#phase))
      throw new StewardError("not_ready", `the ingress log is ${this.#state()}`);
    try {
      const entry = await journal.append(received);
      if (entry === undefined) return;
      this.#effects.keep(entry, effect);
    } catch (error) {
      const { code } = toStewardError(error);
      if (code === "exhausted" || code === "disk_full") this.#refusedBytes = received.body.length;
      throw error;
    }
    this.#wake.resolve();
  }

  async #start(signal: AbortSignal): Promise<void> {
    const { log } = this.#deps;
    try {
      const { env, release } = await openIngressStore(this.#deps, this.#options, signal);
      this.#env = env;
      this.#release = release;
      this.#journal = await Journal.open(env, this.#options, signal);
    } catch (error) {
      signal.throwIfAborted();
      this.#fail(toStewardError(error));
      return;
    }
    const { entries, bytes } = this.#journal.size();
    if (entries > 0) log.info("applying what was accepted before the restart", { entries, bytes });
    this.#working = this.#work(this.#journal);
  }

  async #stop(deadlineMs: number): Promise<void> {
    const { clock } = this.#deps;
    if (this.#phase !== "failed") this.#phase = "draining";
    this.#wake.resolve();
    const timer = clock.timer(clock.monotonic() + Math.min(deadlineMs, STOP_MS) / 2, () =>
      this.#stopping.abort(new StewardError("cancelled", "the process is stopping")),
    );
    // An export may outlast the time that is left.
    await orAborted(this.#working, this.#stopping.signal).catch(() => undefined);
    timer[Symbol.dispose]();
    this.#stopping.abort(new StewardError("cancelled", "the process is stopping"));
    const left = this.#journal?.size().entries ?? 0;
    if (left > 0)
      this.#deps.log.info("what was accepted and not exported is applied at the next start", {
        entries: left,
      });
    await this.#env?.close();
    this.#release?.();
    this.#phase = "stopped";
  }

  /** Ends when everything is exported while draining, when the stop's time is up, or when it failed. */
  async #work(journal: Journal): Promise<void> {
    const { clock, log } = this.#deps;
    const { signal } = this.#stopping;
    for (let failures = 0; !signal.aborted;) {
      try {
        await this.#step(journal);
        if (failures > 0) log.info("the ingress log goes on", { failures });
        failures = 0;
        if (this.#isDone(journal)) return;
        await this.#pause(journal);
      } catch (thrown) {
        if (signal.aborted) return;
        const error = toStewardError(thrown);
        if (PERMANENT.has(error.code)) return this.#fail(error);
        failures += 1;
        this.#troubled(error, failures);
        await delay(clock, backoffMs(failures, RETRY), signal).catch(() => undefined);
      }
    }
  }

  /** Applies what fits into the batch, and exports the batch when it is due. */
  async #step(journal: Journal): Promise<void> {
    await journal.sweep();
    for (const entry of unapplied(journal, this.#applied)) {
      // In an outage the queue of log records fills, and would drop those of further bodies.
      if (this.#exportFailed || this.#isBatchFull()) break;
      const effect =
        this.#effects.take(entry.number) ?? this.#deps.effectOf(entry, journal.body(entry.number));
      const records = await effect(this.#stopping.signal);
      this.#applied.set(entry.number, { bytes: entry.bytes, records });
      this.#gatherSinceMs ??= this.#deps.clock.monotonic();
    }
    if (this.#applied.size > 0 && this.#isExportDue()) await this.#export(journal);
    this.#settlePhase(journal);
  }

  async #export(journal: Journal): Promise<void> {
    const { clock, settle, deliver } = this.#deps;
    const beganMs = clock.monotonic();
    settle();
    this.#exportFailed = !(await deliver(this.#deliveryMs));
    if (clock.monotonic() - beganMs >= this.#deliveryMs)
      this.#deliveryMs = Math.min(DELIVERY_MS.max, 2 * this.#deliveryMs);
    if (this.#exportFailed)
      throw new StewardError("upstream", "what was applied could not be exported");
    this.#exportedMs = clock.monotonic();
    this.#exportMs = this.#exportedMs - beganMs;
    const numbers = [...this.#applied.keys()];
    await journal.remove(numbers);
    this.#applied.clear();
    this.#gatherSinceMs = undefined;
  }

  #isBatchFull(): boolean {
    const all = [...this.#applied.values()];
    return (
      all.length >= BATCH.entries ||
      sum(all.map(({ bytes }) => bytes)) >= BATCH.bytes ||
      sum(all.map(({ records }) => records)) >= this.#deps.maxRecords
    );
  }

  /** At once while somebody waits for it: receivers for the replay, the process for its end. */
  #isExportDue(): boolean {
    if (this.#phase === "replaying" || this.#phase === "draining") return true;
    if (this.#exportFailed || this.#isBatchFull()) return true;
    return this.#deps.clock.monotonic() >= this.#dueMs();
  }

  #dueMs(): number {
    return Math.max(
      (this.#gatherSinceMs ?? 0) + GATHER_MS,
      this.#exportedMs + this.#exportMs * EXPORT_SHARE,
    );
  }

  #isDone(journal: Journal): boolean {
    return this.#phase === "draining" && journal.size().entries === 0;
  }

  #settlePhase(journal: Journal): void {
    if (this.#phase === "draining") return;
    if (this.#phase === "replaying" && journal.size().entries > 0) return;
    this.#phase = "ready";
    this.#trouble = undefined;
    this.#replay.resolve();
  }

  /** Until there is more to apply, or the batch is due. */
  async #pause(journal: Journal): Promise<void> {
    const { clock } = this.#deps;
    const { signal } = this.#stopping;
    const hasMore = !this.#isBatchFull() && journal.size().entries > this.#applied.size;
    if (hasMore || this.#phase === "replaying" || this.#phase === "draining") return;
    const untilDueMs = this.#applied.size === 0 ? IDLE_MS : this.#dueMs() - clock.monotonic();
    await waitFor(this.#wake.promise, { clock, timeoutMs: Math.max(0, untilDueMs), signal });
    this.#wake = Promise.withResolvers();
  }

  #troubled(error: StewardError, failures: number): void {
    this.#trouble = error;
    if (this.#phase === "ready") this.#phase = "retrying";
    // A network that is not open yet says so itself.
    if (error.code === "not_ready" || failures !== 2) return;
    this.#deps.log.warn("what was accepted cannot be applied and exported; retrying", { error });
  }

  #fail(error: StewardError): void {
    this.#phase = "failed";
    this.#trouble = error;
    this.#deps.log.error("the ingress log has failed; the receivers stay closed", { error });
  }

  #state(): IngressState {
    if (this.#phase !== "ready") return this.#phase;
    const { healthy = true } = this.#env?.status() ?? {};
    if (this.#refusedBytes === undefined) return healthy ? "ready" : "retrying";
    if (healthy && this.#journal?.hasRoom(this.#refusedBytes) === true) {
      this.#refusedBytes = undefined;
      return "ready";
    }
    return "full";
  }

  #health(): Health {
    const state = this.#state();
    if (state === "ready") return { ok: true };
    const { remedy, message } = this.#trouble ?? {};
    const why = message === undefined ? undefined : [message, remedy].filter(Boolean).join("; ");
    return { ok: false, reason: state, ...(why === undefined ? {} : { remedy: why }) };
  }
}

interface Applied {
  readonly bytes: number;
  readonly records: number;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}

/** Errors that another attempt repeats. */
const PERMANENT: ReadonlySet<string> = new Set([
  "corrupt",
  "unsupported",
  "not_found",
  "conflict",
  "invalid",
]);

/** The entries after those that were applied, in order. */
function* unapplied(
  journal: Journal,
  applied: ReadonlyMap<number, unknown>,
): Generator<Entry, void, undefined> {
  for (const entry of journal.entries()) if (!applied.has(entry.number)) yield entry;
}
