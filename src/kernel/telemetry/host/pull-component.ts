/**
 * The pull endpoint as a component. The telemetry thread opens the port and retries by itself; here
 * its state only feeds readiness, so that a port in use does not prevent the start.
 */
import type { Clock } from "../../base/clock.ts";
import type { Component, Health } from "../../supervisor/component.ts";
import type { HostMessage } from "../messages.ts";
import type { PullView } from "../status.ts";

export interface PullComponentDeps {
  readonly clock: Clock;
  readonly post: (message: HostMessage) => void;
  /** Whether there is a thread. */
  readonly running: () => boolean;
}

/** The component `metrics`. */
export class PullComponent implements Component {
  readonly name = "metrics";
  /**
   * Not even telemetry: a thread being restarted must not keep the process from starting. Added
   * after it, it stops before it.
   */
  readonly needs: readonly string[] = [];
  readonly readiness = "required";
  readonly #deps: PullComponentDeps;
  #view: PullView | undefined;
  #known: (() => void) | undefined;
  #ended: (() => void) | undefined;

  constructor(deps: PullComponentDeps) {
    this.#deps = deps;
  }

  /**
   * Resolves when the port was opened or failed to open, or there is no thread; `health` tells
   * which.
   */
  async start(signal: AbortSignal): Promise<void> {
    if (this.#isKnown() || !this.#deps.running()) return;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#known = resolve;
    const giveUp = (): void => reject(signal.reason as Error);
    signal.addEventListener("abort", giveUp, { once: true });
    try {
      await promise;
    } finally {
      signal.removeEventListener("abort", giveUp);
      this.#known = undefined;
    }
  }

  async stop(deadlineMs: number): Promise<void> {
    if (!this.#deps.running() || this.#view?.state === "stopped") return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#ended = resolve;
    const timer = this.#deps.clock.timer(this.#deps.clock.monotonic() + deadlineMs, resolve);
    this.#deps.post({ type: "pull-stop", deadlineMs });
    await promise;
    timer[Symbol.dispose]();
    this.#ended = undefined;
  }

  health(): Health {
    if (this.#view?.state === "serving") return { ok: true };
    return { ok: false, reason: this.#view?.reason ?? "the pull endpoint is not open" };
  }

  /** Called with the thread's view of the endpoint. */
  update(view: PullView | undefined): void {
    this.#view = view;
    if (this.#isKnown()) this.#known?.();
  }

  /** The thread closed the port. */
  stopped(): void {
    this.#ended?.();
  }

  /** The thread is gone, and the port with it. */
  lost(): void {
    this.#view = undefined;
    this.#ended?.();
    this.#known?.();
  }

  #isKnown(): boolean {
    return this.#view?.state === "serving" || this.#view?.state === "failed";
  }
}
