/** Lifecycle of the process: start order, stop order and readiness. */
import type { Clock } from "../base/clock.ts";
import { assert, StewardError, toStewardError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { Component, ComponentState, StopReport, Supervisor } from "./component.ts";
import { createStopDeadline, type StopDeadline } from "./stop-deadline.ts";
import { Member } from "./member.ts";
import { startOrder } from "./order.ts";

/**
 * Part of the deadline reserved for each component still to stop, so that one that hangs does not
 * use all of it.
 */
const RESERVE_MS = 250;
/** Time for stopping started components after a failed start. */
const UNDO_MS = 10_000;

export interface SupervisorDeps {
  readonly clock: Clock;
  readonly log: Log;
}

export function createSupervisor(deps: SupervisorDeps): Supervisor {
  return new DefaultSupervisor(deps);
}

class DefaultSupervisor implements Supervisor {
  readonly #deps: SupervisorDeps;
  readonly #members: Member[] = [];
  /** In start order, set when the start begins. */
  #order: readonly Member[] = [];
  #life: "new" | "starting" | "running" | "stopping" = "new";
  #stopDeadline: StopDeadline | undefined;
  #stopping: Promise<StopReport> | undefined;
  /** Late starts are serialised. */
  #lateStarts: Promise<void> = Promise.resolve();

  constructor(deps: SupervisorDeps) {
    this.#deps = deps;
  }

  add(component: Component): void {
    assert(this.#life === "new", `${component.name} is added before the start`);
    this.#members.push(
      new Member(component, {
        ...this.#deps,
        recovered: () => {
          this.#lateStarts = this.#lateStarts.then(() => this.#startHeldBack());
        },
      }),
    );
  }

  async start(): Promise<void> {
    assert(this.#life === "new", "a supervisor starts once");
    this.#order = this.#ordered();
    this.#life = "starting";
    try {
      for (const member of this.#order) await this.#startMember(member);
    } catch (error) {
      if (this.#stopping === undefined) await this.stop(UNDO_MS);
      throw error;
    }
    if (this.#isStopping()) throw new StewardError("cancelled", "the process is stopping");
    this.#life = "running";
  }

  stop(deadlineMs: number): Promise<StopReport> {
    if (this.#stopping !== undefined) {
      this.#stopDeadline?.shorten(deadlineMs);
      return this.#stopping;
    }
    this.#life = "stopping";
    this.#stopDeadline = createStopDeadline(this.#deps.clock, deadlineMs);
    this.#stopping = this.#stopAll(this.#stopDeadline);
    return this.#stopping;
  }

  states(): readonly ComponentState[] {
    return this.#members.map((member) => member.state());
  }

  ready(): { readonly ok: boolean; readonly reasons: readonly string[] } {
    const reasons = this.states()
      .filter(
        ({ readiness, phase }) =>
          readiness === "required" && phase !== "ready" && phase !== "refusing",
      )
      .map((state) => `${state.name}: ${state.reason ?? state.phase}`);
    const whole =
      this.#life === "running" ? [] : [this.#life === "stopping" ? "stopping" : "starting"];
    return { ok: reasons.length + whole.length === 0, reasons: [...whole, ...reasons] };
  }

  #ordered(): Member[] {
    return startOrder(
      this.#members.map((member) => ({
        member,
        name: member.component.name,
        needs: member.component.needs,
      })),
    ).map(({ member }) => member);
  }

  #isStopping(): boolean {
    return this.#life === "stopping";
  }

  async #startMember(member: Member): Promise<void> {
    if (this.#isStopping()) throw new StewardError("cancelled", "the process is stopping");
    const { name, needs, readiness } = member.component;
    const missing = needs.filter((need) =>
      this.#members.some((other) => other.component.name === need && other.phase !== "ready"),
    );
    if (missing.length > 0) {
      if (readiness === "required")
        throw new StewardError("not_ready", `${name} cannot start: it needs ${missing.join(", ")}`);
      return member.holdBack(`waits for ${missing.join(", ")}`);
    }
    try {
      await member.start();
      this.#deps.log.debug("component started", { name });
    } catch (error) {
      if (readiness === "required" || this.#isStopping()) throw error;
      member.recover(error);
    }
  }

  /** Starts the components that waited for a recovered one. Only optional ones ever wait. */
  async #startHeldBack(): Promise<void> {
    for (const member of this.#order) {
      if (member.phase !== "idle" || this.#life !== "running") continue;
      await this.#startMember(member).catch((error: unknown) =>
        this.#deps.log.warn("component did not start", {
          name: member.component.name,
          reason: toStewardError(error).message,
        }),
      );
    }
  }

  async #stopAll(deadline: StopDeadline): Promise<StopReport> {
    const beganMs = this.#deps.clock.monotonic();
    const late: string[] = [];
    const failed: { name: string; reason: string }[] = [];
    const last = this.#order.toReversed();
    const order = [
      ...last.filter(({ component }) => component.stopsFirst === true),
      ...last.filter(({ component }) => component.stopsFirst !== true),
    ];
    for (const [index, member] of order.entries()) {
      const { name } = member.component;
      const reservedMs = RESERVE_MS * (order.length - 1 - index);
      const outcome = await member.stop(deadline, Math.max(0, deadline.remainingMs() - reservedMs));
      if (outcome === "late") late.push(name);
      else if (outcome !== "stopped") failed.push({ name, reason: outcome.failed });
      if (outcome === "stopped") this.#deps.log.debug("component stopped", { name });
      else this.#deps.log.warn("component did not stop cleanly", { name, outcome });
    }
    return { late, failed, tookMs: this.#deps.clock.monotonic() - beganMs };
  }
}
