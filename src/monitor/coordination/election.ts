/**
 * Keeps trying to hold the lease, and renews it while it is held. Time is the local monotonic
 * clock: the lease counts from before its renewal was sent, so it ends here before it ends in the
 * coordination service, whatever the wall clocks and the network do.
 */
import { backoffMs } from "../../kernel/async/backoff.ts";
import { withDeadline } from "../../kernel/async/deadline.ts";
import { type Clock, delay } from "../../kernel/base/clock.ts";
import { ownMessage, StewardError } from "../../kernel/base/errors.ts";
import { createFence, type Fence } from "../../kernel/base/fence.ts";
import type { Log } from "../../kernel/base/log.ts";
import { createKeeper } from "./keeper.ts";
import type { Grant, LeaseStore } from "./types.ts";

/** Share of the lease after which nothing more is done under it. */
const USABLE_SHARE = 0.75;
/** Share after which also what was under way has ended; the rest is for clocks that differ in speed. */
const GRACE_SHARE = 0.95;
/** Renewals within one lease length. */
const RENEWALS = 4;
/** Of calls that are not bound to a renewal. */
const CALL_MS = 2_000;

/** A time as the holder of the lease. */
export interface Tenure {
  readonly epoch: bigint;
  /** Fires when the lease is lost, or when it is to be given back: the work then ends. */
  readonly signal: AbortSignal;
  /** Open while effects are allowed: closed before `signal` could fire after a pause. */
  readonly fence: Fence;
  /** Read positions of the previous holder; undefined before the first. */
  readonly positions: string | undefined;
  /** Keeps a text for the next holder, soon; the newest one counts. */
  keep(text: string): void;
  /** How long work under way may take to end: another replica may hold the lease after it. */
  graceMs(): number;
}

/** What a replica knows of the lease. `problem`: why the last call failed. */
export type ElectionState =
  | { readonly role: "holder"; readonly epoch: bigint; readonly problem: string | undefined }
  | { readonly role: "standby"; readonly holder: string; readonly problem: string | undefined };

export interface Election {
  state(): ElectionState;
  /** Gives the lease back once `work` has ended. Never rejects. Works without `run`, and twice. */
  stop(): Promise<void>;
}

export interface ElectionContext {
  readonly clock: Clock;
  readonly log: Log;
  readonly ttlMs: number;
  /**
   * Active work, called with each new tenure. It ends soon after the tenure's signal: within a
   * quarter of the lease length if the lease was lost. The lease is renewed until the work has
   * ended, and then given back.
   */
  work(tenure: Tenure): Promise<void>;
}

/** Starts to try for the lease. The store is disposed at the stop. */
export function startElection<G extends Grant>(
  context: ElectionContext,
  store: LeaseStore<G>,
): Election {
  const { clock, log, ttlMs } = context;
  const stopping = new AbortController();
  const never = new AbortController().signal;
  let state: ElectionState = { role: "standby", holder: "", problem: undefined };
  let failures = 0;

  const limited = <T>(timeoutMs: number, signal: AbortSignal, call: Call<T>): Promise<T> =>
    withDeadline({ clock, timeoutMs, signal, reason: () => timedOut(timeoutMs) }, call);

  async function attempt(): Promise<void> {
    const sentMs = clock.monotonic();
    const result = await limited(ttlMs / 2, stopping.signal, (signal) => store.acquire(signal));
    failures = 0;
    if ("grant" in result) return await serve(result.grant, sentMs);
    state = { role: "standby", holder: result.holder, problem: undefined };
    // A watch that is silent for a whole lease is not trusted: the next attempt asks again.
    await limited(ttlMs, stopping.signal, (signal) =>
      store.untilFree(result.revision, signal),
    ).catch(goOn);
  }

  async function serve(grant: G, sentMs: number): Promise<void> {
    const over = new AbortController();
    const ended = new AbortController();
    const stop = (): void => over.abort(stopping.signal.reason);
    stopping.signal.addEventListener("abort", stop, { once: true });
    if (stopping.signal.aborted) stop();
    const lease = new LocalLease(clock, Math.min(grant.ttlMs, ttlMs), (why) => over.abort(why));
    lease.renewed(sentMs);
    state = { role: "holder", epoch: grant.epoch, problem: undefined };
    log.info("lease acquired", { epoch: String(grant.epoch) });
    const renewing = renew(grant, lease, ended.signal);
    const keeper = createKeeper({ clock, log }, (text) =>
      limited(CALL_MS, never, (signal) => store.keepPositions(grant, text, signal)),
    );
    try {
      const positions = await limited(CALL_MS, over.signal, (signal) => store.positions(signal));
      if (!over.signal.aborted)
        await context.work({
          epoch: grant.epoch,
          positions,
          keep: (text) => keeper.keep(text),
          signal: over.signal,
          fence: lease.fence,
          graceMs: () => lease.leftMs(GRACE_SHARE),
        });
      if (over.signal.aborted && !stopping.signal.aborted)
        log.warn("lease lost", {
          epoch: String(grant.epoch),
          error: over.signal.reason as unknown,
        });
      await keeper.flush();
    } finally {
      ended.abort(new StewardError("cancelled", "the work under the lease has ended"));
      await renewing;
      lease.end();
      stopping.signal.removeEventListener("abort", stop);
      state = { role: "standby", holder: "", problem: undefined };
      log.info("lease given up", { epoch: String(grant.epoch) });
      await release(grant);
    }
  }

  /** Renews until `ended`, or until the store says that the lease is lost. Never rejects. */
  async function renew(grant: G, lease: LocalLease, ended: AbortSignal): Promise<void> {
    const everyMs = Math.min(grant.ttlMs, ttlMs) / RENEWALS;
    while (!ended.aborted && lease.leftMs() > 0)
      try {
        await delay(clock, everyMs, ended);
        const sentMs = clock.monotonic();
        const ours = await limited(everyMs, ended, (signal) => store.renew(grant, signal));
        state = { role: "holder", epoch: grant.epoch, problem: undefined };
        if (ours) lease.renewed(sentMs);
        else lease.end(new StewardError("conflict", "another replica may hold the lease"));
      } catch (error) {
        if (ended.aborted) return;
        state = { role: "holder", epoch: grant.epoch, problem: ownMessage(error) };
        log.warn("renewing the lease failed", { error });
      }
  }

  async function release(grant: G): Promise<void> {
    try {
      await limited(CALL_MS, never, (signal) => store.release(grant, signal));
    } catch (error) {
      log.warn("releasing the lease failed; it ends with its time", { error });
    }
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted)
      try {
        await attempt();
      } catch (error) {
        if (stopping.signal.aborted) return;
        failures++;
        state = { role: "standby", holder: "", problem: ownMessage(error) };
        log.warn("trying for the lease failed", { error });
        const waitMs = backoffMs(failures, { firstMs: ttlMs / 20, maxMs: ttlMs / 2 });
        await delay(clock, waitMs, stopping.signal).catch(goOn);
      }
  }

  const running = run();
  return {
    state: () => state,
    async stop() {
      stopping.abort(new StewardError("cancelled", "the process is stopping"));
      await running;
      store[Symbol.dispose]();
    },
  };
}

