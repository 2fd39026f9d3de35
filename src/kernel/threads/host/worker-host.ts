/**
 * Hosts a service in its own thread: starts it, forwards calls, monitors its heartbeat, terminates
 * it in time.
 */
import { Worker } from "node:worker_threads";
import { readError } from "../../base/error-message.ts";
import { assert, StewardError } from "../../base/errors.ts";
import type { Service } from "../../service.ts";
import { threadExited } from "../../state/file/write-gate.ts";
import type { ComponentState, Health } from "../../supervisor/component.ts";
import { threadEnvironment, STATE_MS, type Boot } from "../boot.ts";
import { HostBase, healthOf } from "./host-base.ts";
import { CALL_MS, type HostDeps, type HostSpec } from "./host-spec.ts";
import { createRelayedLog, type LogBoot, type LogMessage } from "../log-lines.ts";
import { ownBytes, type FromThread, type StateMessage, type ToThread } from "../calls/messages.ts";
import { PendingCalls } from "../calls/pending.ts";
import type { CallOptions, PlacementStatus, ThreadHost, ThreadReply } from "../hosted-service.ts";
import { createRemoteService } from "../calls/remote-service.ts";

/** Heartbeat timeout: degraded after one miss, restarted after two. */
const SILENT_MS = 10_000;
const LOST_MS = 60_000;
/**
 * A check of the heartbeat that is later than this follows a pause, e.g. SIGSTOP: the thread gets
 * the whole time again.
 */
const LATE_MS = 5_000;
/**
 * Young generation of one thread: unbounded, V8 grows it to 100 MiB for a few per cent of speed and
 * longer pauses.
 */
const YOUNG_MB = 12;
/** Part of a stop's deadline reserved for terminating the thread. */
const TERMINATE_MS = 250;

export class WorkerHost extends HostBase implements ThreadHost {
  readonly #calls: PendingCalls;
  #worker: Worker | undefined;
  #service: Service | undefined;
  #isStarting = false;
  #state: StateMessage | undefined;
  #lastMessageMs = 0;
  #watch: Disposable | undefined;
  #stopped: (() => void) | undefined;

