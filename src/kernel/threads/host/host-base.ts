/** The common part of hosts on any thread: component and topics. */
import { StewardError } from "../../base/errors.ts";
import { STORE_START_MS, type Health, type Supervisor } from "../../supervisor/component.ts";
import { RESTART, type HostDeps, type HostSpec } from "./host-spec.ts";
import type { ThreadHost } from "../hosted-service.ts";
import { Topics } from "../topics.ts";
import { waitFor } from "../../async/wait.ts";

export abstract class HostBase {
  readonly name: string;
  readonly needs: readonly string[];
  readonly readiness: ThreadHost["readiness"];
  readonly restart: typeof RESTART = RESTART;
  readonly startTimeoutMs: number = STORE_START_MS;
  protected readonly deps: HostDeps;
  protected readonly spec: HostSpec;
  protected readonly topics: Topics;

  /** `listened` is called when a topic gets its first listener and loses its last. */
  protected constructor(
    deps: HostDeps,
    spec: HostSpec,
    listened: (topic: string, listened: boolean) => void,
  ) {
    this.name = spec.code.name;
    this.needs = spec.needs;
    this.readiness = spec.readiness;
    this.deps = deps;
    this.spec = spec;
    this.topics = new Topics(listened);
  }

  events(topic: string, signal: AbortSignal): AsyncIterable<Uint8Array> {
    return this.topics.listen(topic, signal);
  }

  /**
   * Lets messages that the stopped service left on its ports be processed, until a monotonic time.
   * Never rejects.
   */
  protected async drained(endsAtMs: number): Promise<void> {
    const { clock, log, drained } = this.deps;
    const leftMs = endsAtMs - clock.monotonic();
    if (drained === undefined || leftMs <= 0) return;
    const collected = drained(leftMs).catch((error: unknown) =>
      log.warn("cannot collect the remaining results of a service", { name: this.name, error }),
    );
    await waitFor(collected, { clock, timeoutMs: leftMs });
  }

  protected notRunning(): StewardError {
    return new StewardError("not_ready", `${this.name} is not running`, { retryAfterMs: 1000 });
  }
}

/** The worst health of its components; healthy without any. */
export function healthOf(ready: ReturnType<Supervisor["ready"]> | undefined): Health {
  return ready === undefined || ready.ok
    ? { ok: true }
    : { ok: false, reason: ready.reasons.join("; ") };
}
