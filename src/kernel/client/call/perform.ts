/** Runs a call from its first attempt to its last: admission, retries and their limits. */
import { type Clock, delay } from "../../base/clock.ts";
import type { StewardError } from "../../base/errors.ts";
import type { Ids } from "../../base/ids.ts";
import { type Attempt, type AttemptDeps, beginAttempt, unavailable } from "./attempt.ts";
import { createDeadline } from "../../async/deadline.ts";
import { exchange, type ExchangeDeps, type Opened, type Prepared } from "../http/exchange.ts";
import { failed, type Failure, failureClasses, failureOf, named } from "../failure.ts";
import { type RetryBudget, retryDelayMs } from "./retry.ts";
import { createTally, type Tally } from "./tally.ts";
import type { ClientSpec } from "../types.ts";

/** Upper limit where calls share a budget. */
const MAX_SHARED_RETRIES = 3;

export interface PerformDeps {
  readonly spec: ClientSpec;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly exchange: ExchangeDeps;
  readonly attempt: AttemptDeps;
  readonly budget: RetryBudget;
}

/** A prepared call. */
export interface Work<T> {
  readonly operation: string;
  readonly prepared: Prepared;
  /** Whether a failure is final for this call, whatever its class. */
  readonly settled: ((failure: Failure) => boolean) | undefined;
  /** Reads the response; must settle the attempt. Throwing here may lead to another attempt. */
  readonly consume: (opened: Opened, attempt: Attempt) => Promise<T>;
}

/**
 * Retries until one attempt succeeds or no more are allowed. Throws the last failure, or the
 * signal's reason.
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

/**
 * Waits for the bucket, then checks the breaker, so that calls it stops use no tokens of others.
 */
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
      method: work.prepared.method,
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

/** The delay before another attempt, or undefined when there must be none. */
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
  // A request that was sent may have had an effect, whatever the response.
  if (attempt.traces.sent && !prepared.idempotent) {
    if (failure.class === "auth") renews(deps, attempt);
    return undefined;
  }
  if (failure.class === "auth")
    return renews(deps, attempt) && attempt.number === 1 ? 0 : undefined;
  if (!failureClasses[failure.class].passing) return undefined;
  const fraction = new DataView(Uint8Array.from(deps.ids.bytes(4)).buffer).getUint32(0) / 2 ** 32;
  return retryDelayMs(retry, attempt.number, failure.retryAfterMs, fraction);
}

/** Reports a refused credential to the authorizer; true when it may have a better one. */
function renews(deps: PerformDeps, attempt: Attempt): boolean {
  const { credential } = attempt.traces;
  return (
    credential !== undefined && attempt.traces.status === 401 && deps.spec.auth.refused(credential)
  );
}
