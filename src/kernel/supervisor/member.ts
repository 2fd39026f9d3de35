/**
 * One supervised component: its phase, its crashes, its restarts.
 *
 *     idle → starting → ready → stopping → stopped
 *               ↑         ↓ failed()
 *               └─ degraded (stopped, waits for its restart) → failed (given up)
 */
import { delay, type Clock } from "../base/clock.ts";
import { ownMessage, StewardError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { createRestartPolicy, type RestartPolicy } from "./restart-policy.ts";
import type { Component, ComponentState, Health, Phase } from "./component.ts";
import { createStopDeadline, type StopDeadline } from "./stop-deadline.ts";
import { late, waitFor } from "../async/wait.ts";

const START_MS = 60_000;
const STOP_MS = 10_000;

export type StopOutcome = "stopped" | "late" | { readonly failed: string };

/** `recovered` is called after a successful restart. */
export interface MemberDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly recovered: () => void;
}

/** A component with its state. Owned by the supervisor. */
export class Member {
  readonly component: Component;
  readonly #deps: MemberDeps;
  readonly #restarts: RestartPolicy;
  /** Fires once, when the member is to stop for good. */
  readonly #ending = new AbortController();
  /** Counts attempts, so that callbacks of earlier ones are ignored. */
  #attempt = 0;
  /** The running start or recovery. */
  #busy: Promise<unknown> = Promise.resolve();
  #phase: Phase = "idle";
  #reason: string | undefined;
  #crashes = 0;
  #sinceMs: number;

  constructor(component: Component, deps: MemberDeps) {
    this.component = component;
    this.#deps = deps;
    this.#restarts = createRestartPolicy(component.restart);
    this.#sinceMs = deps.clock.now();
  }

  get phase(): Phase {
    return this.#phase;
  }

  /** Starts once. Rejects with the error of a failed start; it is stopped again by then. */
  start(): Promise<void> {
    const starting = this.#tryStart();
    this.#busy = starting.catch(() => "the caller of start sees why");
    return starting;
  }

