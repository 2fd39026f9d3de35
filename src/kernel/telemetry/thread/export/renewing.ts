/**
 * An exporter that is replaced while the thread runs: when its credentials changed, and for gRPC
 * when its connection is old. Running requests finish with the exporter they started with.
 */
import type { Clock } from "../../../base/clock.ts";
import type { Log } from "../../../base/log.ts";
import type { Signal } from "../../status.ts";
import { Credentials } from "./credentials.ts";
import type { WireTarget } from "../options.ts";

export interface Renewable {
  shutdown(): Promise<void>;
}

export interface RenewingDeps<E extends Renewable> {
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: Signal;
  readonly make: (target: WireTarget) => E;
}

export class Renewing<E extends Renewable> {
  readonly #deps: RenewingDeps<E>;
  readonly #timers = new Set<Disposable>();
  #target: WireTarget;
  #current: E;
  #stopped = false;
  #unusable = "";

  constructor(target: WireTarget, deps: RenewingDeps<E>) {
    this.#deps = deps;
    this.#target = target;
    this.#current = deps.make(target);
    if (target.reload !== undefined) {
      const credentials = new Credentials(target, target.reload);
      this.#every(target.reload.everyMs, () => this.#check(credentials));
    }
    if (target.reconnectMs > 0) this.#every(target.reconnectMs, () => this.#replace());
  }

  current(): E {
    return this.#current;
  }

  /** Stops replacing. The caller still owns the exporter in use. */
  stop(): void {
    this.#stopped = true;
    for (const timer of this.#timers) timer[Symbol.dispose]();
    this.#timers.clear();
  }

  #every(ms: number, work: () => Promise<void>): void {
    const { clock } = this.#deps;
    const timer = clock.timer(clock.monotonic() + ms, () => {
      this.#timers.delete(timer);
      void work().finally(() => {
        if (!this.#stopped) this.#every(ms, work);
      });
    });
    this.#timers.add(timer);
  }

  async #check(credentials: Credentials): Promise<void> {
    const { log, signal } = this.#deps;
    const result = await credentials.check();
    if (result.kind === "unusable") {
      if (result.reason !== this.#unusable)
        log.warn(
          `credentials for exporting ${signal} cannot be used; the last good ones stay in use`,
          { reason: result.reason },
        );
      this.#unusable = result.reason;
      return;
    }
    if (this.#unusable !== "" && result.kind === "same")
      log.info(`the credentials for exporting ${signal} are readable again`);
    this.#unusable = "";
    if (result.kind === "same") return;
    this.#target = result.target;
    await this.#replace();
    log.info(`reloaded the credentials for exporting ${signal}`);
  }

  /** The old exporter is shut down after its last request, in the background. */
  #replace(): Promise<void> {
    const old = this.#current;
    this.#current = this.#deps.make(this.#target);
    void old.shutdown().catch(() => undefined);
    return Promise.resolve();
  }
}
