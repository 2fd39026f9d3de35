/**
 * Telemetry of the process: the writer of its own thread, and the host of the telemetry thread,
 * which is started only when something exports or is scraped.
 */
import { MessageChannel, Worker } from "node:worker_threads";
import type { MessagePort } from "node:worker_threads";
import type { Clock } from "../base/clock.ts";
import { StewardError } from "../base/errors.ts";
import type { Log, LogLine } from "../base/log.ts";
import type { Component } from "../supervisor/component.ts";
import { DeliveryLog } from "./host/delivery-log.ts";
import { Expositions } from "./host/expositions.ts";
import type { Exposition } from "./host/expositions.ts";
import type { ExposeQuery, HostMessage, HostReply } from "./messages.ts";
import type { WireSpan, Scope, ScopeSpec } from "./types.ts";
import { compileLimits, compileOptions } from "./options.ts";
import type { TelemetryOptions } from "./options.ts";
import type { CeilingLimits } from "./series/ceiling.ts";
import { PullComponent } from "./host/pull-component.ts";
import { OutputGate } from "./host/output-gate.ts";
import type { LedgerView, Observed, TelemetryStatus } from "./status.ts";
import type { ThreadOptions } from "./thread/options.ts";
import { createTelemetryWriter } from "./writer/writer.ts";
import type { TelemetryWriter } from "./writer/writer.ts";

const FLUSH_MARGIN_MS = 250;
/**
 * An export creates 100,000 short-lived points; without a limit V8 grows the young generation for
 * throughput that is not needed.
 */
const YOUNG_MB = 6;

export interface TelemetryDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly ceiling?: CeilingLimits;
  /**
   * Writes an exporter's text to standard output and calls back when written; default: the
   * process's own.
   */
  readonly output?: (text: string, written: () => void) => void;
}

/** Scopes work before the component starts and after it stopped. */
export interface Telemetry {
  /** Throws when a scope of that name is open. The first scope is the process's. */
  scope(spec: ScopeSpec): Scope;
  /** The exporting part. Its start does not wait for the thread. */
  readonly component: Component;
  /** The port of the pull endpoint, for `/readyz`: name `metrics`; undefined without one. */
  readonly pull: Component | undefined;
  /**
   * A port for the writer of another thread (`createTelemetryWriter`), to be transferred to it;
   * undefined when nothing exports. With the memory of a `Fence`, nothing that arrives by the port
   * is exported or served while the fence is closed.
   */
  port(fence?: SharedArrayBuffer): MessagePort | undefined;
  /**
   * Called whenever a telemetry thread was started: writers of other threads then need a new port.
   */
  onStarted(listener: () => void): Disposable;
  /**
   * From now on exporters may write to standard output; the process's own first line comes before
   * them.
   */
  openOutput(): void;
  /** Whether log records are exported, for `attach` in another thread. */
  readonly wantsLogs: boolean;
  /**
   * Exports everything queued; false when that took longer than the deadline. For delivery see
   * `status()`. `after` is a mark of another thread's writer (`TelemetryWriter.mark`), which is
   * waited for first.
   */
  flush(deadlineMs: number, after?: number): Promise<boolean>;
  /**
   * The exposition as a stream. Throws `not_ready` when the thread is down, `unsupported` when
   * pulling is off.
   */
  expose(query: ExposeQuery, signal: AbortSignal): Exposition;
  /** Ships a log line with the process's resource; a no-op without a log exporter. */
  line(line: LogLine): void;
  /**
   * Ships a finished span; `make` is not called when it would be dropped. A no-op without a trace
   * exporter.
   */
  span(make: () => Omit<WireSpan, "scope">): void;
  status(): TelemetryStatus;
  /** Called with durations: each export request, each response of the pull endpoint. */
  onObserved(listener: (observed: readonly Observed[]) => void): Disposable;
  /** Called whenever the delivery ledger changed. */
  onLedger(listener: (ledger: LedgerView) => void): Disposable;
}

/** Nothing runs until the component starts. */
export function createTelemetry(deps: TelemetryDeps, options: TelemetryOptions): Telemetry {
  return new ThreadedTelemetry(deps, options);
}

