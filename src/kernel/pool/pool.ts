/**
 * The worker pool: typed tasks on Piscina threads, or in processes of their own, with bounded
 * queues, cancellation of running tasks, and crashes that fail only the input that caused them.
 */
import { availableParallelism, totalmem } from "node:os";
import type { Piscina } from "piscina";
import type { Clock } from "../base/clock.ts";
import { readError } from "../base/error-message.ts";
import { StewardError, systemCodeOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { startAttempt } from "./attempt.ts";
import type { Attempt, AttemptEnd } from "./attempt.ts";
import { unitsOf } from "./control.ts";
import { mapOrdered } from "./map.ts";
import type { ProcessMessage } from "./message.ts";
import { createWorkerProcesses, type WorkerProcesses } from "./processes.ts";
import { PROGRESS_MS, summed, throttled } from "./progress.ts";
import type { OnUnits } from "./progress.ts";
import type { Pool, RunOptions, Task } from "./types.ts";
import { createSemaphore, type Semaphore } from "../async/semaphore.ts";

/** Both sizes have defaults from the machine. */
export interface PoolOptions {
  /** Worker threads; default: one per core, as far as half of the memory allows. */
  readonly threads?: number;
  /**
   * JavaScript heap of one thread in MiB, default 512. Shared and transferred buffers do not count.
   */
  readonly heapMb?: number;
  readonly clock: Clock;
  readonly log: Log;
}

const DEFAULT_HEAP_MB = 512;
/** Young generation of one thread: a third of the default's memory for a few per cent of speed. */
const YOUNG_MB = 16;
const MIB = 2 ** 20;
const IDLE_MS = 30_000;
const MAX_TRIES = 2;
/** How long `close` waits for cancelled tasks before it terminates their threads. */
const CLOSE_MS = 1_000;

/** One thread per core, as far as half of the memory allows. */
export function defaultThreads(heapMb: number, cores: number, memoryBytes: number): number {
  return Math.max(1, Math.min(cores, Math.floor(memoryBytes / 2 / (heapMb * MIB))));
}

/** Creates a pool. Threads start with the first tasks and end after 30 s without work. */
export function createPool(options: PoolOptions): Pool {
  const heapMb = options.heapMb ?? DEFAULT_HEAP_MB;
  const memory = Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
  const threads = options.threads ?? defaultThreads(heapMb, availableParallelism(), memory);
  return new PiscinaPool({ threads, heapMb, clock: options.clock, log: options.log });
}

interface InnerOptions extends Pick<RunOptions, "signal" | "tries" | "deadlineMs" | "ownProcess"> {
  readonly transfer: readonly ArrayBuffer[] | undefined;
  readonly onUnits: OnUnits | undefined;
  /** Reject when the queue is full instead of waiting. */
  readonly bounded: boolean;
}

type StartAttempt = (message: ProcessMessage) => Attempt;

class PiscinaPool implements Pool {
  readonly #slots: Semaphore;
  readonly #maxQueued: number;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #threads: number;
  readonly #heapMb: number;
  readonly #attempts = new Set<Attempt>();
  readonly #closing = new AbortController();
  readonly #processes: WorkerProcesses;
  #opened: Promise<Piscina> | undefined;
  #crashed = 0;

  constructor(options: Required<PoolOptions>) {
    this.#clock = options.clock;
    this.#log = options.log;
    this.#threads = options.threads;
    this.#heapMb = options.heapMb;
    this.#maxQueued = 2 * options.threads;
    this.#slots = createSemaphore(options.threads, this.#maxQueued);
    this.#processes = createWorkerProcesses({
      heapMb: options.heapMb,
      youngMb: YOUNG_MB,
      idleMs: IDLE_MS,
      clock: options.clock,
    });
  }

  async run<I, O>(task: Task<I, O>, input: I, options: RunOptions): Promise<O> {
    const { transfer } = options;
    return this.#run(task, input, {
      ...options,
      transfer,
      onUnits: throttled(this.#clock, options.onProgress),
      bounded: true,
    });
  }

  map<I, O>(
    task: Task<I, O>,
    inputs: Iterable<I> | AsyncIterable<I>,
    options: RunOptions & { readonly inFlight?: number },
  ): AsyncIterable<O> {
    const sum = summed(throttled(this.#clock, options.onProgress));
    return mapOrdered(inputs, options.inFlight ?? this.#threads + 1, options.signal, {
      waitForCapacity: (signal) => this.#slots.waitForQueue(signal),
      start: (input, signal) =>
        this.#run(task, input, {
          ...options,
          signal,
          transfer: options.transfer,
          onUnits: sum?.(),
          bounded: false,
        }),
    });
  }

  status(): ReturnType<Pool["status"]> {
    return {
      threads: this.#threads,
      running: this.#slots.held,
      queued: this.#slots.waiting,
      limit: this.#maxQueued,
      crashed: this.#crashed,
    };
  }

  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort(new StewardError("cancelled", "the worker pool is closing"));
    await Promise.all([...this.#attempts].map((attempt) => attempt.end));
    await this.#processes.close();
    await (await this.#opened)?.close({ force: true });
  }

  /** Piscina is loaded with the first task: a process without one does not need it. */
  #open(): Promise<Piscina> {
    this.#opened ??= import("piscina").then(({ Piscina }) => {
      const piscina = new Piscina({
        filename: new URL("./runner.ts", import.meta.url).href,
        name: "runAttempt",
        minThreads: 0,
        maxThreads: this.#threads,
        idleTimeout: IDLE_MS,
        resourceLimits: {
          maxOldGenerationSizeMb: this.#heapMb,
          maxYoungGenerationSizeMb: YOUNG_MB,
        },
        recordTiming: false,
        closeTimeout: CLOSE_MS,
      });
      piscina.on("error", (error: Error) => this.#lostIdleThread(error));
      return piscina;
    });
    return this.#opened;
  }

  async #run<I, O>(task: Task<I, O>, input: I, options: InnerOptions): Promise<O> {
    const signal = AbortSignal.any([options.signal, this.#closing.signal]);
    for (let tries = 1; ; tries += 1) {
      if (options.bounded && tries === 1 && this.#slots.isFull) throw this.#tooManyWait();
      const slot = await this.#slots.acquire(signal);
      const begin = await this.#starter(options).catch((thrown: unknown) => {
        slot[Symbol.dispose]();
        throw thrown;
      });
      const end = await this.#try(task, input, { ...options, signal, slot, begin });
      if (end.kind === "reply") {
        if (end.reply.ok) return end.reply.value as O;
        throw readError(`task ${task.name}`, end.reply.error);
      }
      if (end.kind === "unsendable")
        throw new StewardError(
          "internal",
          `the input of task ${task.name} cannot be sent to a worker`,
          { cause: end.error },
        );
      if (end.kind === "unstarted") throw unstarted(task.name, end.error);
      this.#crashed += 1;
      // Where it may cost one worker only, the caller expects it and says what became of the input.
      if (options.tries === 1)
        this.#log.debug("a worker died", { task: task.name, error: end.error });
      else this.#log.warn("a worker died", { task: task.name, tries, error: end.error });
      if (tries >= (options.tries ?? MAX_TRIES) || options.transfer?.length)
        throw this.#death(task.name, tries, end);
    }
  }

  /** How an attempt starts, once what it needs is there. */
  async #starter({ ownProcess, transfer = [] }: InnerOptions): Promise<StartAttempt> {
    if (ownProcess === true) return (message) => this.#processes.startAttempt(message);
    const piscina = await this.#open();
    return (message) => startAttempt(piscina, this.#clock, { ...message, transfer });
  }

  /** Holds its slot until the worker is free, which may be after the caller got the result. */
  #try<I, O>(
    task: Task<I, O>,
    input: I,
    {
      signal,
      slot,
      begin,
      ...options
    }: InnerOptions & { readonly slot: Disposable; readonly begin: StartAttempt },
  ): Promise<AttemptEnd> {
    if (signal.aborted) {
      slot[Symbol.dispose]();
      return Promise.reject(signal.reason as Error);
    }
    const attempt = begin({ file: task.file.href, input });
    this.#attempts.add(attempt);
    const progress = this.#report(attempt, options.onUnits);
    const { deadlineMs } = options;
    return new Promise((resolve, reject) => {
      const leave = (reason: Error): void => {
        attempt.cancel();
        progress[Symbol.dispose]();
        reject(reason);
      };
      const abort = (): void => leave(signal.reason as Error);
      signal.addEventListener("abort", abort, { once: true });
      const timer =
        deadlineMs === undefined
          ? undefined
          : this.#clock.timer(this.#clock.monotonic() + deadlineMs, () =>
              leave(tooSlow(task.name, deadlineMs)),
            );
      void attempt.end.then((end) => {
        signal.removeEventListener("abort", abort);
        timer?.[Symbol.dispose]();
        progress[Symbol.dispose]();
        this.#attempts.delete(attempt);
        slot[Symbol.dispose]();
        resolve(end);
      });
    });
  }

  /** Reads the progress every 100 ms, and once more when disposed. */
  #report(attempt: Attempt, onUnits: InnerOptions["onUnits"]): Disposable {
    if (!onUnits) return { [Symbol.dispose]: () => undefined };
    const look = (): void => {
      onUnits(unitsOf(attempt.words));
      timer = this.#clock.timer(this.#clock.monotonic() + PROGRESS_MS, look);
    };
    let timer = this.#clock.timer(this.#clock.monotonic() + PROGRESS_MS, look);
    return {
      [Symbol.dispose]: () => {
        timer[Symbol.dispose]();
        onUnits(unitsOf(attempt.words));
      },
    };
  }

  /**
   * A thread that dies before it takes work leaves queued tasks that no thread would start: those
   * are retried.
   */
  #lostIdleThread(error: Error): void {
    this.#log.warn("an idle worker thread died", { error });
    for (const attempt of this.#attempts) if (!attempt.hasStarted()) attempt.kill();
  }

  #tooManyWait(): StewardError {
    return new StewardError(
      "exhausted",
      `${this.#maxQueued} tasks wait for a worker already; try again later`,
      { retryAfterMs: 1_000 },
    );
  }

  #death(task: string, tries: number, end: AttemptEnd & { kind: "died" }): StewardError {
    const workers = tries === 1 ? "its worker" : `${tries} workers`;
    if (!end.outOfHeap)
      return new StewardError("internal", `task ${task} ended ${workers}`, { cause: end.error });
    const remedy = "give workers more memory, or leave the document out";
    return new StewardError(
      "exhausted",
      `task ${task} needs more than the ${this.#heapMb} MiB of heap a worker has; ${remedy}`,
      { remedy, cause: end.error },
    );
  }
}

function unstarted(task: string, cause: Error): StewardError {
  const code = systemCodeOf(cause) ?? "unknown";
  return new StewardError(
    "not_ready",
    `no worker process can be started for task ${task} (${code})`,
    {
      remedy: "allow Steward more processes: see `ulimit -u`, or TasksMax= of systemd",
      cause,
    },
  );
}

function tooSlow(task: string, deadlineMs: number): StewardError {
  return new StewardError("deadline", `task ${task} took longer than ${deadlineMs / 1000} s`);
}
