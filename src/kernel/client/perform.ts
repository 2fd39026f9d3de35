/**
 * A call from its first attempt to its last: who may be asked now, what is repeated, and when it is
 * enough.
 */
import { type Clock, delay } from "../base/clock.ts";
import type { StewardError } from "../base/errors.ts";
import type { Ids } from "../base/ids.ts";
import { type Attempt, type AttemptDeps, beginAttempt, unavailable } from "./attempt.ts";
import { createDeadline } from "./deadline.ts";
import { exchange, type ExchangeDeps, type Opened, type Prepared } from "./exchange.ts";
import { failed, type Failure, failureClasses, failureOf, named } from "./failure.ts";
import { backoffMs, type RetryBudget } from "./retry.ts";
import { createTally, type Tally } from "./tally.ts";
import type { ClientSpec } from "./types.ts";

/** At most where calls share a budget, whatever a rule says. */
const MAX_SHARED_RETRIES = 3;

/** What calls are made with. */
export interface PerformDeps {
  readonly spec: ClientSpec;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly exchange: ExchangeDeps;
  readonly attempt: AttemptDeps;
  readonly budget: RetryBudget;
}

/** A call made ready. */
export interface Work<T> {
  readonly operation: string;
  readonly prepared: Prepared;
  /** Whether a failure is final for this call, whatever its class. */
  readonly settled: ((failure: Failure) => boolean) | undefined;
  /**
   * Reads the answer; must see to it that the attempt is settled. Throwing here may lead to another
   * attempt.
   */
  readonly consume: (opened: Opened, attempt: Attempt) => Promise<T>;
}

/**
 * Attempts until one succeeds or none may follow. Throws the last one's failure, or the signal's
 * reason.
 */
export async function perform<T>(
  deps: PerformDeps,
  work: Work<T>,
  signal: AbortSignal,
): Promise<T> {
  const tally = createTally(work.operation, deps.spec.observeCall);
  try {
    const result = await attempts(deps, work, tally, signal);
    tally.handedOver();
    return result;
  } catch (error) {
    tally.failed(signal.aborted ? "cancelled" : (failureOf(error)?.class ?? "unavailable"));
    throw error;
  }
}

async function attempts<T>(
  deps: PerformDeps,
  work: Work<T>,
  tally: Tally,
  signal: AbortSignal,
): Promise<T> {
  const endsAtMs = deps.clock.monotonic() + deps.spec.limits.callMs;
  deps.budget.called();
  for (let number = 1; ; number++) {
    const attempt = await admit(deps, work, { number, endsAtMs, tally }, signal);
    let error: unknown;
    let opened: Opened | undefined;
    try {
      opened = await exchange(
        deps.exchange,
        work.prepared,
        attempt.traces,
        attempt.deadline.signal,
      );
      return await work.consume(opened, attempt);
    } catch (thrown) {
      opened?.drop();
      error = attempt.fail(thrown);
    }
    const waitMs = signal.aborted ? undefined : nextWait(deps, work, attempt, error);
    if (waitMs === undefined || deps.clock.monotonic() + waitMs >= endsAtMs || !deps.budget.spend())
      throw error;
    await delay(deps.clock, waitMs, signal);
    tally.paused(waitMs);
  }
}

/** Waits for the bucket, then asks the breaker: what is not asked costs the others no time. */
async function admit<T>(
  deps: PerformDeps,
  work: Work<T>,
  at: { readonly number: number; readonly endsAtMs: number; readonly tally: Tally },
  signal: AbortSignal,
): Promise<Attempt> {
  const { number, endsAtMs, tally } = at;
  const { spec, clock } = deps;
  const late = (): StewardError => {
    const failure = { class: "timeout", status: 0 } as const;
    return named(
      failed(failure, "the wait for the rate limit was too long"),
      failure,
      spec.name,
      work.operation,
    );
  };
  using waiting = createDeadline(clock, Math.max(0, endsAtMs - clock.monotonic()), signal, late);
  const waitedMs = spec.bucket === undefined ? 0 : await spec.bucket.take(waiting.signal);
  const closedForMs = deps.attempt.breaker.admit();
  if (closedForMs > 0) throw unavailable(spec.name, work.operation, closedForMs);
  const limitMs = Math.min(spec.limits.attemptMs, Math.max(0, endsAtMs - clock.monotonic()));
  return beginAttempt(
    {
      operation: work.operation,
      address: work.prepared.address,
      number,
      waitedMs,
      limitMs,
      signal,
      settled: (report) => tally.attempted(report),
    },
    deps.attempt,
  );
}

/** How long to wait before another attempt, or undefined when there must be none. */
function nextWait<T>(
  deps: PerformDeps,
  { prepared, settled }: Work<T>,
  attempt: Attempt,
  error: unknown,
): number | undefined {
  const failure = failureOf(error);
  const { retry } = deps.spec;
  const retries =
    retry.budget === "none" ? retry.retries : Math.min(MAX_SHARED_RETRIES, retry.retries);
  if (failure === undefined || attempt.number > retries || settled?.(failure) === true)
    return undefined;
  // What was sent may have had an effect, whatever came back or did not.
  if (attempt.traces.sent && !prepared.idempotent) {
    if (failure.class === "auth") renews(deps, attempt);
    return undefined;
  }
  if (failure.class === "auth")
    return renews(deps, attempt) && attempt.number === 1 ? 0 : undefined;
  if (!failureClasses[failure.class].passing) return undefined;
  const fraction = new DataView(Uint8Array.from(deps.ids.bytes(4)).buffer).getUint32(0) / 2 ** 32;
  return backoffMs(retry, attempt.number, failure.retryAfterMs, fraction);
}

/** Tells the authorizer that what it gave was refused; whether it may have something better. */
function renews(deps: PerformDeps, attempt: Attempt): boolean {
  const { credential } = attempt.traces;
  return (
    credential !== undefined && attempt.traces.status === 401 && deps.spec.auth.refused(credential)
  );
}