class ThreadedTelemetry implements Telemetry {
  readonly component: Component;
  readonly pull: Component | undefined;
  readonly wantsLogs: boolean;
  readonly #deps: TelemetryDeps;
  readonly #options: TelemetryOptions;
  readonly #compiled: ThreadOptions;
  readonly #wanted: boolean;
  readonly #writer: TelemetryWriter;
  readonly #deliveryLog: DeliveryLog;
  readonly #expositions: Expositions = new Expositions(
    (message) => this.#post(message),
    () => this.#mark(),
  );
  readonly #flushes = new Map<number, () => void>();
  readonly #ledgerListeners = new Set<(ledger: LedgerView) => void>();
  readonly #observers = new Set<(observed: readonly Observed[]) => void>();
  readonly #starts = new Set<() => void>();
  readonly #pull: PullComponent | undefined;
  readonly #output: OutputGate;
  #worker: Worker | undefined;
  #thread: TelemetryStatus["thread"];
  #ledger: LedgerView | undefined;
  #stopped: (() => void) | undefined;
  #nextMark = 0;

  constructor(deps: TelemetryDeps, options: TelemetryOptions) {
    this.#deps = deps;
    this.#options = options;
    this.#compiled = compileOptions(options);
    const { metrics, logs, traces } = this.#compiled;
    this.#wanted =
      metrics !== undefined ||
      logs !== undefined ||
      traces !== undefined ||
      options.pull ||
      options.scrape !== undefined;
    this.#thread = this.#wanted ? "stopped" : "off";
    this.wantsLogs = logs !== undefined;
    this.#writer = createTelemetryWriter({
      clock: deps.clock,
      ...(deps.ceiling ? { ceiling: deps.ceiling } : {}),
      ...(traces ? { spans: { capacity: traces.capacity } } : {}),
      ...(logs
        ? { logs: { capacity: logs.capacity, limits: compileLimits(options.logs?.limits) } }
        : {}),
    });
    this.#deliveryLog = new DeliveryLog(deps.clock, deps.log);
    this.#output = new OutputGate(deps.output ?? writeOutput, (id) =>
      this.#post({ type: "written", id }),
    );
    this.#pull =
      options.scrape &&
      new PullComponent({
        clock: deps.clock,
        post: (message) => this.#post(message),
        running: () => this.#worker !== undefined,
      });
    this.pull = this.#pull;
    this.component = {
      name: "telemetry",
      needs: [],
      readiness: "reported",
      restart: { firstMs: 1_000, maxMs: 60_000 },
      start: (_signal, failed) => this.#start(failed),
      stop: (deadlineMs) => this.#stop(deadlineMs),
      health: () => this.#health(),
    };
  }

  scope(spec: ScopeSpec): Scope {
    return this.#writer.scope(spec);
  }

  port(fence?: SharedArrayBuffer): MessagePort | undefined {
    if (!this.#worker) return undefined;
    const { port1, port2 } = new MessageChannel();
    this.#worker.postMessage({ type: "attach", port: port1, fence } satisfies HostMessage, [port1]);
    return port2;
  }

  onStarted(listener: () => void): Disposable {
    return subscribe(this.#starts, listener);
  }

  openOutput(): void {
    this.#output.open();
  }

  async flush(deadlineMs: number, after?: number): Promise<boolean> {
    if (!this.#worker) return true;
    const mark = this.#mark();
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const timer = this.#deps.clock.timer(this.#deps.clock.monotonic() + deadlineMs, () =>
      resolve(false),
    );
    this.#flushes.set(mark, () => resolve(true));
    this.#post({ type: "flush", mark, after });
    this.#worker.ref();
    const done = await promise;
    this.#worker?.unref();
    this.#flushes.delete(mark);
    timer[Symbol.dispose]();
    return done;
  }

  expose(query: ExposeQuery, signal: AbortSignal): Exposition {
    if (!this.#options.pull)
      throw new StewardError(
        "unsupported",
        "metrics cannot be pulled: no pull endpoint is switched on",
      );
    if (!this.#worker)
      throw new StewardError(
        "not_ready",
        "metrics cannot be pulled: the telemetry thread is not running",
      );
    return this.#expositions.open(query, signal);
  }

  line(line: LogLine): void {
    this.#writer.line(line);
  }

  span(make: () => Omit<WireSpan, "scope">): void {
    this.#writer.span(make);
  }

  status(): TelemetryStatus {
    return {
      thread: this.#thread,
      ledger: this.#ledger,
      ...this.#writer.status(),
      suppressed: this.#deliveryLog.suppressed(),
    };
  }

  onLedger(listener: (ledger: LedgerView) => void): Disposable {
    return subscribe(this.#ledgerListeners, listener);
  }

  onObserved(listener: (observed: readonly Observed[]) => void): Disposable {
    return subscribe(this.#observers, listener);
  }

  #start(failed: (error: unknown) => void): Promise<void> {
    if (!this.#wanted || this.#worker) return Promise.resolve();
    const worker = new Worker(new URL("./thread/thread.ts", import.meta.url), {
      workerData: this.#compiled,
      env: withoutSdkVariables(),
      name: "telemetry",
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
    });
    worker.unref();
    this.#worker = worker;
    this.#thread = "starting";
    worker.on("message", (message: HostReply) => this.#handleReply(message));
    worker.on("error", (error) => this.#lost(worker, failed, error));
    worker.on("exit", (code) =>
      this.#lost(
        worker,
        failed,
        new StewardError("internal", `the telemetry thread ended with code ${code}`),
      ),
    );
    const port = this.port();
    if (port)
      this.#writer.attach(port, {
        logs: this.wantsLogs,
        spans: this.#compiled.traces !== undefined,
      });
    for (const listener of this.#starts) listener();
    return Promise.resolve();
  }

  async #stop(deadlineMs: number): Promise<void> {
    const worker = this.#worker;
    if (!worker) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#stopped = resolve;
    const timer = this.#deps.clock.timer(this.#deps.clock.monotonic() + deadlineMs, resolve);
    const mark = this.#mark();
    // From now on nothing else keeps the process alive, and the last flush needs it.
    worker.ref();
    this.#post({ type: "stop", mark, deadlineMs: Math.max(0, deadlineMs - FLUSH_MARGIN_MS) });
    await promise;
    timer[Symbol.dispose]();
    this.#stopped = undefined;
    this.#forget("stopped");
    await worker.terminate();
  }

  #handleReply(message: HostReply): void {
    switch (message.type) {
      case "ready":
        this.#thread = "running";
        return;
      case "ledger":
        this.#ledger = message.ledger;
        this.#deliveryLog.update(message.ledger);
        this.#pull?.update(message.ledger.pull);
        for (const listener of this.#ledgerListeners) listener(message.ledger);
        if (message.observed.length > 0)
          for (const listener of this.#observers) listener(message.observed);
        return;
      case "log":
        return this.#deps.log[message.level](message.message, message.fields);
      case "output":
        return this.#output.take(message.id, message.text);
      case "pull-stopped":
        return this.#pull?.stopped();
      case "flushed":
        return this.#flushes.get(message.mark)?.();
      case "chunk":
        return this.#expositions.receive(message);
      case "stopped":
        return this.#stopped?.();
    }
  }

  #lost(worker: Worker, failed: (error: unknown) => void, error: unknown): void {
    if (this.#worker !== worker) return;
    this.#stopped?.();
    this.#forget("failed");
    failed(error);
  }

  #forget(phase: "stopped" | "failed"): void {
    this.#worker = undefined;
    this.#thread = phase;
    this.#output.forget();
    this.#pull?.lost();
    for (const done of this.#flushes.values()) done();
    this.#expositions.fail(`the telemetry thread has ${phase}`);
  }

  #health(): { ok: boolean; reason?: string } {
    const failing = this.#deliveryLog.failing();
    return failing.length === 0 ? { ok: true } : { ok: false, reason: failing.join("; ") };
  }

  #mark(): number {
    const mark = this.#nextMark;
    this.#nextMark += 1;
    this.#writer.mark(mark);
    return mark;
  }

  #post(message: HostMessage): void {
    this.#worker?.postMessage(message);
  }
}

/** The same function may be registered twice; each registration is disposed on its own. */
function subscribe<A extends readonly unknown[]>(
  all: Set<(...args: A) => void>,
  listener: (...args: A) => void,
): Disposable {
  const own = (...args: A): void => listener(...args);
  all.add(own);
  return { [Symbol.dispose]: () => void all.delete(own) };
}

function writeOutput(text: string, written: () => void): void {
  process.stdout.write(text, () => written());
}

/**
 * The SDK reads `OTEL_*` itself; our options come from the configuration alone, which uses those
 * variables as defaults.
 */
function withoutSdkVariables(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.startsWith("OTEL_")),
  );
}