  constructor(deps: HostDeps, spec: HostSpec) {
    super(deps, spec, (topic, listened) =>
      this.#post({ kind: listened ? "listen" : "unlisten", topic }),
    );
    this.#calls = new PendingCalls(this.name, deps.clock, {
      cancel: (id) => this.#post({ kind: "cancel", id }),
      credit: (id) => this.#post({ kind: "credit", id }),
    });
  }

  async start(signal: AbortSignal, failed: (error: unknown) => void): Promise<void> {
    signal.throwIfAborted();
    this.topics.open();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const lines = createRelayedLog(this.deps.log, this.name);
    const worker = this.#launch(lines.boot);
    this.#worker = worker;
    this.#isStarting = true;
    this.#lastMessageMs = this.deps.clock.monotonic();
    const lost = (error: unknown): void => {
      if (this.#worker !== worker) return;
      this.#forget();
      reject(error);
      failed(error);
    };
    worker.on("message", (message: FromThread) => {
      // Also those of an abandoned thread: they tell why.
      if (message.kind === "line" || message.kind === "dropped") return lines.receive(message);
      if (this.#worker !== worker) return;
      this.#lastMessageMs = this.deps.clock.monotonic();
      if (message.kind === "started") this.#begin(message, resolve);
      else if (message.kind === "broken") reject(readError(`thread ${this.name}`, message.error));
      else this.#receive(message);
    });
    worker.on("error", lost);
    const { threadId } = worker;
    worker.on("exit", () => threadExited(threadId));
    worker.on("exit", (code) =>
      lost(new StewardError("internal", `the thread ${this.name} ended with code ${code}`)),
    );
    const giveUp = (): void => reject(signal.reason);
    signal.addEventListener("abort", giveUp, { once: true });
    this.#watchLife(lost);
    try {
      await promise;
    } finally {
      signal.removeEventListener("abort", giveUp);
    }
  }

  async stop(deadlineMs: number): Promise<void> {
    const worker = this.#worker;
    const endsAtMs = this.deps.clock.monotonic() + deadlineMs - TERMINATE_MS;
    this.#watch?.[Symbol.dispose]();
    this.#service = undefined;
    this.#isStarting = false;
    if (worker !== undefined) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#stopped = resolve;
      const timer = this.deps.clock.timer(this.deps.clock.monotonic() + deadlineMs, resolve);
      worker.once("exit", resolve);
      this.#post({ kind: "stop", deadlineMs: Math.max(0, deadlineMs - TERMINATE_MS) });
      await promise;
      timer[Symbol.dispose]();
      await this.drained(endsAtMs);
      this.#forget();
      await worker.terminate();
    }
    this.topics.close();
  }

  health(): Health {
    const silentMs = this.deps.clock.monotonic() - this.#lastMessageMs;
    if (silentMs > SILENT_MS)
      return {
        ok: false,
        reason: `the thread has sent no heartbeat for ${Math.round(silentMs / 1000)} s`,
      };
    return healthOf(this.#state?.ready);
  }

  service(): Service {
    if (this.#service === undefined) throw this.notRunning();
    return this.#service;
  }

  async call(method: string, body: Uint8Array, options: CallOptions): Promise<ThreadReply> {
    if (this.#service === undefined) throw this.notRunning();
    const { encoding, requestId, caller, deadlineMs = CALL_MS } = options;
    const { id, reply } = this.#calls.open(options.signal, deadlineMs);
    const owned = ownBytes(body);
    this.#post(
      {
        kind: "call",
        id,
        method,
        encoding,
        requestId,
        deadlineMs,
        body: owned,
        ...(caller === undefined ? {} : { caller }),
      },
      owned.byteLength === 0 ? [] : [owned.buffer],
    );
    return await reply;
  }

  renewPorts(): void {
    // A starting thread keeps them until its service has started; a stopping one needs none.
    if (this.#service === undefined && !this.#isStarting) return;
    const ports = this.deps.ports?.() ?? {};
    this.#worker?.postMessage({ kind: "ports", ports } satisfies ToThread, Object.values(ports));
  }

  states(): readonly ComponentState[] {
    return this.#state?.components ?? [];
  }

  status(): PlacementStatus {
    return {
      on: "thread",
      inFlight: this.#calls.size,
      calls: this.#calls.begun,
      dropped: this.#calls.dropped,
      missedEvents: this.topics.missed,
    };
  }

  #launch(log: LogBoot): Worker {
    const ports = this.deps.ports?.() ?? {};
    const workerData: Boot = { code: this.spec.code, options: this.spec.options, log, ports };
    const { heapMb } = this.spec;
    return new Worker(new URL("../thread.ts", import.meta.url), {
      workerData,
      transferList: Object.values(ports),
      name: this.name,
      env: threadEnvironment(process.env, this.spec.variables),
      resourceLimits: {
        maxYoungGenerationSizeMb: YOUNG_MB,
        ...(heapMb === undefined ? {} : { maxOldGenerationSizeMb: heapMb }),
      },
    });
  }

  #begin(
    { services, plain }: FromThread & { readonly kind: "started" },
    started: () => void,
  ): void {
    const { code, descriptors } = this.spec;
    const wanted = descriptors.map((desc) => desc.typeName);
    assert(
      wanted.length === services.length && wanted.every((name) => services.includes(name)),
      `${code.name} binds ${wanted.join(", ")}`,
    );
    this.#service = createRemoteService(code.name, descriptors, plain, this);
    this.#isStarting = false;
    started();
  }

  #receive(
    message: Exclude<FromThread, LogMessage | { readonly kind: "started" | "broken" }>,
  ): void {
    switch (message.kind) {
      case "reply":
      case "chunk":
      case "end":
        return this.#calls.receive(message);
      case "event":
        return this.topics.publish(message.topic, message.body);
      case "stopped":
        return this.#stopped?.();
      case "state":
        this.#state = message;
    }
  }

  #watchLife(lost: (error: unknown) => void): void {
    const { clock } = this.deps;
    let dueAtMs = clock.monotonic();
    const look = (): void => {
      const worker = this.#worker;
      if (worker === undefined) return;
      const nowMs = clock.monotonic();
      if (nowMs - dueAtMs > LATE_MS) this.#lastMessageMs = nowMs;
      if (nowMs - this.#lastMessageMs > LOST_MS) {
        lost(
          new StewardError(
            "deadline",
            `the thread ${this.name} sent no heartbeat for ${LOST_MS / 1000} s and was terminated`,
          ),
        );
        void worker.terminate();
        return;
      }
      dueAtMs = nowMs + STATE_MS;
      this.#watch = clock.timer(dueAtMs, look);
    };
    look();
  }

  #forget(): void {
    this.#watch?.[Symbol.dispose]();
    this.#worker = undefined;
    this.#service = undefined;
    this.#isStarting = false;
    this.#state = undefined;
    this.#stopped?.();
    this.#stopped = undefined;
    this.#calls.fail(this.notRunning());
  }

  #post(message: ToThread, transfer: readonly ArrayBuffer[] = []): void {
    this.#worker?.postMessage(message, [...transfer]);
  }
}