/** A call of the store under a signal. */
type Call<T> = (signal: AbortSignal) => Promise<T>;

/**
 * When the lease ends by the local clocks. The wall clock can only shorten it: the monotonic one
 * stands still while the machine sleeps.
 */
class LocalLease {
  readonly fence: Fence;
  readonly #clock: Clock;
  readonly #ttlMs: number;
  readonly #over: (why: StewardError) => void;
  /** When the last renewal was sent, by both clocks; undefined before the first and after the end. */
  #sent: { readonly monotonicMs: number; readonly wallMs: number } | undefined;
  #ended = false;
  #timer: Disposable | undefined;

  constructor(clock: Clock, ttlMs: number, over: (why: StewardError) => void) {
    this.fence = createFence(clock);
    this.#clock = clock;
    this.#ttlMs = ttlMs;
    this.#over = over;
  }

  /** Counts from when the request was sent: the service cannot have renewed it earlier. */
  renewed(sentMs: number): void {
    // An answer that arrives after the end, e.g. when the process was paused, changes nothing.
    if (this.#ended || (this.#sent !== undefined && this.leftMs() === 0)) return;
    const passedMs = this.#clock.monotonic() - sentMs;
    this.#sent = { monotonicMs: sentMs, wallMs: this.#clock.now() - passedMs };
    const usableMs = this.#ttlMs * USABLE_SHARE;
    this.fence.openFor(usableMs - passedMs);
    this.#timer?.[Symbol.dispose]();
    this.#timer = this.#clock.timer(sentMs + usableMs, () => {
      this.fence.close();
      this.#over(expired());
    });
  }

  /** Until this share of the lease has passed; 0 after it. */
  leftMs(share: number = USABLE_SHARE): number {
    if (this.#ended || this.#sent === undefined) return 0;
    const { monotonicMs, wallMs } = this.#sent;
    const passedMs = Math.max(this.#clock.monotonic() - monotonicMs, this.#clock.now() - wallMs);
    return Math.max(0, this.#ttlMs * share - passedMs);
  }

  /** Nothing is allowed any more. */
  end(why?: StewardError): void {
    this.#ended = true;
    this.fence.close();
    this.#timer?.[Symbol.dispose]();
    if (why !== undefined) this.#over(why);
  }
}

const timedOut = (timeoutMs: number): StewardError =>
  new StewardError("deadline", `the coordination service did not answer within ${timeoutMs} ms`);

const expired = (): StewardError =>
  new StewardError("deadline", "the lease could not be renewed in time");

/** For waits whose end, however it came about, only means that the loop looks again. */
const goOn = (): void => {};