  /** Counts a crash, stops the component, and restarts it unless given up. Returns at once. */
  recover(error: unknown): void {
    this.#busy = this.#recovery(error).catch((thrown: unknown) =>
      this.#move("failed", ownMessage(thrown)),
    );
  }

  /** Reports why an idle component does not start yet. */
  holdBack(reason: string): void {
    this.#move("idle", reason);
  }

  /** Stops for good. Never rejects. `capMs` bounds this component alone. */
  async stop(deadline: StopDeadline, capMs: number): Promise<StopOutcome> {
    this.#attempt += 1;
    this.#ending.abort(new StewardError("cancelled", "the process is stopping"));
    if (this.#phase === "idle") this.#enter("stopped");
    if (this.#phase === "stopped") return "stopped";
    this.#enter("stopping");
    const ownMs = Math.min(capMs, this.component.stopTimeoutMs ?? STOP_MS);
    const outcome = await this.#halt(deadline, ownMs);
    if (outcome === "stopped") this.#enter("stopped");
    else
      this.#enter(
        "failed",
        outcome === "late" ? `did not stop within ${Math.round(ownMs)} ms` : outcome.failed,
      );
    return outcome;
  }

  state(): ComponentState {
    const health = this.#health();
    return {
      name: this.component.name,
      readiness: readinessOf(this.component, health),
      crashes: this.#crashes,
      sinceMs: this.#sinceMs,
      phase: health.ok ? this.#phase : health.refusing === true ? "refusing" : "degraded",
      reason: health.ok ? (this.#reason ?? health.reason) : (health.reason ?? "not healthy"),
      ...(health.remedy === undefined ? {} : { remedy: health.remedy }),
    };
  }

  #health(): Health {
    if (this.#phase !== "ready") return { ok: true };
    try {
      return this.component.health?.() ?? { ok: true };
    } catch (error) {
      return { ok: false, reason: ownMessage(error) };
    }
  }

  async #tryStart(): Promise<void> {
    const attempt = ++this.#attempt;
    const giveUp = new AbortController();
    const { promise: broken, reject } = Promise.withResolvers<never>();
    let early: { readonly error: unknown } | undefined;
    const failed = (error: unknown): void => {
      if (attempt !== this.#attempt) return;
      if (this.#phase === "starting") {
        early ??= { error };
        return reject(error);
      }
      this.#attempt += 1;
      this.recover(error);
    };
    this.#move("starting");
    try {
      this.#ending.signal.throwIfAborted();
      const allowedMs = this.component.startTimeoutMs ?? START_MS;
      const signal = AbortSignal.any([giveUp.signal, this.#ending.signal]);
      const started = Promise.race([this.component.start(signal, failed), broken]);
      const outcome = await waitFor(started, { clock: this.#deps.clock, timeoutMs: allowedMs });
      if (outcome === late)
        throw new StewardError(
          "deadline",
          `${this.component.name} did not start within ${allowedMs} ms`,
        );
      this.#ending.signal.throwIfAborted();
      // It may break between the resolution of its start and this check.
      if (early !== undefined) throw early.error;
      this.#move("ready");
    } catch (error) {
      if (attempt === this.#attempt) this.#attempt += 1;
      giveUp.abort(error);
      if (!this.#ending.signal.aborted) await this.#clean();
      this.#move("failed", ownMessage(error));
      throw error;
    }
  }

  async #recovery(first: unknown): Promise<void> {
    let error = first;
    while (!this.#ending.signal.aborted) {
      this.#crashes += 1;
      const waitMs = this.#restarts.crashed(this.#deps.clock.monotonic());
      const reason = ownMessage(error);
      this.#deps.log.error(
        waitMs === undefined
          ? "component failed and is not restarted"
          : "component failed; restarting it",
        { name: this.component.name, waitMs, error },
      );
      this.#move("degraded", reason);
      await this.#clean();
      if (this.#ending.signal.aborted) return;
      if (waitMs === undefined) return this.#move("failed", reason);
      try {
        await delay(this.#deps.clock, waitMs, this.#ending.signal);
        await this.#tryStart();
        return this.#deps.recovered();
      } catch (again) {
        error = again;
      }
    }
  }

  /** Lets a broken component release its resources; errors are only logged. */
  async #clean(): Promise<void> {
    const capMs = this.component.stopTimeoutMs ?? STOP_MS;
    const outcome = await attemptStop(
      this.component,
      createStopDeadline(this.#deps.clock, capMs),
      capMs,
    );
    if (outcome !== "stopped")
      this.#deps.log.warn("component did not stop cleanly after it failed", {
        name: this.component.name,
        outcome,
      });
  }

  async #halt(deadline: StopDeadline, capMs: number): Promise<StopOutcome> {
    const own = createStopDeadline(this.#deps.clock, Math.min(capMs, deadline.remainingMs()));
    await deadline.wait(this.#busy, own.remainingMs());
    return attemptStop(this.component, deadline, own.remainingMs());
  }

  /** Changes phase unless the member is stopping for good: then only `stop` sets the phase. */
  #move(phase: Phase, reason?: string): void {
    if (!this.#ending.signal.aborted) this.#enter(phase, reason);
  }

  #enter(phase: Phase, reason?: string): void {
    if (phase !== this.#phase) this.#sinceMs = this.#deps.clock.now();
    this.#phase = phase;
    this.#reason = reason;
  }
}

function readinessOf(
  { readiness }: Component,
  { unable, partial }: Health,
): Component["readiness"] {
  if (unable === true) return "required";
  return partial === true && readiness === "required" ? "reported" : readiness;
}

async function attemptStop(
  component: Component,
  deadline: StopDeadline,
  capMs: number,
): Promise<StopOutcome> {
  try {
    // A synchronous throw counts as a rejection.
    const stopped = (async () => component.stop(Math.min(capMs, deadline.remainingMs())))();
    return (await deadline.wait(stopped, capMs)) === late ? "late" : "stopped";
  } catch (error) {
    return { failed: ownMessage(error) };
  }
}
