/**
 * Hosts a service that one replica runs at a time: idle on standby, at work while this process holds
 * the lease. Both lives have an instance of their own, and never run side by side.
 */
import type { Backoff } from "../../kernel/async/backoff.ts";
import type { Clock } from "../../kernel/base/clock.ts";
import { StewardError } from "../../kernel/base/errors.ts";
import type { Service } from "../../kernel/service.ts";
import {
  STORE_START_MS,
  type ComponentState,
  type Health,
} from "../../kernel/supervisor/component.ts";
import { RESTART } from "../../kernel/threads/host/host-spec.ts";
import type {
  CallOptions,
  PlacementStatus,
  ThreadHost,
  ThreadReply,
} from "../../kernel/threads/hosted-service.ts";
import { POSITIONS_TOPIC } from "../../monitor/coordination/shared-positions.ts";
import type { Election, ElectionState, Tenure } from "../../monitor/coordination/election.ts";

/** For the instance on standby, which has little to finish. */
const STANDBY_STOP_MS = 2_000;

export interface ElectedHostDeps {
  readonly clock: Clock;
  /** A host that was not started, on standby or under the tenure. */
  open(tenure: Tenure | undefined): ThreadHost;
  elect(work: (tenure: Tenure) => Promise<void>): Promise<Election>;
}

export interface ElectedHost extends ThreadHost {
  /** Undefined while it does not run. */
  election(): ElectionState | undefined;
}

export function createElectedHost(deps: ElectedHostDeps): ElectedHost {
  return new LeasedHost(deps);
}

class LeasedHost implements ElectedHost {
  readonly name: string;
  readonly needs: readonly string[];
  readonly readiness: ThreadHost["readiness"];
  readonly restart: Backoff;
  readonly startTimeoutMs: number = STORE_START_MS;
  readonly #deps: ElectedHostDeps;
  readonly #idle: PlacementStatus;
  #current: ThreadHost | undefined;
  #election: Election | undefined;
  #failed: (error: unknown) => void = () => undefined;
  /** The change to standby under way. */
  #returning: Promise<void> = Promise.resolve();
  /** Passes on what the instance publishes for the next holder; ends with it. */
  #following: Promise<void> = Promise.resolve();
  /** When the stop must be over, by the monotonic clock; undefined while it runs. */
  #stopByMs: number | undefined;

  constructor(deps: ElectedHostDeps) {
    this.#deps = deps;
    const { name, needs, readiness, restart, ...host } = described(deps.open(undefined));
    this.name = name;
    this.needs = needs;
    this.readiness = readiness;
    this.restart = restart;
    this.#idle = host.status;
  }

  async start(signal: AbortSignal, failed: (error: unknown) => void): Promise<void> {
    this.#stopByMs = undefined;
    this.#failed = failed;
    await this.#enter(undefined, signal);
    this.#election = await this.#deps.elect((tenure) => this.#work(tenure));
  }

  async stop(deadlineMs: number): Promise<void> {
    this.#stopByMs = this.#deps.clock.monotonic() + deadlineMs;
    const election = this.#election;
    this.#election = undefined;
    await election?.stop();
    await this.#returning;
    await this.#leave(this.#leftMs());
  }

  election(): ElectionState | undefined {
    return this.#election?.state();
  }

  health(): Health {
    return this.#current?.health?.() ?? { ok: true };
  }

  service(): Service {
    return this.#running().service();
  }

  async call(method: string, body: Uint8Array, options: CallOptions): Promise<ThreadReply> {
    return await this.#running().call(method, body, options);
  }

  events(topic: string, signal: AbortSignal): AsyncIterable<Uint8Array> {
    return this.#running().events(topic, signal);
  }

  renewPorts(): void {
    this.#current?.renewPorts();
  }

  states(): readonly ComponentState[] {
    return this.#current?.states() ?? [];
  }

  status(): PlacementStatus {
    return this.#current?.status() ?? this.#idle;
  }

  /** Ends with the tenure. Never rejects: a failure is the component's. */
  async #work(tenure: Tenure): Promise<void> {
    await this.#returning;
    await this.#leave(STANDBY_STOP_MS);
    try {
      await this.#enter(tenure, tenure.signal);
      await aborted(tenure.signal);
    } catch (error) {
      if (!tenure.signal.aborted) this.#failed(error);
    }
    await this.#leave(this.#stopByMs === undefined ? tenure.graceMs() : this.#leftMs());
    // The lease is given back meanwhile: the next holder does not wait for our standby.
    this.#returning = this.#return();
  }

  async #return(): Promise<void> {
    if (this.#stopByMs !== undefined) return;
    try {
      await this.#enter(undefined, new AbortController().signal);
    } catch (error) {
      this.#failed(error);
    }
  }

  async #enter(tenure: Tenure | undefined, signal: AbortSignal): Promise<void> {
    const host = this.#deps.open(tenure);
    this.#current = host;
    await host.start(signal, (error) => {
      if (this.#current === host) this.#failed(error);
    });
    if (tenure !== undefined) this.#following = follow(host, tenure);
  }

  async #leave(deadlineMs: number): Promise<void> {
    const host = this.#current;
    await host?.stop(deadlineMs);
    await this.#following;
    if (this.#current === host) this.#current = undefined;
  }

  #leftMs(): number {
    return Math.max(0, (this.#stopByMs ?? 0) - this.#deps.clock.monotonic());
  }

  #running(): ThreadHost {
    if (this.#current === undefined)
      throw new StewardError("not_ready", `${this.name} changes its role`, { retryAfterMs: 1_000 });
    return this.#current;
  }
}

async function follow(host: ThreadHost, tenure: Tenure): Promise<void> {
  for await (const text of host.events(POSITIONS_TOPIC, new AbortController().signal))
    tenure.keep(Buffer.from(text).toString("utf8"));
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

function described(host: ThreadHost) {
  const { name, needs, readiness, restart = RESTART } = host;
  return { name, needs, readiness, restart, status: host.status() };
}
